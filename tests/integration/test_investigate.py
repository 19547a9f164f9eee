"""Investigations, with a worker played by hand: steps as they are stored."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.answering import rows
from tests.integration.by_hand import Connect, Connection, HandWorker, Hire, rows_of, state_of
from tests.integration.investigating import (
    NOT_READY,
    alice,
    answered,
    cite,
    investigation,
    record,
    steps_for,
    stranger,
    submit,
    unanswered,
    worker,
)

pytestmark = pytest.mark.rolled_back

__all__ = ["alice", "stranger", "worker"]


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
        cited = "select quote from pgclarify.citation"

        for session in (alice, colleague, stranger):
            assert rows(session, seen) == []
        record(worker, run_id, first)
        for session in (alice, colleague):
            assert rows(session, seen) == [{"answer": "Ripon"}]
            assert rows(session, cited) == [{"quote": "Nora Blum was born in Ripon."}]
            assert state_of(session, rows_of("investigation"), [run_id]) == NOT_READY
        record(worker, run_id, last)
        assert rows(colleague, seen) == [{"answer": "Ripon"}, {"answer": "Nora Blum"}]
        for query in (seen, cited):
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
        assert rows(alice, "select from pgclarify.citation") == []

    def test_steps_of_an_earlier_attempt_are_deleted(
        self, connection: Connection, hire: Hire, worker: HandWorker
    ) -> None:
        run_id = submit(connection)
        worker.start(run_id)
        worker.retrieve(run_id, question="bridge Ure Nora Blum")
        record(worker, run_id, answered(1, "follow_up", "Blum", cite(1, "Blum")))
        other = hire()

        run = other.start(run_id)

        assert run is not None
        assert run["attempt"] == 2
        assert rows(connection, "select from pgclarify_private.step") == rows(
            connection, "select from pgclarify_private.citation"
        )
        with pytest.raises(psycopg.Error) as late:
            record(worker, run_id, unanswered(2, "conclusion"))
        assert late.value.sqlstate == "PC006"
        other.retrieve(run_id, 2, question="bridge Ure Nora Blum")
        record(other, run_id, answered(1, "conclusion", "Blum", cite(1, "Blum")), attempt=2)
        other.finish(run_id, 2)
        assert investigation(connection, run_id)["answer"] == "Blum"

    def test_cite_what_was_found(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        worker.start(run_id)
        worker.retrieve(run_id, question="bridge Ure Nora Blum")

        with pytest.raises(psycopg.errors.NotNullViolation):
            record(worker, run_id, answered(1, "direct", "x", cite(99, "x")))
        assert rows(alice, "select from pgclarify.investigation_step") == []

    def test_a_run_has_one_conclusion(self, worker: HandWorker, alice: Connection) -> None:
        run_id = submit(alice)
        worker.start(run_id)
        record(worker, run_id, unanswered(1, "conclusion"))

        with pytest.raises(psycopg.errors.UniqueViolation):
            record(worker, run_id, unanswered(2, "conclusion"))
        record(worker, run_id, unanswered(1, "conclusion"))
