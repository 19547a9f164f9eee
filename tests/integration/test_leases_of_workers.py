"""A worker is alive if its session is open and its heartbeat is recent. Tests of one without a recent heartbeat."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from tests.integration.by_hand import Connect, Connection, HandWorker, Hire, scalar, state_of

LOCK_NOT_AVAILABLE, RUN_LOST = "55P03", "PC006"


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    hired = hire()
    connection.execute("select pgclarify.create_corpus('insurance')")
    hired.open_spaces()
    return hired


@pytest.fixture
def run_id(connection: Connection, worker: HandWorker) -> int:
    return int(scalar(connection, "select pgclarify.submit('clarify', 'rental cars')"))


def fall_silent(connection: Connection, worker: HandWorker) -> None:
    """Pretend that it has sent no heartbeat for longer than its lease."""
    connection.execute(
        "update pgclarify_private.worker set seen_at = clock_timestamp() - lease where worker_id = %s",
        [worker.worker_id],
    )


def see(worker: HandWorker) -> bool:
    return bool(worker.value("note_heartbeat", worker_id=worker.worker_id, embedding_models=[]))


def requeue(worker: HandWorker) -> int:
    return int(worker.value("requeue_lost_runs", worker_id=worker.worker_id))


def status(connection: Connection) -> str:
    return str(scalar(connection, "select status from pgclarify_private.run"))


@pytest.mark.parametrize("how", ["silent", "killed"])
def test_lock_and_heartbeat_make_a_worker_alive(connection: Connection, worker: HandWorker, how: str) -> None:
    alive = "select count(*) from pgclarify.worker_status where is_alive"
    assert scalar(connection, alive) == 1
    if how == "silent":
        fall_silent(connection, worker)
    else:
        worker.die()

    assert scalar(connection, alive) == 0
    assert scalar(connection, "select count(*) from pgclarify_private.living_workers()") == 0
    assert state_of(connection, "select pgclarify.clarify('rental cars')") == "PC001"


def test_a_frozen_snapshot_shows_who_was_alive_when_it_began(
    connection: Connection, connect: Connect, worker: HandWorker
) -> None:
    alive = "select count(*) from pgclarify.worker_status where is_alive"
    # Heartbeats continue, but this transaction does not see them.
    connection.execute("update pgclarify_private.worker set lease = interval '1 microsecond'")
    assert scalar(connection, alive) == 0
    with closing(connect()) as reader, reader.transaction():
        reader.execute("set transaction isolation level repeatable read")
        connection.execute("update pgclarify_private.worker set seen_at = clock_timestamp() + interval '1 day'")
        assert scalar(reader, alive) == 1
        connection.execute("update pgclarify_private.worker set seen_at = clock_timestamp() - interval '1 day'")
        assert scalar(reader, alive) == 1
        worker.die()
        reader.execute("select pg_stat_clear_snapshot()")
        assert scalar(reader, alive) == 0


def test_a_waiting_call_with_a_frozen_snapshot_sees_heartbeats(
    connection: Connection, connect: Connect, worker: HandWorker
) -> None:
    served = "select pgclarify_private.loopback_call('is_served', '{}')::boolean"
    with closing(connect()) as waiting, waiting.transaction():
        waiting.execute("set transaction isolation level repeatable read")
        assert scalar(waiting, served)
        fall_silent(connection, worker)
        assert not scalar(waiting, served)
        connection.execute("update pgclarify_private.worker set seen_at = clock_timestamp()")
        assert scalar(waiting, served)


def test_the_only_worker_goes_on_after_it_slept(connection: Connection, worker: HandWorker, run_id: int) -> None:
    worker.start(run_id)
    fall_silent(connection, worker)

    # Otherwise it would treat its own runs as those of a dead worker.
    assert requeue(worker) == 0
    assert see(worker)
    assert requeue(worker) == 0
    assert status(connection) == "running"
    worker.finish(run_id)


def test_a_silent_worker_loses_its_runs_and_writes_nothing(
    connection: Connection, worker: HandWorker, hire: Hire, run_id: int
) -> None:
    worker.start(run_id)
    other = hire()
    assert requeue(other) == 0
    fall_silent(connection, worker)

    assert requeue(other) == 1
    assert status(connection) == "queued"
    # Before another has started it, and after.
    for attempt in (1, 2):
        with pytest.raises(psycopg.Error) as refused:
            worker.finish(run_id)
        assert refused.value.sqlstate == RUN_LOST
        with pytest.raises(psycopg.Error) as refused:
            worker.retrieve(run_id)
        assert refused.value.sqlstate == RUN_LOST
        if attempt == 1:
            with pytest.raises(psycopg.Error) as refused:
                worker.start(run_id)
            assert refused.value.sqlstate == LOCK_NOT_AVAILABLE
            assert other.start(run_id) is not None
    assert requeue(worker) == 0
    assert worker.record_verdicts(run_id, {"rank": 1, "outcome": "abstained"}) == []
    other.finish(run_id, 2)


def test_a_run_that_was_cancelled_is_not_begun(connection: Connection, worker: HandWorker, run_id: int) -> None:
    connection.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])

    assert worker.start(run_id) is None
    assert scalar(connection, "select status from pgclarify.run") == "cancelled"


def test_a_run_that_another_session_has_locked_is_put_back_later(
    connection: Connection, connect: Connect, worker: HandWorker, run_id: int
) -> None:
    worker.start(run_id)
    with closing(connect()) as other, other.transaction():
        other.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
        with pytest.raises(psycopg.errors.LockNotAvailable):
            worker.send("put_back_run", run_id=run_id, attempt=1, pause=None)
        raise psycopg.Rollback
    worker.send("put_back_run", run_id=run_id, attempt=1, pause=None)
    assert status(connection) == "queued"


@pytest.mark.parametrize(("ending", "is_lost"), [("nothing", False), ("finish", False), ("cancel", True)])
def test_a_worker_that_ends_a_run_has_not_lost_it(
    connection: Connection, worker: HandWorker, run_id: int, ending: str, is_lost: bool
) -> None:
    worker.start(run_id)
    if ending == "finish":
        worker.finish(run_id)
    elif ending == "cancel":
        connection.execute("select pgclarify.cancel(array[%s])", [run_id])

    (watched,) = worker.send("watch_runs", run_ids=[run_id], attempts=[1])
    assert watched["lost"] == ([1] if is_lost else [])
