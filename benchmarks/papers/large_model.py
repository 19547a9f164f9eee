"""VERDICT and AmbigPrompt with a model that abstains: python -m benchmarks.papers.large_model [DATA_DIR].

It asks no model and needs no database: the questions, passages and replies of `benchmarks.quality.large_model` are in
the repository, 60 questions of RAMDocs with the eight best passages of a search for the question itself. What differs
from the paper: it relaxes the question, and reads 20 passages. "RAC" is one call over all eight passages; "one prompt"
is another one, whose prompt is what people write who have no pgclarify. The rounds of AmbigPrompt were asked of the
first 20 questions.

With DATA_DIR (see `benchmarks.papers.convert`), the labels of documents are known, for the last two columns of
VERDICT's table. What each question gave is kept in outcomes.jsonl.gz if all columns are known.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from benchmarks.data_sets import MODEL
from benchmarks.papers import (
    Column,
    Data,
    Outcomes,
    Row,
    Scored,
    ambigprompt,
    outcomes,
    outcomes_of,
    read_data,
    show,
    tables_of,
    verdict,
)
from benchmarks.papers.verdict import consolidated, known_readings, reading_alone
from benchmarks.quality.large_model.files import CALLS, FEW, HERE, Asked, hash_of, read_asked, read_replies
from benchmarks.quality.large_model.ways import Replies, outcome, said
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
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

_WRITER: Final = "a"
_PUBLISHED: Final = "verified_diversification"
_AT_ONCE: Final = ("rac", "one_prompt")

_CLARIFY: Final = Row("clarify", "verdict", {"verify": "checks"})
_EIGHT: Final = Row("clarify, eight passages a call", "joint_verdicts", {"verify": "checks"})
_RAC: Final = Row("RAC", "rac")
_ONE_PROMPT: Final = Row("one prompt", "one_prompt", paper="best baseline of RAMDocs: exact match .326")


@dataclass(frozen=True)
class Replayed:
    """A table of recorded replies.

    Attributes:
        rows: Its rows.
        columns: Its columns.
        most: How many of the questions it is about.
    """

    rows: Sequence[Row]
    columns: Sequence[str | Column]
    most: int


TABLES: Final[Mapping[str, Replayed]] = {
    "large_model ramdocs": Replayed(
        (
            *(
                Row(one.name, one.method, {name: value for name, value in one.settings.items() if name != "top_k"})
                for one in verdict.ROWS
                if one.method == _PUBLISHED
            ),
            _CLARIFY,
            Row("clarify, no check of quotes", "verdict", {"verify": "none"}),
            _EIGHT,
            _RAC,
            _ONE_PROMPT,
            Row("people", "people"),
        ),
        verdict.COLUMNS,
        60,
    ),
    "large_rounds ramdocs": Replayed(
        (
            Row("AmbigPrompt", "rounds", {"forbids_found": False}),
            Row("AmbigPrompt, found answers forbidden", "rounds", {"forbids_found": True}),
            _RAC,
            _ONE_PROMPT,
            _CLARIFY,
            _EIGHT,
        ),
        ambigprompt.COLUMNS,
        20,
    ),
}


def questions() -> list[Asked]:
    """Read the questions of RAMDocs, in their order."""
    return [one for one in read_asked(HERE / "asked.jsonl.gz") if one.documents == "ramdocs"]


def replies() -> dict[str, str]:
    """Read the replies of the first writer."""
    return {key: reply for (key, one), reply in read_replies(HERE / "replies.jsonl.gz").items() if one == _WRITER}


async def answer(row: Row, asked: Asked, case: Case, kept: Replies, embedder: Embedder) -> Output:
    """Show what a row shows for a question.

    Raises:
        LookupError: If a reply was not recorded.
    """
    if row.method == "people":
        return known_readings(case)
    shown = asked.passages[:FEW]
    calls = 1
    if row.method == _PUBLISHED:
        pairs = [(said(reading_alone(asked.question, one), kept), one) for one in shown]
        found = [
            PredictedInterpretation(pair[0], pair[1], (CitedPassage(one),)) for pair, one in pairs if pair is not None
        ]
        readings, calls = await consolidated(found, embedder, **row.settings), len(shown)
    elif row.method == "rounds":
        rounds = list[str]()

        async def reply_to(call: ModelCall[str | None]) -> str | None:
            reply: str | None = said(call, kept)
            rounds.append(hash_of(call))
            return reply

        answers = await ambigprompt.rounds(asked.question, shown, reply_to, **row.settings)
        readings, calls = [PredictedInterpretation(asked.question, one) for one in answers], len(rounds)
    elif row.method in _AT_ONCE:
        (call,) = CALLS[row.method](asked.question, shown)
        readings = [
            PredictedInterpretation(
                one.interpretation, one.answer, tuple(CitedPassage(shown[place]) for place in one.passages)
            )
            for one in said(call, kept) or ()
        ]
    else:
        given = await outcome(asked, row.method, kept, embedder, **row.settings)
        calls = given.calls
        readings = [
            PredictedInterpretation(
                one.interpretation, one.answer, tuple(CitedPassage(each) for each in one.passages), one.is_contested
            )
            for one in given.shown
        ]
    return Output(tuple(readings), shown, usage=Usage(calls))


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
    table: str, row: Row, kept: Replies, embedder: Embedder, judge: Judge, data: Data | None = None
) -> Outcomes:
    """Return what each question gives in a row of a table."""
    replayed = TABLES[table]
    asked = questions()[: replayed.most]
    pairs: list[tuple[Case, EvaluatedCase]] = []
    cases = list(cases_of(asked, data))
    for place, (case, one) in enumerate(zip(cases, asked, strict=True), start=1):
        output = await answer(row, one, case, kept, embedder)

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
    # No column of these tables asks the connections.
    return await outcomes_of(table, row.name, replayed.columns, Scored(cast(Any, None), known, judge, pairs))


async def main(data: Data | None) -> dict[str, list[Outcomes]]:
    """Carry out all rows."""
    kept = replies()
    with ExitStack() as stack:
        embedders = stack.enter_context(closing(Embedders()))
        judge = LexicalJudge(stack.enter_context(closing(load_span_reader())))
        embedder = await embedders.get_for_readings(MODEL)
        return {
            name: [await carry_out(name, row, kept, embedder, judge, data) for row in table.rows]
            for name, table in TABLES.items()
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path, nargs="?")
    folder = parser.parse_args().data_dir
    for name, made in asyncio.run(main(read_data(folder, "ramdocs") if folder else None)).items():
        columns = TABLES[name].columns
        papers = {row.name: row.paper for row in TABLES[name].rows}
        show(tables_of(f"{name}; {len(made[0].figures)} questions", columns, made, papers))
        if folder:
            outcomes.write(outcomes.OUTCOMES, made, [one for one in columns if isinstance(one, str)])
