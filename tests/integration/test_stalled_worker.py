"""A worker that stalls or loses its network: another one takes over its runs, and it writes nothing more."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.by_hand import Connection
from tests.integration.holding_back import held_back
from tests.integration.partitioning import Network, network
from tests.integration.test_crashes import paid
from tests.openai_server import Server
from tests.workers import StartWorker, Worker, load, scalar, serves, submit_many, until, wait, wait_until_searchable

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


@pytest.mark.parametrize("how", ["stopped", "cut off"])
def test_another_worker_takes_over(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker, how: str
) -> None:
    with network(database) as (way, dsn):
        stalled = run_worker(dsn, own_model.base_url, lease=SHORT)
        process_id = stalled.process.pid
        assert process_id is not None
        load(connection)
        wait_until_searchable(connection)
        with ExitStack() as standstill:
            with held_back(own_model, after=ANSWERED):
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
