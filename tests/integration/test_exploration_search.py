"""The search that an exploration starts with, and which runs may continue from it."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from tests.integration.by_hand import Connection, HandWorker, MakeRole, scalar
from tests.integration.exploring import ask, find, near, passage, record, user, worker

pytestmark = pytest.mark.rolled_back

__all__ = ["user", "worker"]


class TestPassages:
    def test_are_those_of_a_search_and_none_is_recorded(self, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        found = find(worker, run_id, vector=[1, 0, 0, 0], depth=3)

        assert [one["document_id"] for one in found] == ["0", "10", "25"]
        assert {one["origin"] for one in found} == {"dense"}
        assert [one["signal_score"] for one in found] == [None] * 3
        assert scalar(user, "select count(*) from pgclarify.candidate") == 0

    def test_keep_the_vector_of_the_question(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        run_id = ask(user, worker)
        find(worker, run_id, vector=[1, 0, 0, 0])
        vector = "select question_vector::text from pgclarify_private.run where run_id = %s"
        assert scalar(connection, vector, run_id) == "[1,0,0,0]"

        connection.execute("update pgclarify_private.run set operation = 'investigate' where run_id = %s", [run_id])
        find(worker, run_id, vector=[0, 1, 0, 0])
        assert scalar(connection, vector, run_id) == "[1,0,0,0]", "the vector of a step is not that of the question"

    def test_a_lost_or_cancelled_run_finds_nothing_more(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        run_id = ask(user, worker)
        there = [passage(connection, "0")]
        with pytest.raises(psycopg.Error) as refused:
            find(worker, run_id, attempt=2)
        assert refused.value.sqlstate == "PC006"
        with pytest.raises(psycopg.Error) as refused:
            near(worker, run_id, there, attempt=2)
        assert refused.value.sqlstate == "PC006"
        user.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
        with pytest.raises(psycopg.Error) as refused:
            record(worker, run_id, there)
        assert refused.value.sqlstate == "PC006"

    def test_a_run_of_a_dropped_corpus_fails(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        run_id = ask(user, worker)
        there = [passage(connection, "0")]
        connection.execute("select pgclarify.drop_corpus('insurance')")
        worker.sweep()
        with pytest.raises(psycopg.errors.UndefinedObject):
            find(worker, run_id)
        with pytest.raises(psycopg.errors.UndefinedObject):
            record(worker, run_id, there)
        with pytest.raises(psycopg.errors.UndefinedObject):
            near(worker, run_id, there)

    def test_a_run_of_a_role_that_lost_the_corpus_is_refused(
        self, connection: Connection, user: Connection, worker: HandWorker, make_role: MakeRole
    ) -> None:
        run_id, there = ask(user, worker), [passage(connection, "0")]
        connection.execute("update pgclarify_private.corpus set readers = %s", [[make_role(name="boss")]])
        calls: tuple[Callable[[], object], ...] = (
            lambda: find(worker, run_id, question="at 10", method="lexical"),
            lambda: near(worker, run_id, there),
            lambda: record(worker, run_id, there),
            lambda: worker.retrieve(run_id, 1, "at 10", [1, 0, 0, 0]),
        )
        for call in calls:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                call()
        connection.execute("update pgclarify_private.corpus set readers = '{pgclarify_reader}'")
        assert near(worker, run_id, there)

    def test_a_vector_of_another_embedding_model_is_refused(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        run_id = ask(user, worker)
        vector, there = [1.0, 0.0, 0.0, 0.0], [passage(connection, "0")]
        with pytest.raises(psycopg.errors.SerializationFailure):
            find(worker, run_id, vector=vector, embedding_model="another")
        with pytest.raises(psycopg.errors.SerializationFailure):
            near(worker, run_id, there, vector=vector, embedding_model="another")
        with pytest.raises(psycopg.errors.SerializationFailure):
            near(worker, run_id, there, embedding_model="another")
        # A lexical search uses no model, so no model is wrong.
        assert find(worker, run_id, question="at 10", method="lexical", embedding_model="another")
