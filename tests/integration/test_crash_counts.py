"""Runs whose workers died: which runs are carried out alone and which fail, by the statements of workers."""

from __future__ import annotations

import pytest

from tests.integration.by_hand import Connection, Hire, scalar

ALONE_FROM, MOST_CRASHES = 2, 10


class Fleet:
    """Workers, only one at a time."""

    def __init__(self, connection: Connection, hire: Hire) -> None:
        self._connection, self._hire = connection, hire
        self.worker = hire()
        connection.execute("select pgclarify.create_corpus('insurance')")
        self.worker.open_spaces()

    def submit(self, count: int) -> list[int]:
        questions = [f"rental cars {number}" for number in range(count)]
        return list(scalar(self._connection, "select pgclarify.submit_many('clarify', %s)", questions))

    def crash(self) -> None:
        """Kill the worker, and let another one put its runs back."""
        self.worker.die()
        self.worker = self._hire()
        self.worker.send("requeue_lost_runs", worker_id=self.worker.worker_id)

    def crashes(self, run_id: int) -> int:
        return int(scalar(self._connection, "select crashes from pgclarify.run where run_id = %s", run_id))

    def status(self, run_id: int) -> str:
        return str(scalar(self._connection, "select status from pgclarify.run where run_id = %s", run_id))

    def must_be_alone(self, run_id: int) -> bool:
        (row,) = self.worker.send("start_run", run_id=run_id, worker_id=self.worker.worker_id, is_alone=False)
        return bool(row["must_be_alone"])


@pytest.fixture
def fleet(connection: Connection, hire: Hire) -> Fleet:
    return Fleet(connection, hire)


def test_runs_that_workers_are_lost_with_are_carried_out_alone_and_one_fails(fleet: Fleet) -> None:
    run_ids = fleet.submit(5)
    poison, *healthy = run_ids
    for _ in range(ALONE_FROM):
        assert not any(fleet.must_be_alone(run_id) for run_id in run_ids)
        fleet.crash()

    assert all(fleet.must_be_alone(run_id) for run_id in run_ids)
    assert [fleet.status(run_id) for run_id in run_ids] == ["queued"] * 5
    for _ in range(MOST_CRASHES - ALONE_FROM):
        assert fleet.worker.start(poison, is_alone=True) is not None
        fleet.crash()
        assert [fleet.crashes(run_id) for run_id in healthy] == [ALONE_FROM] * 4
    assert fleet.worker.start(poison, is_alone=True) is None
    assert fleet.status(poison) == "failed"

    for run_id in healthy:
        run = fleet.worker.start(run_id, is_alone=True)
        assert run is not None
        fleet.worker.finish(run_id, run["attempt"])
        assert fleet.status(run_id) == "succeeded"


def test_a_run_that_another_session_holds_is_counted_later(connection: Connection, fleet: Fleet, hire: Hire) -> None:
    (run_id,) = fleet.submit(1)
    fleet.worker.start(run_id)
    with connection.transaction():
        connection.execute("select from pgclarify_private.run where run_id = %s for update", [run_id])
        fleet.crash()
    assert fleet.crashes(run_id) == 0
    fleet.worker.send("requeue_lost_runs", worker_id=fleet.worker.worker_id)
    assert fleet.crashes(run_id) == 1
