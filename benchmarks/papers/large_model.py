"""VERDICT with a model that abstains: python -m benchmarks.papers.large_model [DATA_DIR].

It asks no model and needs no database: the questions, passages and replies of `benchmarks.quality.large_model` are in
the repository, 60 questions of RAMDocs with the eight best passages of a search for the question itself. What differs
from the paper: it relaxes the question, and reads 20 passages. "RAC" is one call over all eight passages; "one prompt" is
another one, whose prompt is what people write who have no pgclarify.

With DATA_DIR (see `benchmarks.papers.convert`), the labels of documents are known, for the last two columns of
VERDICT's table. What each question gave is kept in outcomes.jsonl.gz if all columns are known.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from benchmarks.data_sets import MODEL
from benchmarks.papers import Data, Outcomes, Row, Scored, outcomes, outcomes_of, read_data, show, tables_of
from benchmarks.papers.verdict import COLUMNS, consolidated, reading_alone
from benchmarks.quality.large_model.files import CALLS, FEW, HERE, Asked, read_asked, read_replies
from benchmarks.quality.large_model.ways import Replies, outcome, said
from pgclarify.data.documents import Passage
from pgclarify.database.evaluations import EvaluatedCase
from pgclarify.embedding import load_span_reader
from pgclarify.embedding.registry import Embedders
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.figures import measure
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.records import (
    Case,
    CitedPassage,
    GoldInterpretation,
    Judge,
    Output,
    PredictedInterpretation,
    Usage,
)
from pgclarify.protocols import Embedder

TABLE: Final = "large_model ramdocs"
_WRITER: Final = "a"
_PUBLISHED: Final = "verified_diversification"
_AT_ONCE: Final = ("rac", "one_prompt")

ROWS: Final = (
    Row("VERDICT", _PUBLISHED),
    Row("VERDICT, f(q)", _PUBLISHED, {"embedded": "f(q)"}),
    Row("VERDICT, conservative", _PUBLISHED, {"least": 3}),
    Row("VERDICT, noise kept", _PUBLISHED, {"keeps_noise": True}),
    Row("VERDICT, grouped by ours", _PUBLISHED, {"consolidation": "ours"}),
    Row("VERDICT, nothing consolidated", _PUBLISHED, {"consolidation": "none"}),
    Row("clarify", "verdict", {"verify": "checks"}),
    Row("clarify, no check of quotes", "verdict", {"verify": "none"}),
    Row("RAC", "rac"),
    Row("one prompt", "one_prompt", paper="best baseline of RAMDocs: exact match .326"),
)


def questions() -> list[Asked]:
    """Read the questions of RAMDocs, in their order."""
    return [one for one in read_asked(HERE / "asked.jsonl.gz") if one.documents == "ramdocs"]


def replies() -> dict[str, str]:
    """Read the replies of the first writer."""
    return {key: reply for (key, one), reply in read_replies(HERE / "replies.jsonl.gz").items() if one == _WRITER}


async def answer(row: Row, asked: Asked, kept: Replies, embedder: Embedder) -> Output:
    """Show what a row shows for a question.

    Raises:
        LookupError: If a reply was not recorded.
    """
    shown = asked.passages[:FEW]
    if row.method == _PUBLISHED:
        found = [
            PredictedInterpretation(pair[0], pair[1], (CitedPassage(one),))
            for one in shown
            if (pair := said(reading_alone(asked.question, one), kept)) is not None
        ]
        readings = await consolidated(found, embedder, **row.settings)
        return Output(tuple(readings), shown, usage=Usage(len(shown)))
    if row.method in _AT_ONCE:
        (call,) = CALLS[row.method](asked.question, shown)
        readings = [
            PredictedInterpretation(
                one.interpretation, one.answer, tuple(CitedPassage(shown[place]) for place in one.passages)
            )
            for one in said(call, kept) or ()
        ]
        return Output(tuple(readings), shown, usage=Usage(1))
    given = await outcome(asked, row.method, kept, embedder, **row.settings)
    readings = [
        PredictedInterpretation(
            one.interpretation, one.answer, tuple(CitedPassage(each) for each in one.passages), one.is_contested
        )
        for one in given.shown
    ]
    return Output(tuple(readings), shown, usage=Usage(given.calls))


def cases_of(asked: Sequence[Asked], data: Data | None) -> Iterator[Case]:
    """Return what is known of each question; with the labels of documents if there is data."""
    known = {case.question: case for case in data.cases.cases} if data else {}
    for place, one in enumerate(asked):
        yield known.get(one.question) or Case(
            str(place),
            one.question,
            tuple(GoldInterpretation(None, (each.answer,)) for each in one.known),
            wrong_answers=one.wrong,
        )


async def carry_out(
    row: Row, asked: Sequence[Asked], kept: Replies, embedder: Embedder, judge: Judge, data: Data | None = None
) -> Outcomes:
    """Return what each question gives in a row."""
    pairs: list[tuple[Case, EvaluatedCase]] = []
    cases = list(cases_of(asked, data))
    for place, (case, one) in enumerate(zip(cases, asked, strict=True), start=1):
        output = await answer(row, one, kept, embedder)

        async def evidence(question: str, found: Sequence[Passage] = one.passages) -> Sequence[Passage]:
            return found

        judged = await measure("verdict", case, output, judge, evidence)
        stored = EvaluatedCase(
            0,
            place,
            case.case_id,
            case.question,
            case.gold,
            output.as_json(judged.supported),
            None,
            "succeeded",
            None,
            judged.figures,
            datetime.now(UTC),
        )
        pairs.append((case, stored))
    known = data or Data(Path(), DataSet("ramdocs", tuple(cases), 0), {case.question: {} for case in cases}, {})
    # No column of this table asks the connections.
    return await outcomes_of(TABLE, row.name, COLUMNS, Scored(cast(Any, None), known, judge, pairs))


async def main(data: Data | None) -> list[Outcomes]:
    """Carry out all rows."""
    asked, kept = questions(), replies()
    with ExitStack() as stack:
        embedders = stack.enter_context(closing(Embedders()))
        judge = LexicalJudge(stack.enter_context(closing(load_span_reader())))
        embedder = await embedders.get_for_readings(MODEL)
        return [await carry_out(row, asked, kept, embedder, judge, data) for row in ROWS]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path, nargs="?")
    folder = parser.parse_args().data_dir
    made = asyncio.run(main(read_data(folder, "ramdocs") if folder else None))
    papers = {row.name: row.paper for row in ROWS}
    show(tables_of(f"VERDICT with a large model; {len(questions())} questions of RAMDocs", COLUMNS, made, papers))
    if folder:
        outcomes.write(outcomes.OUTCOMES, made, [one for one in COLUMNS if isinstance(one, str)])
