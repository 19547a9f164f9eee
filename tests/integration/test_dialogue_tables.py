"""What a worker stores of a dialogue, by its statements; and the citations, as readers see it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any

import pytest

from pgclarify.data.citations import Citation, Result
from pgclarify.data.dialogue import (
    ClarifyingQuestion,
    Detection,
    DetectionReason,
    ListedAnswer,
    ProposedQuestion,
    Rewriting,
    Turn,
)
from pgclarify.data.runs import Run
from pgclarify.data.vocabulary import AmbiguityType
from pgclarify.database.dialogue import DialogueTables
from pgclarify.database.pool import open_pool
from pgclarify.database.run_tables import RunTables
from pgclarify.database.runs import Runs
from pgclarify.errors import ConfigurationError, DatabaseBusy, DatabaseError, RunLost
from tests.integration.explaining import Desk, desk
from tests.integration.stored_answers import rows
from tests.sessions import scalar

__all__ = ["desk"]

CLEAR = Detection("How long?", False, 0.25, None, (DetectionReason("feature", "length", "two words"),), "1")
VAGUE = Detection("Why\x7f “it”?", True, 1.0, "pragmatic", (), "1")
ASKED = ProposedQuestion(AmbiguityType.SPECIFY, "It is broad.", "Which car?", "How long is a rental paid for?")
CHOICE = ProposedQuestion(AmbiguityType.SEMANTIC, None, None, "What is the deductible of a rental?")
THIRTY = Citation(1, "thirty days", 30, 41)
DEDUCTIBLE = Citation(2, "A rental deductible", 0, 19)
# The columns that rows of a result have, too.
CITATIONS = """
    select
        run_id, ordinal, rank, document_id, title, uri, passage_id, heading, quote, start_char, end_char, is_current,
        dated, place
    from pgclarify.citation
