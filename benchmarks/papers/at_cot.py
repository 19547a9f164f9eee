"""AT-CoT, Tables 5 to 8: python -m benchmarks.papers.at_cot DATA_DIR qulac|clariq|raocq|squad2|dl-hard CORPUS.

With `clarifying_questions` in each line (qulac, clariq, raocq): each scheme writes as many questions as the paper's
rows, and the likeness is the mean cosine of each to the nearest of people's questions, by all-MiniLM-L6-v2. The paper
has BERTScore, whose model of 1.6 GB no machine of ours had. The rows "the query itself" and "fixed templates" ask no
model, and say what likeness is worth: a scheme that is below them is not shown to help, and none is ranked by it.
Column "no question" is the share of texts without a question mark. Columns "level 1" to "level 4" are Table 6; the next
three are the shares of the types that AT-CoT says apply (Table 7).

With `intent` in each line (squad2): a language model plays a user who wants the intent, and answers or chooses in one,
two or three turns; the last query is searched with (Table 8). Rows that differ in turns share their calls in the
ledger. The paper's figures are of TREC Web Track 2009-2012, nDCG@10. It gives r = .92 between Tables 5 and 8 for
`respond`; its own numbers have that for `select` at the first turn, and .99 for `respond`.

With `rankings` in each line (dl-hard): rankings that were published with the data, which search the passages of MS
MARCO for the query as it is. The paper's user has 350 intents for these 50 queries, which are not among its files.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from benchmarks.papers import Column, Data, Given, Row, Scored, Values, each, line_of, main
from benchmarks.papers.scores import of_ranking
from benchmarks.prompts.dialogue import simulated_choice, simulated_reply
from benchmarks.prompts.schemes import Scheme, proposals
from pgclarify.data.dialogue import MOST_TURNS, Form, Turn
from pgclarify.data.documents import Passage
from pgclarify.data.runs import Tally
from pgclarify.data.vocabulary import AmbiguityType
from pgclarify.database.evaluations import EvaluatedCase
from pgclarify.embedding import load_embedder
from pgclarify.errors import InvalidReply
from pgclarify.evaluation.baselines import Asked, Baseline, ask
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, Method, Output
from pgclarify.prompts.clarifying_questions import clarifying_questions
from pgclarify.prompts.rewriting import reformulation

# Questions to answer are asked one by one; reformulations are chosen from five. AT-CoT, §4.2.
_COUNTS: Final = {Form.RESPOND: 1, Form.SELECT: 5}
# Questions that are compared with people's. AT-CoT, §4.2 ("several").
_COMPARED: Final = 3
_LIKENESS_MODEL: Final = "all-MiniLM-L6-v2"
OURS: Final = "ours"
"""The prompt of the product, which has examples."""


async def propose(
    asked: Asked, meter: Tally, question: str, history: Sequence[str], *, scheme: str, form: Form, count: int
) -> tuple[list[str], list[str]]:
    """Ask for clarifying questions or reformulations; return them, and the types that the model says apply.

    Raises:
        InvalidReply: If no reply fits.
    """
    if scheme == OURS:
        found = await ask(asked, meter, clarifying_questions(question, history, form=form, count=count))
        texts = [one.clarifying_question or one.reformulation or "" for one in found]
        return texts, list(dict.fromkeys(str(one.ambiguity_type) for one in found))
    proposed = await ask(asked, meter, proposals(question, history, scheme=Scheme(scheme), form=form, count=count))
    return list(proposed.texts), [str(one) for one in proposed.types]


async def write_questions(asked: Asked, meter: Tally, case: Case, *, scheme: str) -> Output:
    """Write clarifying questions, to compare with people's. Source: AT-CoT, §4.2, task 1."""
    try:
        texts, types = await propose(asked, meter, case.question, (), scheme=scheme, form=Form.RESPOND, count=_COMPARED)
    except InvalidReply:
        return Output()
    return Output(questions=tuple(texts), notes={"types": types})


async def converse(
    asked: Asked, meter: Tally, case: Case, *, data: Data, scheme: str, form: Form, turns: int
) -> Output:
    """Hold a conversation of some turns: a proposal, the user's reply or choice; and search with the last query.

    A conversation goes on with the query that was chosen. One that is answered is summarized as a query, and all of it
    is shown for the next question. A conversation ends early if no reply fits.

    Source: AT-CoT, §4.2, task 2, and Table 4.
    """
    intent = str(line_of(data, case)["intent"])
    query = case.question
    said: list[Turn] = []
    for _ in range(turns):
        asked_before = () if form is Form.SELECT else _conversation(case.question, said)
        question = query if form is Form.SELECT or not said else case.question
        try:
            texts, _ = await propose(
                asked, meter, question, asked_before, scheme=scheme, form=form, count=_COUNTS[form]
            )
            if form is Form.SELECT:
                query = texts[await ask(asked, meter, simulated_choice(intent, case.question, said, texts))]
                said.append(Turn(texts, query))
            else:
                reply = await ask(asked, meter, simulated_reply(intent, case.question, said, texts))
                said.append(Turn(texts, reply))
                query = await ask(asked, meter, reformulation(case.question, said))
        except InvalidReply:
            break
    found = await asked.retriever.search(query, 20)
    return Output(retrieved=tuple(found), questions=(query,), notes={"turns": len(said)})


def _conversation(question: str, said: Sequence[Turn]) -> tuple[str, ...]:
    """The conversation so far, C of the paper's equations; empty before the first reply."""
    if not said:
        return ()
    return (question, *(text for turn in said for text in (" / ".join(turn.asked), turn.reply)))


