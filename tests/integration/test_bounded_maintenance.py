"""Maintenance ends soon, however much work waits. Sessions of workers keep plans that were made for empty tables."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar

MANY = 10_000
ENTER = "select pgclarify.submit_many('clarify', array(select 'q ' || i from generate_series(1, %s) as i))"


@pytest.fixture
def alice(connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    return connect(make_role("pgclarify_user"))


@pytest.fixture
def worker(make_worker: MakeWorker) -> ManualWorker:
    """A worker with the limit that a statement of a worker has in these tests."""
    worker = make_worker()
    worker.connection.execute("set statement_timeout = '5s'")
    return worker


def test_watchers_are_followed_in_a_long_queue(connection: Connection, alice: Connection, worker: ManualWorker) -> None:
    first = scalar(alice, "select pgclarify.submit('clarify', 'one')")
    for _ in range(7):
        alice.execute("select from pgclarify.wait(array[%s]::bigint[], '1 ms')", [first])
        worker.send("watch_runs", run_ids=[], attempts=[])
    scalar(alice, ENTER, MANY)
    connection.execute("update pgclarify_private.run set priority = pgclarify_private.single_priority()")
    last = scalar(alice, "select pgclarify.submit('clarify', 'two')")
    alice.execute("select from pgclarify.wait(array[%s]::bigint[], '1 ms')", [last])
    (row,) = worker.send("watch_runs", run_ids=[first, last], attempts=[1, 1])
    assert row["waited_for"] == [last]
    (taken,) = worker.send("take_run", worker_id=worker.worker_id, only_waited_for=True)
    assert taken["run_id"] == last


def test_runs_of_a_dead_worker_are_put_back_in_batches(
    connection: Connection, alice: Connection, worker: ManualWorker, make_worker: MakeWorker
) -> None:
    dead = make_worker()
    for _ in range(7):
        worker.send("requeue_lost_runs", worker_id=worker.worker_id)
    scalar(alice, ENTER, MANY)
    connection.execute(
        "update pgclarify_private.run set status = 'running', worker_id = %s, started_at = now()", [dead.worker_id]
    )
    dead.die()
    assert worker.value("requeue_lost_runs", worker_id=worker.worker_id) == 1000
    assert scalar(connection, "select count(*) from pgclarify_private.run where status = 'queued'") == 1000


def test_a_long_batch_is_cancelled(connection: Connection, alice: Connection) -> None:
    for _ in range(7):
        alice.execute("select pgclarify.cancel('{}')")
    run_ids = scalar(alice, ENTER, MANY)
    alice.execute("set statement_timeout = '5s'")
    assert scalar(alice, "select pgclarify.cancel(%s)", run_ids) == MANY
    assert scalar(alice, "select pgclarify.cancel(%s)", run_ids) == 0
    ended = "select status, cost_usd, count(*) from pgclarify_private.run group by status, cost_usd"
    assert connection.execute(ended).fetchall() == [("cancelled", 0, MANY)]


def test_runs_of_somebody_else_are_cancelled_neither_alone_nor_among_others(
    alice: Connection, connect: Connect, make_role: MakeRole
) -> None:
    bob = connect(make_role("pgclarify_user"))
    hers, his = (scalar(session, "select pgclarify.submit('clarify', 'one')") for session in (alice, bob))
    for run_ids in ([his], [hers, his], [hers, 987654321], [hers, None]):
        with pytest.raises(psycopg.errors.UndefinedObject):
            alice.execute("select pgclarify.cancel(%s::bigint[])", [run_ids])
    assert scalar(alice, "select status from pgclarify.run") == "queued"
    assert scalar(alice, "select pgclarify.cancel(%s)", [hers, hers]) == 1
