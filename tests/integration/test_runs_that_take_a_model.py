"""Runs that take a language model, where workers with and without one share a queue."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.by_hand import Connect, Connection, HandWorker, MakeRole, scalar
from tests.integration.investigating import alice, submit, worker

__all__ = ["alice", "worker"]

WITH_A_MODEL = '{"method": "lexical", "reranker": "model"}'
CONFIRMED = '{"method": "lexical", "verify": "model"}'


@pytest.fixture
def thinker(connect: Connect, make_role: MakeRole) -> HandWorker:
    """A worker that has a language model; the other one has none."""
    return HandWorker(connect(make_role("pgclarify_worker")), model="a-large-one", provider="openai")


def clarify(connection: Connection, options: str) -> int:
    return int(scalar(connection, "select pgclarify.submit('clarify', 'bridge', 'atlas', %s)", options))


class TestWhoStartsThem:
    def test_investigations_are_left_to_who_has_one(
        self, worker: HandWorker, thinker: HandWorker, alice: Connection
    ) -> None:
        run_id = submit(alice)

        with pytest.raises(psycopg.errors.LockNotAvailable):
            worker.start(run_id)

        run = "select status, attempt from pgclarify.run where run_id = %s"
        assert alice.execute(run.encode(), [run_id]).fetchone() == ("queued", 0)
        assert thinker.start(run_id) is not None

    @pytest.mark.parametrize("options", [WITH_A_MODEL, CONFIRMED])
    def test_so_is_what_a_model_ranks_or_confirms(
        self, worker: HandWorker, thinker: HandWorker, alice: Connection, options: str
    ) -> None:
        run_id = clarify(alice, options)

        with pytest.raises(psycopg.errors.LockNotAvailable):
            worker.start(run_id)
        assert thinker.start(run_id) is not None

    def test_any_worker_starts_a_run_without_a_language_model(
        self, worker: HandWorker, thinker: HandWorker, alice: Connection
    ) -> None:
        for options in ('{"method": "lexical"}', '{"method": "lexical", "reranker": "signal"}', '{"verify": "none"}'):
            assert worker.start(clarify(alice, options)) is not None

    def test_where_nobody_has_one_it_starts_to_say_so(
        self, worker: HandWorker, thinker: HandWorker, alice: Connection
    ) -> None:
        thinker.die()

        assert worker.start(submit(alice)) is not None
        assert worker.start(clarify(alice, WITH_A_MODEL)) is not None
