"""Investigations, with a worker played by hand: their steps, results and refusals, and which worker starts them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker, rows_of
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.stored_answers import rows
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back


NOT_READY = "55000"
QUESTION = "Who made the bridge over the Ure?"
# The search covers titles, too.
DOCUMENTS = {
    "bridge": ("The bridge", "The bridge over the Ure was made by Nora Blum."),
    "Blum": ("Nora Blum", "Nora Blum was born in Ripon."),
}
OPTIONS = '{"method": "lexical"}'


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
    """A step without an answer."""
    nothing = dict.fromkeys(("answer", "confidence", "semantic_sets"))
    told = {"ordinal": ordinal, "kind": kind, "question": QUESTION, "outcome": outcome, "reason": reason}
    return nothing | told | {"citations": []}


def steps_for(ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    """A follow-up and a conclusion. ranks: ranks of the candidates, by document."""
    made, born = cite(ranks["bridge"], "made by Nora Blum", 28), cite(ranks["Blum"], "Nora Blum was born in Ripon.")
    return [
        answered(1, "follow_up", "Ripon", born, question="Where was Nora Blum born?", confidence=0.9),
        answered(2, "conclusion", "Nora Blum", made, born, reason="Both agree.", semantic_sets=None),
    ]


def carry_out(worker: ManualWorker, run_id: int, steps: Sequence[Mapping[str, Any]] | None = None) -> None:
    """Carry out a run from start to end. steps: None for the steps above."""
    run = worker.start(run_id)
    assert run is not None
    found = worker.retrieve(run_id, run["attempt"], "bridge Ure Nora Blum Ripon")
    ranks = {candidate["document_id"]: candidate["rank"] for candidate in found}
    for step in steps_for(ranks) if steps is None else steps:
        worker.record_results(run_id, "step", step, attempt=run["attempt"])
    worker.finish(run_id, run["attempt"])


def submit(connection: Connection, question: str = QUESTION, options: str = OPTIONS) -> int:
    return int(scalar(connection, "select pgclarify.submit('investigate', %s, 'atlas', %s)", question, options))


def investigation(connection: Connection, run_id: int) -> dict[str, Any]:
    (row,) = rows(connection, rows_of("investigation"), run_id)
    return row


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker, and a searchable corpus."""
    connection.execute(MAKE_OPEN_CORPUS, ["atlas"])
    for document_id, (title, content) in DOCUMENTS.items():
        connection.execute(
            "select pgclarify.add_document('atlas', %s, %s, %s, %s)", [document_id, content, title, f"/{document_id}"]
        )
    hired = make_worker()
    hired.index_everything()
    return hired


