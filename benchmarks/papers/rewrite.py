"""Detect, then rewrite (summary), Key Results: python -m benchmarks.papers.rewrite DATA_DIR NAME CORPUS.

Detection by the classifier with its rules and by few-shot prompts, and what a search finds after rewriting nothing,
everything, or what each of them calls ambiguous. The regression on the same features is `eval train-ambiguity`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from benchmarks.papers import Data, Row, main
from benchmarks.prompts.dialogue import ambiguity
from pgclarify.data.runs import Tally
from pgclarify.errors import InvalidReply
from pgclarify.evaluation.baselines import Asked, Baseline, ask
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, Method, Output
from pgclarify.prompts.rewriting import rewriting


async def rewrite_where(asked: Asked, meter: Tally, case: Case, *, where: str) -> Output:
    """Rewrite no question, every question, or those that the model calls ambiguous, and search.

    Args:
        asked: The model and the corpus.
        meter: Counts the calls.
        case: The question.
        where: nothing, everything or few_shot.
    """
    is_ambiguous = where == "everything"
    question = case.question
    try:
        if where == "few_shot":
            is_ambiguous = await ask(asked, meter, ambiguity(case.question, case.history))
        if is_ambiguous and case.history:
            rewritten = await ask(asked, meter, rewriting(case.question, case.history))
            question = question if rewritten is None else rewritten
    except InvalidReply:
        pass
    output = Output(questions=(question,), is_ambiguous=is_ambiguous)
    found = await asked.retriever.search(question, 20) if case.relevant_documents else []
    return replace(output, retrieved=tuple(found))


async def where(bench: Bench, data: Data, *, name: str) -> Method:
    """Make the method."""
    return Baseline(await bench.asked(), partial(rewrite_where, where=name))


ROWS: Final = (
    Row("no rewriting", "rewrite", {"where": "nothing"}, make=partial(where, name="nothing")),
    Row("rewriting everything", "rewrite", {"where": "everything"}, make=partial(where, name="everything")),
    Row("few-shot, then rewriting", "rewrite", {"where": "few_shot"}, make=partial(where, name="few_shot")),
    Row("detect, then rewrite", "rewrite"),
    Row("detection alone", "detect_ambiguity"),
)

if __name__ == "__main__":
    main("Detect, then rewrite", ROWS, ("ambiguity_f1", "recall@10", "calls", "failed"))
