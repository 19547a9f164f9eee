"""Workers that are killed, stall or lose their network: nothing is lost, and nothing stored is paid for twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.held_replies import hold_replies
from tests.integration.manual_worker import MakeWorker
from tests.integration.network_proxy import Network, network
from tests.integration.spending import claim, store
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import StartWorker, Worker, serves, submit_many, until, wait, wait_until_searchable


def paid(connection: Connection) -> int:
    """How many replies are stored."""
    return int(scalar(connection, "select count(*) from pgclarify_private.completion where reply is not null"))


@pytest.mark.loaded
def test_sigkill_three_times_pays_again_only_for_what_was_in_flight(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    concurrency, runs, top_k = 6, 8, 8
    alive = run_worker(database, own_model.base_url, concurrency=concurrency)
    wait_until_searchable(connection)
    answered = runs * top_k // 4

    def answer_so_many(chat: Chat) -> Reply:
        if own_model.calls > answered:
            own_model.latency = 600.0
        return by_rules(chat)

    own_model.behavior = answer_so_many
    run_ids = submit_many(connection, runs, top_k=top_k)
    for kill in range(1, 4):
        # After some call there are no more answers: this many calls are in flight, and all others are stored.
        until(lambda: own_model.in_flight == concurrency)
        until(lambda: paid(connection) == own_model.calls - kill * concurrency)  # noqa: B023
        alive.kill()
        until(lambda: own_model.in_flight == 0)
        assert scalar(connection, "select count(*) from pgclarify.run where finished_at is null") > 0
        answered = own_model.calls + runs * top_k // 4
        if kill == 3:
            own_model.behavior = by_rules
        own_model.latency = 0.0
        alive = run_worker(database, own_model.base_url, concurrency=concurrency)

    assert wait(connection, run_ids) == ["succeeded"] * runs
    assert own_model.stats["repeated_inputs"] <= 3 * concurrency
    assert own_model.calls == paid(connection) + 3 * concurrency
    verdicts = connection.execute("select count(*) from pgclarify.verdict group by run_id").fetchall()
    assert verdicts == [(top_k,)] * runs


# The lease of the worker that stalls: short, so that the test need not wait for long.
SHORT = timedelta(seconds=2)
RUNS, TOP_K, ANSWERED, CONCURRENCY = 4, 6, 8, 8


def written(connection: Connection) -> list[tuple[Any, ...]]:
    """All results of runs and paid calls, except what workers find out about ended runs."""
    return [
        row
        for table in ("run", "candidate", "verdict", "stage", "interpretation", "citation", "completion")
        for row in connection.execute(
            f"select (to_jsonb(t) - 'question_group_id')::text from pgclarify_private.{table} as t order by 1".encode()  # noqa: S608
        )
    ]


@contextmanager
def stopped(worker: Worker) -> Iterator[None]:
    """A process that is stopped."""
    assert worker.process.pid is not None
    os.kill(worker.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(worker.process.pid, signal.SIGCONT)


@contextmanager
def cut_off(way: Network) -> Iterator[None]:
    """A process that continues, but has lost its network."""
    way.part()
    try:
        yield
    finally:
        way.heal()


@pytest.mark.loaded
@pytest.mark.parametrize("how", ["stopped", "cut off"])
def test_another_worker_takes_over(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker, how: str
) -> None:
    with network(database) as (way, dsn):
        stalled = run_worker(dsn, own_model.base_url, lease=SHORT)
        process_id = stalled.process.pid
        assert process_id is not None
        wait_until_searchable(connection)
        with ExitStack() as standstill:
            with hold_replies(own_model, after=ANSWERED):
                run_ids = submit_many(connection, RUNS, top_k=TOP_K)
                under_way = "select count(*) from pgclarify.run where status = 'running'"
                until(lambda: paid(connection) == ANSWERED and scalar(connection, under_way) == RUNS)
                standstill.enter_context(stopped(stalled) if how == "stopped" else cut_off(way))

            second = run_worker(database, own_model.base_url)
            assert wait(connection, run_ids) == ["succeeded"] * RUNS
            assert serves(connection, process_id) is False
            if how == "stopped":
                # What was in flight when it stopped, and no reply that was stored.
                assert own_model.stats["repeated_inputs"] <= CONCURRENCY
            before = written(connection)

        # It counts as alive again only once it has registered anew.
        until(lambda: serves(connection, process_id))
        assert written(connection) == before

        assert second.stop() == 0
        assert wait(connection, submit_many(connection, 2, "another question")) == ["succeeded"] * 2
        assert stalled.process.is_alive()


ALONE_FROM, MOST_CRASHES = 2, 10


class Fleet:
    """Workers, only one at a time."""

    def __init__(self, connection: Connection, make_worker: MakeWorker) -> None:
        self._connection, self._hire = connection, make_worker
        self.worker = make_worker()
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
def fleet(connection: Connection, make_worker: MakeWorker) -> Fleet:
    return Fleet(connection, make_worker)


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


def test_a_run_that_another_session_holds_is_counted_later(
    connection: Connection, fleet: Fleet, make_worker: MakeWorker
) -> None:
    (run_id,) = fleet.submit(1)
    fleet.worker.start(run_id)
    with connection.transaction():
        connection.execute("select from pgclarify_private.run where run_id = %s for update", [run_id])
        fleet.crash()
    assert fleet.crashes(run_id) == 0
    fleet.worker.send("requeue_lost_runs", worker_id=fleet.worker.worker_id)
    assert fleet.crashes(run_id) == 1


def test_a_run_that_has_paid_for_a_reply_since_it_started_begins_to_count_anew(fleet: Fleet) -> None:
    stuck, moving = fleet.submit(2)
    for run_id in (stuck, moving):
        fleet.worker.start(run_id)
    fleet.crash()
    assert (fleet.crashes(stuck), fleet.crashes(moving)) == (1, 1)
    for run_id in (stuck, moving):
        fleet.worker.start(run_id)
    (completion_id,) = claim(fleet.worker, moving, "a").ours.values()
    store(fleet.worker, [completion_id])
    fleet.crash()
    assert (fleet.crashes(stuck), fleet.crashes(moving)) == (2, 0)
    # A reply of an earlier attempt is no progress of this one.
    fleet.worker.start(moving)
    fleet.crash()
    assert fleet.crashes(moving) == 1