@pytest.fixture
def alice(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user", name="alice"))


@pytest.fixture
def stranger(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user"))


class TestSteps:
    def test_are_seen_while_the_run_goes_on(
        self, connection: Connection, connect: Connect, worker: ManualWorker, alice: Connection, stranger: Connection
    ) -> None:
        run_id = submit(alice)
        colleague = connect(alice.info.user)
        worker.start(run_id)
        ranks = {row["document_id"]: row["rank"] for row in worker.retrieve(run_id, question="bridge Ure Nora Blum")}
        first, last = steps_for(ranks)
        seen = "select answer from pgclarify.investigation_step order by ordinal"
        cited = "select quote from pgclarify.citation"

        for session in (alice, colleague, stranger):
            assert rows(session, seen) == []
        worker.record_results(run_id, "step", first)
        for session in (alice, colleague):
            assert rows(session, seen) == [{"answer": "Ripon"}]
            assert rows(session, cited) == [{"quote": "Nora Blum was born in Ripon."}]
            assert sqlstate_of(session, rows_of("investigation"), [run_id]) == NOT_READY
        worker.record_results(run_id, "step", last)
        assert rows(colleague, seen) == [{"answer": "Ripon"}, {"answer": "Nora Blum"}]
        for query in (seen, cited):
            assert rows(stranger, query) == []

    def test_are_stored_once_when_they_are_sent_again(self, worker: ManualWorker, alice: Connection) -> None:
        run_id = submit(alice)
        worker.start(run_id)
        worker.retrieve(run_id, question="bridge Ure Nora Blum")
        for _ in range(2):
            worker.record_results(run_id, "step", answered(1, "follow_up", "Blum", cite(1, "Blum"), cite(2, "Blum")))

        assert rows(alice, "select ordinal, answer from pgclarify.investigation_step") == [
            {"ordinal": 1, "answer": "Blum"}
        ]
        assert len(rows(alice, "select from pgclarify.citation")) == 2

    def test_steps_of_an_earlier_attempt_are_deleted(
        self, connection: Connection, make_worker: MakeWorker, worker: ManualWorker
    ) -> None:
        run_id = submit(connection)
        worker.start(run_id)
        worker.retrieve(run_id, question="bridge Ure Nora Blum")
        worker.record_results(run_id, "step", answered(1, "follow_up", "Blum", cite(1, "Blum")))
        other = make_worker()

        run = other.start(run_id)

        assert run is not None
        assert run["attempt"] == 2
        assert rows(connection, "select from pgclarify_private.step") == rows(
            connection, "select from pgclarify_private.citation"
        )
        with pytest.raises(psycopg.Error) as late:
            worker.record_results(run_id, "step", unanswered(2, "conclusion"))
        assert late.value.sqlstate == "PC006"
        other.retrieve(run_id, 2, question="bridge Ure Nora Blum")
        other.record_results(run_id, "step", answered(1, "conclusion", "Blum", cite(1, "Blum")), attempt=2)
        other.finish(run_id, 2)
        assert investigation(connection, run_id)["answer"] == "Blum"

    def test_cite_what_was_found(self, worker: ManualWorker, alice: Connection) -> None:
        run_id = submit(alice)
        worker.start(run_id)
        worker.retrieve(run_id, question="bridge Ure Nora Blum")

        with pytest.raises(psycopg.errors.NotNullViolation):
            worker.record_results(run_id, "step", answered(1, "direct", "x", cite(99, "x")))
        assert rows(alice, "select from pgclarify.investigation_step") == []


class TestAnswers:
    def test_come_with_steps_and_what_proves_them(self, worker: ManualWorker, alice: Connection) -> None:
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

    def test_have_the_columns_of_the_views(self, worker: ManualWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)
        found = investigation(alice, run_id)

        steps = rows(alice, "select * from pgclarify.investigation_step order by ordinal")
        citations = rows(alice, "select * from pgclarify.citation order by ordinal, rank")
        told = [{key: value for key, value in step.items() if key != "citations"} for step in found["steps"]]
        for step in told:
            # JSON has its seconds without trailing zeros.
            step["created_at"] = datetime.fromisoformat(step["created_at"])
        assert told == steps
        told = [citation for step in found["steps"] for citation in step["citations"]]
        assert told == [{key: row[key] for key in told[0]} for row in citations]

    def test_are_one_row_also_if_there_is_none(self, worker: ManualWorker, alice: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id, [unanswered(1, "direct"), unanswered(2, "conclusion")])

        found = investigation(alice, run_id)

        assert (found["status"], found["outcome"]) == ("succeeded", "not_in_corpus")
        assert (found["answer"], found["confidence"]) == (None, None)
        assert (found["document_ids"], found["citations"]) == ([], [])
        assert [step["citations"] for step in found["steps"]] == [[], []]


class TestCitations:
    def test_a_conclusion_without_citations_is_shown_with_its_reason(
        self, connection: Connection, worker: ManualWorker, alice: Connection
    ) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id, [unanswered(1, "direct"), unanswered(2, "conclusion")])
        title, content = DOCUMENTS["Blum"]
        connection.execute(
            "select pgclarify.add_document('atlas', 'Blum', %s, %s, readers => array['auditor'::name])",
            [content, title],
        )

        by_view = rows(
            alice, "select kind from pgclarify.investigation_step where run_id = %s order by ordinal", run_id
        )
        assert [step["kind"] for step in by_view] == ["direct", "conclusion"]
        assert len(by_view) == len(investigation(alice, run_id)["steps"])


READ = rows_of("investigation")


WRONG_VALUE = "22023"


class TestRefusals:
    @parametrize_in_one_test("options", [{"max_passages": 9}, {"max_passages": 32, "top_k": 33}])
    def test_fewer_passages_than_are_asked_for_are_refused(
        self, worker: ManualWorker, alice: Connection, options: Any
    ) -> None:
        for call in ("investigate(", "submit('investigate', "):
            query = f"select pgclarify.{call}%s, 'atlas', %s::jsonb)"
            assert sqlstate_of(alice, query, [QUESTION, json.dumps(options)]) == WRONG_VALUE

    def test_functions_refuse_runs_of_another_operation(self, worker: ManualWorker, alice: Connection) -> None:
        clarified = scalar(alice, "select pgclarify.submit('clarify', 'x', 'atlas', %s)", OPTIONS)
        worker.answer(clarified)
        run_id = submit(alice)
        carry_out(worker, run_id)

        for query in ("select pgclarify.result(%s)", "select pgclarify.consolidate(%s)"):
            assert sqlstate_of(alice, query, [run_id]) == NOT_READY
        assert sqlstate_of(alice, READ, [clarified]) == NOT_READY
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as refused:
            alice.execute("select pgclarify.consolidate(%s)", [run_id])
        assert refused.value.diag.message_detail == "Its operation is investigate."
        assert rows(alice, "select interpretations from pgclarify.run order by run_id") == [
            {"interpretations": 0},
            {"interpretations": None},
        ]
        told = rows(alice, "select * from pgclarify.wait(%s::bigint[])", [run_id, clarified])
        assert [(outcome["status"], outcome["interpretations"]) for outcome in told] == [
            ("succeeded", None),
            ("succeeded", 0),
        ]

    @pytest.mark.committed
    @pytest.mark.parametrize(("level", "is_told"), [("read committed", False), ("repeatable read", True)])
    def test_a_run_that_is_newer_than_the_transaction(
        self, worker: ManualWorker, alice: Connection, stranger: Connection, level: str, is_told: bool
    ) -> None:
        with alice.transaction(force_rollback=True), pytest.raises(psycopg.errors.UndefinedObject) as refused:
            alice.execute(f"set transaction isolation level {level}".encode())
            scalar(alice, "select count(*) from pgclarify.run")
            investigation(alice, submit(stranger))
        assert ("end it first" in (refused.value.diag.message_hint or "")) == is_told

    @pytest.mark.committed
    @pytest.mark.parametrize(("level", "is_told"), [("read committed", False), ("repeatable read", True)])
    def test_a_run_that_may_be_over_since_the_transaction_began(
        self, worker: ManualWorker, alice: Connection, level: str, is_told: bool
    ) -> None:
        run_id = submit(alice)
        with (
            alice.transaction(force_rollback=True),
            pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as refused,
        ):
            alice.execute(f"set transaction isolation level {level}".encode())
            investigation(alice, run_id)
        hint = refused.value.diag.message_hint or ""
        assert f"pgclarify.wait(array[{run_id}])" in hint
        assert ("begin the transaction anew" in hint) == is_told


WITH_A_MODEL = '{"method": "lexical", "reranker": "model"}'
CONFIRMED = '{"method": "lexical", "verify": "model"}'


@pytest.fixture
def thinker(connect: Connect, make_role: MakeRole) -> ManualWorker:
    """A worker that has a language model; the other one has none."""
    return ManualWorker(connect(make_role("pgclarify_worker")), model="a-large-one", provider="openai")


def clarify(connection: Connection, options: str) -> int:
    return int(scalar(connection, "select pgclarify.submit('clarify', 'bridge', 'atlas', %s)", options))


class TestWhoStartsThem:
    @pytest.mark.parametrize(
        ("operation", "options"), [("investigate", OPTIONS), ("clarify", WITH_A_MODEL), ("clarify", CONFIRMED)]
    )
    def test_runs_that_take_a_model_are_left_to_a_worker_that_has_one(
        self, worker: ManualWorker, thinker: ManualWorker, alice: Connection, operation: str, options: str
    ) -> None:
        run_id = int(scalar(alice, "select pgclarify.submit(%s, 'bridge', 'atlas', %s)", operation, options))

        with pytest.raises(psycopg.errors.LockNotAvailable):
            worker.start(run_id)

        run = "select status, attempt from pgclarify.run where run_id = %s"
        assert alice.execute(run.encode(), [run_id]).fetchone() == ("queued", 0)
        assert thinker.start(run_id) is not None

    def test_any_worker_starts_a_run_without_a_language_model(
        self, worker: ManualWorker, thinker: ManualWorker, alice: Connection
    ) -> None:
        for options in ('{"method": "lexical"}', '{"method": "lexical", "reranker": "signal"}', '{"verify": "none"}'):
            assert worker.start(clarify(alice, options)) is not None

    @pytest.mark.committed
    def test_where_nobody_has_one_it_starts_to_say_so(
        self, worker: ManualWorker, thinker: ManualWorker, alice: Connection
    ) -> None:
        thinker.die()

        assert worker.start(submit(alice)) is not None
        assert worker.start(clarify(alice, WITH_A_MODEL)) is not None
