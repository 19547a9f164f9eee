"""Investigations, with a worker played by hand: steps as they land, the answer, and who may read what of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.integration.by_hand import Connect, Connection, HandWorker, Hire, MakeRole, scalar, state_of
from tests.workers import until

WRONG_VALUE = "22023"
UNDEFINED_OBJECT = "42704"
NOT_READY = "55000"
QUESTION = "Who made the bridge over the Ure?"
# Titles are searched, too.
DOCUMENTS = {
    "bridge": ("The bridge", "The bridge over the Ure was made by Nora Blum."),
    "Blum": ("Nora Blum", "Nora Blum was born in Ripon."),
}
OPTIONS = '{"search": "lexical"}'


def cite(rank: int, quote: str, start_char: int = 0) -> dict[str, Any]:
    """A citation as a worker sends it."""
    return {"candidate_rank": rank, "quote": quote, "start_char": start_char, "end_char": start_char + len(quote)}


def answered(ordinal: int, kind: str, answer: str, *citations: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """A step with an answer, as a worker sends it."""
    step = {"question": QUESTION, "confidence": 0.75, "reason": None, "semantic_sets": 2}
    return step | others | {
        "ordinal": ordinal, "kind": kind, "outcome": "answered", "answer": answer, "citations": citations
    }  # fmt: skip


def unanswered(ordinal: int, kind: str, outcome: str = "not_in_corpus", reason: str | None = "None.") -> dict[str, Any]:
    """A step without one."""
    nothing = dict.fromkeys(("answer", "confidence", "semantic_sets"))
    told = {"ordinal": ordinal, "kind": kind, "question": QUESTION, "outcome": outcome, "reason": reason}
    return nothing | told | {"citations": []}


def record(worker: HandWorker, run_id: int, step: Mapping[str, Any], attempt: int = 1) -> None:
    """Keep a step."""
    worker.send("record_step", run_id=run_id, attempt=attempt, step=json.dumps(step))


def steps_for(ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    """A follow-up and a conclusion; ranks: those of the candidates, by document."""
    made, born = cite(ranks["bridge"], "made by Nora Blum", 28), cite(ranks["Blum"], "Nora Blum was born in Ripon.")
    return [
        answered(1, "follow_up", "Ripon", born, question="Where was Nora Blum born?", confidence=0.9),
        answered(2, "conclusion", "Nora Blum", made, born, reason="Both agree.", semantic_sets=None),
    ]


def carry_out(worker: HandWorker, run_id: int, steps: Sequence[Mapping[str, Any]] | None = None) -> None:
    """Carry a run out from beginning to end; steps: None for those above."""
    run = worker.start(run_id)
    assert run is not None
    found = worker.retrieve(run_id, run["attempt"], "bridge Ure Nora Blum Ripon")
    ranks = {candidate["document_id"]: candidate["rank"] for candidate in found}
    for step in steps_for(ranks) if steps is None else steps:
        record(worker, run_id, step, run["attempt"])
    worker.finish(run_id, run["attempt"])


def submit(connection: Connection, question: str = QUESTION, options: str = OPTIONS) -> int:
    return int(scalar(connection, "select pgclarify.submit_investigation(%s, 'atlas', %s)", question, options))


def rows(connection: Connection, query: str, *parameters: Any) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), parameters).fetchall()


def investigation(connection: Connection, run_id: int) -> dict[str, Any]:
    (row,) = rows(connection, "select * from pgclarify.investigation(%s)", run_id)
    return row


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    """A worker, and a searchable corpus."""
    connection.execute("select pgclarify.create_corpus('atlas')")
    for document_id, (title, content) in DOCUMENTS.items():
        connection.execute(
            "select pgclarify.add_document('atlas', %s, %s, %s, %s)", [document_id, content, title, f"/{document_id}"]
        )
    hired = hire()
    hired.index_everything()
    return hired


@pytest.fixture
def alice(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user", name="alice"))


@pytest.fixture
def stranger(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user"))


class TestAnswers:
    def test_come_with_steps_and_what_proves_them(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)

        found = investigation(alice, run_id)

        assert (found["run_id"], found["status"], found["outcome"]) == (run_id, "succeeded", "answered")
        assert (found["answer"], found["confidence"]) == ("Nora Blum", 0.75)
        assert found["document_ids"] == ["bridge", "Blum"]
        assert [step["answer"] for step in found["steps"]] == ["Ripon", "Nora Blum"]
        assert [step["confidence"] for step in found["steps"]] == [0.9, 0.75]
        assert found["steps"][1]["citations"] == found["citations"]
        for citation in found["citations"]:
            title, content = DOCUMENTS[citation["document_id"]]
            assert content[citation["start_char"] : citation["end_char"]] == citation["quote"]
            assert (citation["title"], citation["uri"]) == (title, f"/{citation['document_id']}")
            assert citation["is_current"]

    def test_have_the_columns_of_the_views(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)
        found = investigation(alice, run_id)

        steps = rows(alice, "select * from pgclarify.investigation_step order by ordinal")
        citations = rows(alice, "select * from pgclarify.investigation_citation order by step_ordinal, rank")
        told = [{key: value for key, value in step.items() if key != "citations"} for step in found["steps"]]
        for step in steps:
            step["created_at"] = step["created_at"].isoformat()
        assert told == steps
        assert [citation for step in found["steps"] for citation in step["citations"]] == citations

    def test_are_one_row_also_if_there_is_none(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id, [unanswered(1, "direct"), unanswered(2, "conclusion")])

        found = investigation(alice, run_id)

        assert (found["status"], found["outcome"]) == ("succeeded", "not_in_corpus")
        assert (found["answer"], found["confidence"]) == (None, None)
        assert (found["document_ids"], found["citations"]) == ([], [])
        assert [step["citations"] for step in found["steps"]] == [[], []]

    def test_are_served_again(self, connection: Connection, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)
        first = investigation(alice, run_id)
        again = "select * from pgclarify.investigate(%s, 'atlas', %s)"

        assert submit(alice) == run_id
        assert rows(alice, again, f"  {QUESTION} ", OPTIONS) == [first]
        # How long somebody waits is no part of the question.
        assert rows(alice, again, QUESTION, '{"search": "lexical", "timeout": "1s"}') == [first]
        assert submit(alice, options='{"search": "lexical", "penalty": false}') != run_id
        assert scalar(alice, "select pgclarify.submit(%s, 'atlas', options => %s)", QUESTION, OPTIONS) != run_id
        connection.execute("select pgclarify.remove_document('atlas', 'Blum')")
        assert submit(alice) != run_id

    @pytest.mark.parametrize("level", ["read committed", "repeatable read", "serializable"])
    def test_are_waited_for(self, worker: HandWorker, alice: Connection, level: str) -> None:
        queued = "select min(run_id) from pgclarify.run_summary where status = 'queued'"
        with ThreadPoolExecutor(1) as pool, alice.transaction():
            alice.execute(f"set transaction isolation level {level}".encode())
            scalar(alice, "select count(*) from pgclarify.run_summary")  # the snapshot is taken here
            with psycopg.connect(worker.connection.info.dsn, user="postgres", autocommit=True) as witness:
                played = pool.submit(lambda: carry_out(worker, until(lambda: scalar(witness, queued))))
                (found,) = rows(alice, "select * from pgclarify.investigate(%s, 'atlas', %s)", QUESTION, OPTIONS)
                played.result()

        assert found == investigation(alice, found["run_id"])
        assert found["answer"] == "Nora Blum"


class TestSteps:
    def test_are_seen_while_the_run_goes_on(
        self, connection: Connection, connect: Connect, worker: HandWorker, alice: Connection, stranger: Connection
    ) -> None:
        run_id = submit(alice)
        colleague = connect(alice.info.user)
        worker.start(run_id)
        ranks = {row["document_id"]: row["rank"] for row in worker.retrieve(run_id, question="bridge Ure Nora Blum")}
        first, last = steps_for(ranks)
        seen = "select answer from pgclarify.investigation_step order by ordinal"
        cited = "select quote from pgclarify.investigation_citation"

        for session in (alice, colleague, stranger):
            assert rows(session, seen) == []
        record(worker, run_id, first)
        for session in (alice, colleague):
            assert rows(session, seen) == [{"answer": "Ripon"}]
            assert rows(session, cited) == [{"quote": "Nora Blum was born in Ripon."}]
            assert state_of(session, "select pgclarify.investigation(%s)", [run_id]) == NOT_READY
        record(worker, run_id, last)
        assert rows(colleague, seen) == [{"answer": "Ripon"}, {"answer": "Nora Blum"}]
        for query in (seen, cited, "select from pgclarify.step", "select from pgclarify.step_citation"):
            assert rows(stranger, query) == []

    def test_are_replaced_when_they_are_sent_again(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        worker.start(run_id)
        worker.retrieve(run_id, question="bridge Ure Nora Blum")
        for _ in range(2):
            record(worker, run_id, answered(1, "follow_up", "Blum", cite(1, "Blum"), cite(2, "Blum")))
        record(worker, run_id, unanswered(1, "follow_up", "contradicted"))

        assert rows(alice, "select ordinal, outcome, answer from pgclarify.investigation_step") == [
            {"ordinal": 1, "outcome": "contradicted", "answer": None}
        ]
        assert rows(alice, "select from pgclarify.step_citation") == []

    def test_of_an_earlier_attempt_are_gone(self, connection: Connection, hire: Hire, worker: HandWorker) -> None:
        run_id = submit(connection)
        worker.start(run_id)
        worker.retrieve(run_id, question="bridge Ure Nora Blum")
        record(worker, run_id, answered(1, "follow_up", "Blum", cite(1, "Blum")))
        other = hire()

        run = other.start(run_id)

        assert run is not None
        assert run["attempt"] == 2
        assert rows(connection, "select from pgclarify.step") == rows(connection, "select from pgclarify.step_citation")
        with pytest.raises(psycopg.Error) as late:
            record(worker, run_id, unanswered(2, "conclusion"))
        assert late.value.sqlstate == "PC006"
        other.retrieve(run_id, 2, question="bridge Ure Nora Blum")
        record(other, run_id, answered(1, "conclusion", "Blum", cite(1, "Blum")), attempt=2)
        other.finish(run_id, 2)
        assert investigation(connection, run_id)["answer"] == "Blum"

    def test_of_a_run_that_was_cancelled_are_refused(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        worker.start(run_id)
        record(worker, run_id, unanswered(1, "follow_up"))
        assert scalar(alice, "select pgclarify.cancel(%s)", run_id)

        with pytest.raises(psycopg.Error) as late:
            record(worker, run_id, unanswered(2, "conclusion"))
        assert late.value.sqlstate == "PC006"
        assert rows(alice, "select ordinal from pgclarify.investigation_step") == [{"ordinal": 1}]

    @pytest.mark.parametrize(
        "step",
        [
            answered(1, "direct", "x") | {"answer": None, "confidence": None},
            answered(1, "direct", "x") | {"outcome": "repeated"},
            answered(1, "direct", " \n"),
            answered(1, "direct", "x", confidence=0.0),
            answered(1, "direct", "x", confidence=1.5),
            answered(1, "direct", "x", confidence=None),
            unanswered(1, "direct") | {"confidence": 0.5},
            answered(1, "direct", "x", semantic_sets=0),
            unanswered(0, "direct"),
            unanswered(1, "guess"),
            unanswered(1, "direct", "shrugged"),
        ],
    )
    def test_are_what_they_can_be(self, worker: HandWorker, alice: Connection, step: dict[str, Any]) -> None:
        run_id = submit(alice)
        worker.start(run_id)

        with pytest.raises(psycopg.errors.CheckViolation):
            record(worker, run_id, step)

    def test_cite_what_was_found(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        worker.start(run_id)
        worker.retrieve(run_id, question="bridge Ure Nora Blum")

        with pytest.raises(psycopg.errors.NotNullViolation):
            record(worker, run_id, answered(1, "direct", "x", cite(99, "x")))
        assert rows(alice, "select from pgclarify.step") == []

    def test_one_is_the_conclusion(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        worker.start(run_id)
        record(worker, run_id, unanswered(1, "conclusion"))

        with pytest.raises(psycopg.errors.UniqueViolation):
            record(worker, run_id, unanswered(2, "conclusion"))
        record(worker, run_id, unanswered(1, "conclusion"))


class TestCitations:
    def test_outlive_their_documents(self, connection: Connection, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)
        moved = f"Once more: {DOCUMENTS['bridge'][1]}"
        view = "select document_id, title, is_current from pgclarify.investigation_citation where step_ordinal = 2"

        def seen() -> list[tuple[Any, ...]]:
            told = [
                (citation["document_id"], citation["title"], citation["is_current"])
                for citation in investigation(alice, run_id)["citations"]
            ]
            assert alice.execute(f"{view} order by rank".encode()).fetchall() == told
            return told

        connection.execute("select pgclarify.add_document('atlas', 'bridge', %s, 'Moved')", [moved])
        connection.execute("select pgclarify.remove_document('atlas', 'Blum')")
        assert seen() == [("bridge", "Moved", True), ("Blum", None, False)]
        bridge, blum = investigation(alice, run_id)["citations"]
        assert moved[bridge["start_char"] : bridge["end_char"]] == bridge["quote"]
        assert blum["quote"] == "Nora Blum was born in Ripon."

        connection.execute("select pgclarify.drop_corpus('atlas')")
        assert seen() == [("bridge", None, False), ("Blum", None, False)]
        assert [citation["quote"] for citation in investigation(alice, run_id)["citations"]] == [
            "made by Nora Blum",
            "Nora Blum was born in Ripon.",
        ]

    def test_name_no_document_that_the_reader_may_not_read(
        self, connection: Connection, worker: HandWorker, alice: Connection
    ) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)
        title, content = DOCUMENTS["Blum"]
        connection.execute(
            "select pgclarify.add_document('atlas', 'Blum', %s, %s, readers => array['nobody'::name])", [content, title]
        )

        told = {citation["document_id"]: citation for citation in investigation(alice, run_id)["citations"]}

        assert (told["bridge"]["title"], told["bridge"]["is_current"]) == ("The bridge", True)
        assert (told["Blum"]["title"], told["Blum"]["uri"], told["Blum"]["is_current"]) == (None, None, False)
        assert told["Blum"]["quote"] == content


class TestWhoMaySee:
    def test_an_analyst_of_the_corpus(
        self, connection: Connection, connect: Connect, worker: HandWorker, make_role: MakeRole, alice: Connection
    ) -> None:
        role = make_role("pgclarify_user", name="analysts")
        connection.execute("update pgclarify.corpus set analyst = %s, reader = %s", [role, alice.info.user])
        run_id = submit(alice)
        carry_out(worker, run_id)
        analyst = connect(make_role(role))

        found = investigation(analyst, run_id)
        assert found["answer"] == "Nora Blum"
        # To see the runs on a corpus, with their quotes, is not to read the corpus.
        assert [citation["title"] for citation in found["citations"]] == [None, None]
        assert scalar(analyst, "select count(*) from pgclarify.investigation_step") == 2
        assert state_of(analyst, "select pgclarify.cancel(%s)", [run_id]) == "42501"

    def test_nobody_else(self, worker: HandWorker, alice: Connection, stranger: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)

        for call in ("investigation", "result", "cancel", "consolidate"):
            assert state_of(stranger, f"select pgclarify.{call}(%s)", [run_id]) == UNDEFINED_OBJECT

    def test_who_may_not_search_the_corpus_may_not_ask(
        self, connection: Connection, worker: HandWorker, alice: Connection, stranger: Connection
    ) -> None:
        connection.execute("update pgclarify.corpus set reader = %s", [alice.info.user])

        for call in ("submit_investigation", "investigate"):
            assert state_of(stranger, f"select pgclarify.{call}('x', 'atlas')") == UNDEFINED_OBJECT

    def test_a_dashboards_role_reads_and_starts_nothing(
        self, connection: Connection, worker: HandWorker, alice: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        reader = connect(make_role("pgclarify_reader"))
        run_id = submit(alice)
        carry_out(worker, run_id)

        for call in ("submit_investigation('x')", "investigate('x')"):
            assert state_of(reader, f"select pgclarify.{call}") == "42501"
        assert state_of(reader, "select pgclarify.investigation(%s)", [run_id]) == UNDEFINED_OBJECT
        assert rows(reader, "select from pgclarify.investigation_step") == []
        connection.execute("update pgclarify.corpus set analyst = %s", [reader.info.user])
        assert investigation(reader, run_id)["answer"] == "Nora Blum"


class TestRefusals:
    @pytest.mark.parametrize(
        "options",
        [
            {"unheard of": 1},
            {"search": "adaptive"},
            {"reranker": 1},
            {"reranker": ""},
            {"reranker": "x" * 501},
            {"reranker": "a\tb"},
            {"top_k": 0},
            {"top_k": 101},
            {"top_k": 2.5},
            {"budget": 0},
            {"budget": 9},
            {"top_k": 33},
            {"budget": 1001},
            {"batch": 0},
            {"batch": 101},
            {"max_steps": 0},
            {"max_steps": 21},
            {"max_calls": 0},
            {"max_calls": 10001},
            {"samples": 1},
            {"samples": 51},
            {"penalty": "yes"},
            {"reasoner": 1},
            {"entailment": True},
            {"entailment": " "},
            {"timeout": "soon"},
            {"timeout": "-1s"},
            {"timeout": "9999999999999 years"},
            ["top_k"],
        ],
    )
    def test_options(self, worker: HandWorker, alice: Connection, options: Any) -> None:
        for call in ("investigate", "submit_investigation"):
            query = f"select pgclarify.{call}(%s, 'atlas', %s::jsonb)"
            assert state_of(alice, query, [QUESTION, json.dumps(options)]) == WRONG_VALUE
        assert scalar(alice, "select count(*) from pgclarify.run") == 0

    @pytest.mark.parametrize("question", [None, "", " \n", "x" * 10_001])
    def test_questions(self, worker: HandWorker, alice: Connection, question: str | None) -> None:
        for call in ("investigate", "submit_investigation"):
            assert state_of(alice, f"select pgclarify.{call}(%s, 'atlas')", [question]) == WRONG_VALUE

    def test_all_options_are_kept_as_used(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice, options='{"top_k": 7.0, "reasoner": false, "budget": null}')

        kept = scalar(alice, "select settings ->> 'top_k' from pgclarify.run where run_id = %s", run_id)
        assert kept == "7", "the same number is the same setting, however it is written"
        assert scalar(alice, "select settings from pgclarify.run where run_id = %s", run_id) == {
            "search": "hybrid", "reranker": "signal", "top_k": 7, "budget": 32, "batch": 16, "max_steps": 4,
            "max_calls": 60, "samples": 5, "penalty": True, "reasoner": False, "entailment": "embedding",
        }  # fmt: skip

    def test_what_is_no_investigation_and_what_is_one(self, worker: HandWorker, alice: Connection) -> None:
        clarified = scalar(alice, "select pgclarify.submit('x', 'atlas', options => %s)", OPTIONS)
        worker.answer(clarified)
        run_id = submit(alice)
        carry_out(worker, run_id)

        for query in ("select pgclarify.result(%s)", "select pgclarify.consolidate(%s)"):
            assert state_of(alice, query, [run_id]) == NOT_READY
        assert state_of(alice, "select pgclarify.investigation(%s)", [clarified]) == NOT_READY
        told = rows(alice, "select * from pgclarify.wait(%s::bigint[])", [run_id, clarified])
        assert [(outcome["status"], outcome["interpretations"]) for outcome in told] == [
            ("succeeded", None),
            ("succeeded", 0),
        ]

    def test_a_search_has_neither_readings_nor_an_answer(
        self, connection: Connection, worker: HandWorker, alice: Connection
    ) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)
        connection.execute("update pgclarify.run set operation = 'search' where run_id = %s", [run_id])

        for call in ("result", "investigation", "consolidate"):
            assert state_of(alice, f"select pgclarify.{call}(%s)", [run_id]) == NOT_READY

    @pytest.mark.parametrize(("level", "is_told"), [("read committed", False), ("repeatable read", True)])
    def test_a_run_that_is_newer_than_the_transaction(
        self, worker: HandWorker, alice: Connection, stranger: Connection, level: str, is_told: bool
    ) -> None:
        with alice.transaction(force_rollback=True), pytest.raises(psycopg.errors.UndefinedObject) as refused:
            alice.execute(f"set transaction isolation level {level}".encode())
            scalar(alice, "select count(*) from pgclarify.run")
            investigation(alice, submit(stranger))
        assert ("end it first" in (refused.value.diag.message_hint or "")) == is_told

    def test_runs_without_an_answer(self, worker: HandWorker, alice: Connection) -> None:
        read = "select pgclarify.investigation(%s)"
        run_id = submit(alice)
        assert state_of(alice, read, [run_id]) == NOT_READY
        assert scalar(alice, "select pgclarify.cancel(%s)", run_id)
        assert state_of(alice, read, [run_id]) == "PC003"

        run_id = submit(alice)
        run = worker.start(run_id)
        assert run is not None
        worker.finish(run_id, run["attempt"], "failed", "no model")
        with pytest.raises(psycopg.Error) as failed:
            investigation(alice, run_id)
        assert (failed.value.sqlstate, failed.value.diag.message_detail) == ("PC003", "no model")
        assert submit(alice) != run_id, "a failure is not served"

    def test_partial_ones_warn(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        worker.start(run_id)
        record(worker, run_id, unanswered(1, "conclusion", "cut_off"))
        worker.finish(run_id, 1, "partial")
        heard: list[tuple[str | None, str | None]] = []
        alice.add_notice_handler(lambda notice: heard.append((notice.severity_nonlocalized, notice.message_hint)))

        assert investigation(alice, run_id)["outcome"] == "cut_off"

        ((severity, hint),) = heard
        assert severity == "WARNING"
        assert hint is not None
        # What it says to look at is there.
        assert rows(alice, hint.removeprefix("See: ")) == [{"ordinal": 1, "outcome": "cut_off", "reason": "None."}]

    def test_nobody_to_answer(self, connection: Connection, worker: HandWorker, alice: Connection) -> None:
        worker.die()

        assert state_of(alice, "select pgclarify.investigate('x', 'atlas')") == "PC001"
        assert scalar(connection, "select count(*) from pgclarify.run") == 0

    def test_too_late(self, worker: HandWorker, alice: Connection) -> None:
        with pytest.raises(psycopg.Error) as late:
            alice.execute("select pgclarify.investigate('x', 'atlas', '{\"timeout\": \"0.1s\"}')")
        assert late.value.sqlstate == "PC002"
        (run,) = rows(alice, "select run_id, status from pgclarify.run_summary")
        assert run["status"] == "queued"
        assert f"pgclarify.investigation({run['run_id']})" in (late.value.diag.message_hint or "")

    def test_of_the_open_transaction(self, worker: HandWorker, alice: Connection) -> None:
        with alice.transaction(force_rollback=True):
            run_id = submit(alice)
            assert state_of(alice, "select pgclarify.wait(array[%s::bigint])", [run_id]) == "PC004"
        assert state_of(alice, "select pgclarify.investigation(%s)", [run_id]) == UNDEFINED_OBJECT
        assert worker.start(run_id) is None
