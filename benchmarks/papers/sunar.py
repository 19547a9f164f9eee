"""SUNAR, Tables 1, 4, 5 and 7, and rows with gold: python -m benchmarks.papers.sunar DATA_DIR musique CORPUS.

The paper's figures are cover-EM (Tables 1 and 4) and R@10 (Tables 5 and 7) on MusiQue with gpt-3.5-turbo. The authors'
code scores 100 passages in batches of 16 and draws 10 answers for each batch; the paper does not say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Final

from benchmarks.papers import Data, GoldEvidence, Row, line_of, main
from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Finding
from pgclarify.data.runs import Tally
from pgclarify.errors import InvalidReply
from pgclarify.evaluation.baselines import Asked, Baseline, ask, direct
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, CitedPassage, Method, Output, PredictedInterpretation
from pgclarify.prompts.investigation import answer

_TOP_K = 10


async def answer_in_steps(asked: Asked, meter: Tally, case: Case, *, data: Data) -> Output:
    """Answer the sub-questions of the data set in order; #1 stands for the answer to the first."""
    answers: list[str | None] = []
    rankings: list[Sequence[Passage]] = []
    for step in line_of(data, case)["decomposition"]:
        question = str(step["question"])
        for number, known in enumerate(answers, start=1):
            question = question.replace(f"#{number}", known or "")
        passages, found = await read(asked, meter, question.replace(" >> ", ": "))
        rankings.append(passages)
        answers.append(found)
    return given(case, answers[-1] if answers else None, rankings)


async def read(asked: Asked, meter: Tally, question: str) -> tuple[Sequence[Passage], str | None]:
    """Search for a question, and answer it from the passages; None if there is no answer, or no reply fits."""
    passages = await asked.retriever.search(question, _TOP_K)
    try:
        found = await ask(asked, meter, answer(question, passages)) if passages else Finding()
    except InvalidReply:
        found = Finding()
    return passages, found.answer


def given(case: Case, found: str | None, rankings: Sequence[Sequence[Passage]]) -> Output:
    """Return the output of several steps, which cites the first passage of its last step."""
    cited = tuple(CitedPassage(one) for one in rankings[-1][:1]) if rankings else ()
    readings = () if found is None else (PredictedInterpretation(case.question, found, cited),)
    # The first of each ranking, then the second of each, and so on.
    places = (one for several in zip_longest(*rankings) for one in several if one is not None)
    return Output(readings, tuple(dict.fromkeys(places)))


async def gold_decomposition(bench: Bench, data: Data) -> Method:
    """Make the method."""
    return Baseline(await bench.asked(), partial(answer_in_steps, data=data))


async def gold_evidence(bench: Bench, data: Data) -> Method:
    """Answer from the relevant documents, without a search."""
    return Baseline(replace(await bench.asked(), retriever=GoldEvidence(data)), partial(direct, top_k=_TOP_K))


_SUNAR: Final = {"top_k": 10, "max_steps": 4, "reranker": "signal"}
ROWS: Final = (
    Row("FEW-SHOT-COT", "direct", paper=".1876"),
    Row("SUNAR", "investigate", _SUNAR, ".3275, R@10 .459"),
    Row("SUNAR (-ASU)", "investigate", _SUNAR | {"entailment": "none"}, ".3043"),
    Row("without neighborhood", "investigate", _SUNAR | {"retrieval": "fixed"}),
    Row("without decomposition", "investigate", _SUNAR | {"max_steps": 0}),
    Row("gold evidence", "direct_gold", make=gold_evidence),
    Row("gold decomposition", "gold_decomposition", make=gold_decomposition),
    *(
        Row(f"search, {one}", "search", {"top_k": 20} | options, paper)
        for one, options, paper in (
            ("lexical", {"method": "lexical"}, "R@10 .062"),
            ("dense", {"method": "dense"}, ""),
            ("adaptive", {"retrieval": "adaptive"}, "R@10 .073"),
            ("hybrid", {}, ""),
        )
    ),
)

if __name__ == "__main__":
    main("SUNAR", ROWS, ("answer_em", "answer_f1", "recall@10", "calls", "failed"))