async def writing(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the method of task 1."""
    return Baseline(await bench.asked(), partial(write_questions, scheme=settings["scheme"]))


async def templates(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make a method that puts the query into templates."""
    texts: Sequence[str] = settings["templates"]
    return Given(lambda case: Output(questions=tuple(one.replace("QUERY", case.question) for one in texts)))


async def ranking(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make a method that gives a ranking which was published with the data, instead of searching."""

    def ranked(case: Case) -> Output:
        known: Sequence[str] = line_of(data, case)["rankings"].get(settings["name"], ())
        return Output(retrieved=tuple(Passage(one, place, "") for place, one in enumerate(known)))

    return Given(ranked)


async def conversing(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the method of task 2."""
    form = Form(settings["form"])
    conversation = partial(converse, data=data, scheme=settings["scheme"], form=form, turns=settings["turns"])
    return Baseline(await bench.asked(), conversation)


async def likeness(scored: Scored) -> Values:
    """The mean cosine of each question to the nearest of people's."""
    embedder = await asyncio.to_thread(load_embedder, _LIKENESS_MODEL)
    values: list[float | None] = []
    try:
        for case, stored in scored.pairs:
            written: Sequence[str] = stored.output["questions"]
            known: Sequence[str] = line_of(scored.data, case).get("clarifying_questions", ())
            if not known:
                values.append(None)
                continue
            vectors = await embedder.encode([*written, *known]) if written else None
            nearest = None if vectors is None else (vectors[: len(written)] @ vectors[len(written) :].T).max(axis=1)
            values.append(0.0 if nearest is None else float(nearest.mean()))
    finally:
        embedder.close()
    return values


def no_question(case: Case, stored: EvaluatedCase) -> float | None:
    """Share of the texts that ask nothing, such as a bracket."""
    written: Sequence[str] = stored.output["questions"]
    # A conversation that ends in a search has a query, which need not be a question.
    is_compared = written and not stored.output.get("retrieved")
    return sum("?" not in one for one in written) / len(written) if is_compared else None


def likeness_at(level: int) -> Column:
    """Make the column of a level of ambiguity. Source: AT-CoT, Table 6."""

    async def of(scored: Scored) -> Values:
        pairs = [pair for pair in scored.pairs if line_of(scored.data, pair[0]).get("level") == level]
        return await likeness(replace(scored, pairs=pairs)) if pairs else []

    return Column(f"level {level}", of)


def share_of(kind: AmbiguityType) -> Column:
    """Make the column of a type: its share of what the model says applies. Source: AT-CoT, Table 7."""

    def value(case: Case, stored: EvaluatedCase) -> float | None:
        types = stored.output.get("notes", {}).get("types")
        return types.count(kind) / len(types) if types else None

    return each(str(kind), value)


_TEMPLATES: Final = (
    "What would you like to know about QUERY?",
    "Are you looking for information about QUERY?",
    "Do you want to know more about QUERY?",
)
_TASK_1: Final = {
    Scheme.STANDARD: "BERTScore .779 (Qulac), .793 (ClariQ)",
    Scheme.AT_STANDARD: ".770, .788",
    Scheme.COT: ".792, .800",
    Scheme.AT_COT: ".806, .820",
    OURS: "",
}
# By scheme and form, the nDCG@10 of each turn.
_TASK_2: Final = {
    (Scheme.STANDARD, Form.SELECT): (".161", ".152", ".141"),
    (Scheme.STANDARD, Form.RESPOND): (".232", ".223", ".212"),
    (Scheme.AT_STANDARD, Form.SELECT): (".165", ".149", ".149"),
    (Scheme.AT_STANDARD, Form.RESPOND): (".230", ".228", ".213"),
    (Scheme.COT, Form.SELECT): (".174", ".160", ".148"),
    (Scheme.COT, Form.RESPOND): (".238", ".226", ".216"),
    (Scheme.AT_COT, Form.SELECT): (".188", ".176", ".152"),
    (Scheme.AT_COT, Form.RESPOND): (".244", ".233", ".213"),
    (OURS, Form.SELECT): ("", "", ""),
    (OURS, Form.RESPOND): ("", "", ""),
}

ROWS: Final = (
    *(
        Row(name, "clarifying_questions", {"templates": texts}, "", templates, needs="clarifying_questions")
        for name, texts in (("the query itself", ["QUERY"]), ("fixed templates", list(_TEMPLATES)))
    ),
    *(
        Row(str(scheme), "clarifying_questions", {"scheme": str(scheme)}, paper, writing, needs="clarifying_questions")
        for scheme, paper in _TASK_1.items()
    ),
    Row("without clarification", "search", {"top_k": 20}, "nDCG@10 .123", needs="intent"),
    *(
        Row(f"published: {name}", "search", {"name": name}, "", ranking, needs="rankings")
        for name in ("BM25", "BM25, re-ranked by T5")
    ),
    *(
        Row(
            f"{scheme}, {form}, turn {turn}",
            "search",
            {"scheme": str(scheme), "form": str(form), "turns": turn},
            papers[turn - 1],
            conversing,
            needs="intent",
        )
        for turn in range(1, MOST_TURNS + 1)
        for (scheme, form), papers in _TASK_2.items()
    ),
)
COLUMNS: Final[tuple[str | Column, ...]] = (
    Column("likeness", likeness),
    each("no question", no_question),
    *(likeness_at(level) for level in (1, 2, 3, 4)),
    *(share_of(kind) for kind in AmbiguityType),
    of_ranking("ndcg", 10),
    of_ranking("mrr", 10),
    "recall@10",
    "calls",
    "failed",
)

if __name__ == "__main__":
    main("AT-CoT, Tables 5 to 8", ROWS, COLUMNS)