"""
CONTENT = "select content from pgclarify.document where id = '101'"


@dataclass(frozen=True)
class Played:
    """Runs that were started by a worker whose statements Python sends."""

    desk: Desk
    runs: Runs
    tables: DialogueTables

    async def start(self, operation: str, corpus_id: int | None = 1, **others: Any) -> Run:
        """Enter and start a run; with a corpus, its candidates are documents 101 and 102."""
        run_id = self.desk.enter(operation, others.pop("settings", {}), corpus_id=corpus_id, **others)
        run = await self.runs.start(run_id)
        assert isinstance(run, Run)
        if corpus_id is not None:
            self.desk.choose(run_id, *((document, 0.5, "dense", None, 1) for document in ("101", "102")))
        return run

    async def record(self, run: Run, *results: Result) -> None:
        await RunTables(self.runs, run).record_results(run, results)

    def cited(self, run: Run) -> list[dict[str, Any]]:
        """The rows of table citation."""
        return self.kept(run, "citation", schema="pgclarify_private")

    def kept(self, run: Run, table: str, schema: str = "pgclarify") -> list[dict[str, Any]]:
        """The rows of a run, without its number and times."""
        found = rows(self.desk.owner, f"select * from {schema}.{table} where run_id = %s", run.run_id)  # noqa: S608
        return [{name: row[name] for name in row if name not in ("run_id", "created_at")} for row in found]


@pytest.fixture
async def played(desk: Desk) -> AsyncIterator[Played]:
    async with open_pool(desk.worker.connection.info.dsn) as pool:
        runs = Runs(pool, desk.worker.worker_id)
        yield Played(desk, runs, DialogueTables(runs))


def cited(ordinal: int, rank: int, citation: Citation, document_id: str, desk: Desk) -> dict[str, Any]:
    return asdict(citation) | {
        "ordinal": ordinal, "rank": rank, "corpus_id": 1, "document_id": document_id,
        "passage_id": desk.passages[document_id], "heading": None, "is_shown": True,
    }  # fmt: skip


class TestKept:
    """A worker that lost its connection does not know whether results were stored, and sends them again."""

    async def test_detections_in_order(self, played: Played) -> None:
        run = await played.start("detect_ambiguity", None)

        for _ in range(2):
            await played.record(run, VAGUE, CLEAR)

        assert played.kept(run, "detection") == [
            asdict(detection)
            | {
                "operation": "detect_ambiguity", "corpus": None, "ordinal": ordinal,
                "reasons": [asdict(reason) for reason in detection.reasons], "finished_at": None,
            }
            for ordinal, detection in enumerate((VAGUE, CLEAR), start=1)
        ]  # fmt: skip

    async def test_a_rewriting(self, played: Played) -> None:
        run = await played.start("rewrite", None)

        for _ in range(2):
            await played.record(run, Rewriting("  Why\n“so”?", None))

        assert played.kept(run, "rewriting") == [
            {"rewritten": "  Why\n“so”?", "was_ambiguous": None, "reason": None},
        ]

    async def test_clarifying_questions_with_citations(self, played: Played) -> None:
        run = await played.start("clarifying_questions")

        for _ in range(2):
            await played.record(
                run, ClarifyingQuestion(1, ASKED, True, (DEDUCTIBLE, THIRTY)), ClarifyingQuestion(2, CHOICE, False)
            )

        of_run = {"corpus": "insurance", "question": "rental cars", "form": None}
        assert played.kept(run, "clarifying_question") == [
            of_run | asdict(ASKED) | {"ordinal": 1, "is_answerable": True, "documents": 2},
            of_run | asdict(CHOICE) | {"ordinal": 2, "is_answerable": False, "documents": 0},
        ]
        assert played.cited(run) == [
            cited(1, 1, DEDUCTIBLE, "102", played.desk),
            cited(1, 2, THIRTY, "101", played.desk),
        ]

    async def test_listed_answers(self, played: Played) -> None:
        run = await played.start("list_answers")

        for _ in range(2):
            await played.record(
                run,
                ListedAnswer(1, "ten", ("ten", "10"), (DEDUCTIBLE, THIRTY)),
                ListedAnswer(2, "thirty", ("thirty",), (THIRTY,)),
            )

        of_run = {"corpus": "insurance", "question": "rental cars"}
        assert sorted(played.kept(run, "listed_answer"), key=lambda row: row["ordinal"]) == [
            of_run | {"ordinal": 1, "answer": "ten", "variants": ["ten", "10"], "documents": 2},
            of_run | {"ordinal": 2, "answer": "thirty", "variants": ["thirty"], "documents": 1},
        ]
        assert sorted(played.cited(run), key=lambda row: (row["ordinal"], row["rank"])) == [
            cited(1, 1, DEDUCTIBLE, "102", played.desk),
            cited(1, 2, THIRTY, "101", played.desk),
            cited(2, 1, THIRTY, "101", played.desk),
        ]

    async def test_nothing_in_other_tables(self, played: Played) -> None:
        run = await played.start("list_answers")
        with pytest.raises(DatabaseError) as refused:
            await played.runs.fetch(run, "record_results", relation="document", results="[]")
        assert refused.value.sqlstate == "22023"

    async def test_nothing_that_cites_what_was_not_found(self, played: Played) -> None:
        run = await played.start("list_answers")
        unfound = Citation(3, "x", 0, 1)

        with pytest.raises(DatabaseError):
            await played.record(run, ListedAnswer(1, "ten", ("ten",), (THIRTY, unfound)))
        with pytest.raises(DatabaseError):
            await played.record(run, ClarifyingQuestion(1, ASKED, True, (unfound,)))

        assert [played.kept(run, table) for table in ("listed_answer", "clarifying_question", "citation")] == [
            [],
            [],
            [],
        ]

    async def test_nothing_of_an_earlier_attempt(self, played: Played) -> None:
        run = await played.start("list_answers")
        await played.record(run, VAGUE)
        await played.record(run, Rewriting("Why?", True))
        await played.tables.record_route(run, "clarified")
        await played.record(run, ClarifyingQuestion(1, ASKED, True, (THIRTY,)))
        await played.record(run, ListedAnswer(2, "ten", ("ten",), (THIRTY,)))

        assert await played.runs.start(run.run_id) is not None

        for table in ("detection", "rewriting", "clarifying_question", "listed_answer", "citation"):
            assert played.kept(run, table) == []
        found = "select route from pgclarify.run where run_id = %s"
        assert played.desk.owner.execute(found.encode(), [run.run_id]).fetchone() == (None,)

    async def test_nothing_by_a_worker_that_lost_the_run(self, played: Played) -> None:
        run, tables = await played.start("reply", None), played.tables
        assert await played.runs.start(run.run_id) is not None

        for kept in (
            tables.match_rules(run, ["Why?"]),
            tables.record_route(run, "clarified"),
            tables.turns(run),
            played.record(run, Rewriting("Why?", True)),
        ):
            with pytest.raises(RunLost):
                await kept


async def test_rules_are_matched_with_many_long_questions_a_few_at_a_time(played: Played) -> None:
    rule = (
        "insert into pgclarify_private.ambiguity_rule (pattern, kind) values ('^even', 'lexical')"
        " returning ambiguity_rule_id"
    )
    rule_id = scalar(played.desk.owner, rule)
    run = await played.start("detect_ambiguity", None)
    questions = [("odd", "even")[place % 2] + "x" * (9000 if place < 30 else 120_000) for place in range(34)]

    found = await played.tables.match_rules(run, questions)

    assert [(one.ordinal, one.ambiguity_rule_id) for one in found] == [(place, rule_id) for place in range(2, 35, 2)]


async def test_a_rule_that_runs_away_ends_the_matching_and_is_named(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = played.desk.owner
    # The constraint would refuse the pattern.
    owner.execute("alter table pgclarify_private.ambiguity_rule drop constraint ambiguity_rule_pattern_is_fit")
    owner.execute(
        r"insert into pgclarify_private.ambiguity_rule (pattern, kind) values ('(.*)(.*)(.*)(.*)\1\2\3\4q$', 'lexical')"
    )
    run = await played.start("detect_ambiguity", None)

    for limit in ("200ms", "5s", "1min"):
        monkeypatch.setattr("pgclarify.database.dialogue._MATCHING_LIMIT", limit)
        with pytest.raises((ConfigurationError, DatabaseBusy)) as ended:
            await played.tables.match_rules(run, ["abcdefghijklmnopqrstuvwxyz0123456789" * 5 + "q"])
        # On a slow machine the time may be over before the rule is tried.
        if not isinstance(ended.value, DatabaseBusy):
            break

    assert isinstance(ended.value, ConfigurationError)
    assert f"could not be tried within {limit}" in ended.value.message
    assert "rule 1," in str(ended.value.detail)
    (setting,) = await fetch_setting(played)
    assert setting == "0", "the limit holds for the matching only"


async def fetch_setting(played: Played) -> list[str]:
    async with played.runs.pool.connection() as connection:
        cursor = await connection.execute("select current_setting('statement_timeout') as setting")
        return [row["setting"] for row in await cursor.fetchall()]


async def test_turns_are_read(played: Played) -> None:
    asking = await played.start("clarifying_questions", None, question="cars")
    checked = [ClarifyingQuestion(ordinal, one) for ordinal, one in enumerate((ASKED, CHOICE), start=1)]
    await played.record(asking, *checked)
    run = await played.start("reply", None, settings={"text": "A small one"}, parent_run_id=asking.run_id)

    assert await played.tables.turns(run) == (
        "cars",
        [Turn(["Which car?", "What is the deductible of a rental?"], "A small one")],
    )


class TestEvidence:
    async def listed(self, played: Played) -> Run:
        run = await played.start("list_answers")
        again = Citation(1, "Rental", 0, 6)
        answers = [
            ListedAnswer(1, "ten", ("ten",), (DEDUCTIBLE, THIRTY)),
            ListedAnswer(2, "thirty", ("thirty",), (THIRTY, DEDUCTIBLE, again)),
        ]
        await played.record(run, *answers)
        return run

    def seen(self, played: Played, run: Run, ordinal: int) -> tuple[list[dict[str, Any]], list[str]]:
        """The citations and the documents of an entry, for the requester."""
        row = played.desk.owner.execute(
            """
            select cited.citations, cited.document_ids
            from pgclarify_private.cited(array[%s]::bigint[], pgclarify_private.roles_of(%s)) as cited
            where cited.ordinal = %s
            """,
            [run.run_id, played.desk.user.info.user, ordinal],
        ).fetchone()
        return ([], []) if row is None else (row[0], row[1])

    async def test_is_the_same_in_the_view_and_in_rows(self, played: Played) -> None:
        run = await self.listed(played)

        viewed = rows(played.desk.user, f"{CITATIONS} order by ordinal, rank")
        told = [citation for ordinal in (1, 2, 3) for citation in self.seen(played, run, ordinal)[0]]

        assert told == viewed
        assert [(one["ordinal"], one["rank"], one["document_id"], one["title"]) for one in told] == [
            (1, 1, "102", "Deductible"), (1, 2, "101", "Coverage"),
            (2, 1, "101", "Coverage"), (2, 2, "102", "Deductible"), (2, 3, "101", "Coverage"),
        ]  # fmt: skip
        assert all(one["is_current"] for one in told)
        assert [self.seen(played, run, ordinal)[1] for ordinal in (1, 2, 3)] == [["102", "101"], ["101", "102"], []]

    async def test_tells_where_the_quote_stands_now(self, played: Played) -> None:
        run = await self.listed(played)
        content = scalar(played.desk.owner, CONTENT)
        played.desk.owner.execute(
            "select pgclarify.add_document('insurance', '101', 'Now: ' || %s)", [content.replace("Rental", "Car")]
        )

        moved, gone = self.seen(played, run, 2)[0][::2]

        assert (moved["start_char"], moved["end_char"], moved["is_current"]) == (32, 43, True)
        assert (gone["start_char"], gone["end_char"], gone["is_current"]) == (0, 6, False)
        viewed = rows(played.desk.user, f"{CITATIONS} where ordinal = 2 order by rank")
        assert viewed[::2] == [moved, gone]
