"""Workers without a heartbeat, a session or a serving process, and their runs, which would otherwise hang."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from pgclarify.database.presence import Presence
from tests.integration.explaining import explained
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

LOCK_NOT_AVAILABLE, RUN_LOST = "55P03", "PC006"


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    hired = make_worker()
    connection.execute("select pgclarify.create_corpus('insurance')")
    hired.open_spaces()
    return hired


@pytest.fixture
def run_id(connection: Connection, worker: ManualWorker) -> int:
    return int(scalar(connection, "select pgclarify.submit('clarify', 'rental cars')"))


def fall_silent(connection: Connection, worker: ManualWorker) -> None:
    """Pretend that it has sent no heartbeat for longer than its lease."""
    connection.execute(
        "update pgclarify_private.worker set seen_at = clock_timestamp() - lease where worker_id = %s",
        [worker.worker_id],
    )


def see(worker: ManualWorker) -> bool:
    return bool(worker.value("note_heartbeat", worker_id=worker.worker_id, embedding_models=[]))


def requeue(worker: ManualWorker) -> int:
    return int(worker.value("requeue_lost_runs", worker_id=worker.worker_id))


def status(connection: Connection) -> str:
    return str(scalar(connection, "select status from pgclarify_private.run"))


@pytest.mark.parametrize("how", ["silent", "killed"])
def test_lock_and_heartbeat_make_a_worker_alive(connection: Connection, worker: ManualWorker, how: str) -> None:
    alive = "select count(*) from pgclarify.worker_status where is_alive"
    assert scalar(connection, alive) == 1
    if how == "silent":
        fall_silent(connection, worker)
    else:
        worker.die()

    assert scalar(connection, alive) == 0
    assert scalar(connection, "select count(*) from pgclarify_private.living_workers()") == 0
    assert sqlstate_of(connection, "select pgclarify.clarify('rental cars')") == "PC001"


def test_a_frozen_snapshot_shows_who_was_alive_when_it_began(
    connection: Connection, connect: Connect, worker: ManualWorker
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
    connection: Connection, connect: Connect, worker: ManualWorker
) -> None:
    served = "select pgclarify_private.loopback_call('is_served', '{}')::boolean"
    with closing(connect()) as waiting, waiting.transaction():
        waiting.execute("set transaction isolation level repeatable read")
        assert scalar(waiting, served)
        fall_silent(connection, worker)
        assert not scalar(waiting, served)
        connection.execute("update pgclarify_private.worker set seen_at = clock_timestamp()")
        assert scalar(waiting, served)


def test_the_only_worker_goes_on_after_it_slept(connection: Connection, worker: ManualWorker, run_id: int) -> None:
    worker.start(run_id)
    fall_silent(connection, worker)

    # Otherwise it would treat its own runs as those of a dead worker.
    assert requeue(worker) == 0
    assert see(worker)
    assert requeue(worker) == 0
    assert status(connection) == "running"
    worker.finish(run_id)


def test_a_silent_worker_loses_its_runs_and_writes_nothing(
    connection: Connection, worker: ManualWorker, make_worker: MakeWorker, run_id: int
) -> None:
    worker.start(run_id)
    other = make_worker()
    assert requeue(other) == 0
    fall_silent(connection, worker)

    assert requeue(other) == 1
    with pytest.raises(psycopg.Error) as refused:
        worker.retrieve(run_id)
    assert refused.value.sqlstate == RUN_LOST
    with pytest.raises(psycopg.Error) as refused:
        worker.record_verdicts(run_id, {"rank": 1, "outcome": "abstained"})
    assert refused.value.sqlstate == RUN_LOST


def test_only_the_end_of_a_run_waits_for_the_disk(worker: ManualWorker, run_id: int) -> None:
    worker.start(run_id)
    worker.connection.execute("set synchronous_commit = 'local'")
    for write, waits in ((worker.record_verdicts, "off"), (worker.finish, "local")):
        with worker.connection.transaction():
            write(run_id)
            assert scalar(worker.connection, "show synchronous_commit") == waits


def test_a_run_that_another_session_has_locked_is_put_back_and_started_later(
    connection: Connection, connect: Connect, worker: ManualWorker, run_id: int
) -> None:
    worker.start(run_id)
    with closing(connect()) as other, other.transaction():
        other.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
        with pytest.raises(psycopg.errors.LockNotAvailable):
            worker.send("put_back_run", run_id=run_id, attempt=1, pause=None)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            worker.start(run_id)
        raise psycopg.Rollback
    worker.send("put_back_run", run_id=run_id, attempt=1, pause=None)
    assert status(connection) == "queued"
    assert worker.start(run_id) is not None


@pytest.mark.parametrize(("ending", "is_lost"), [("nothing", False), ("finish", False), ("cancel", True)])
def test_a_worker_that_ends_a_run_has_not_lost_it(
    connection: Connection, worker: ManualWorker, run_id: int, ending: str, is_lost: bool
) -> None:
    worker.start(run_id)
    if ending == "finish":
        worker.finish(run_id)
    elif ending == "cancel":
        connection.execute("select pgclarify.cancel(array[%s])", [run_id])

    (watched,) = worker.send("watch_runs", run_ids=[run_id], attempts=[1])
    assert watched["lost"] == ([1] if is_lost else [])


@pytest.fixture
def idle(connect: Connect, make_role: MakeRole) -> ManualWorker:
    """A process with a language model that leases replies but serves no runs."""
    return ManualWorker(connect(make_role("pgclarify_worker")), provider="openai", is_serving=False)


def test_a_process_that_only_leases_counts_as_no_worker(
    connection: Connection, worker: ManualWorker, idle: ManualWorker, run_id: int
) -> None:
    listed = "select worker_id from pgclarify.worker_status where is_alive"
    assert connection.execute(listed).fetchall() == [(worker.worker_id,)]
    worker.die()
    assert connection.execute(listed).fetchall() == []
    assert "none is running" in explained(connection, run_id)
    assert sqlstate_of(connection, "select * from pgclarify.clarify('cars')") == "PC001"


def test_no_run_is_left_to_its_language_model(connection: Connection, worker: ManualWorker, idle: ManualWorker) -> None:
    run_id = scalar(connection, "select pgclarify.submit('investigate', 'rental cars')")
    assert worker.send("start_run", run_id=run_id, worker_id=worker.worker_id, is_alone=False)


def test_its_leases_hold_while_it_lives(worker: ManualWorker, idle: ManualWorker) -> None:
    def claim(of: ManualWorker) -> bool:
        (row,) = of.claim_calls(None, ["asked"])
        return bool(row["is_ours"])

    assert claim(idle)
    assert not claim(worker)
    idle.die()
    assert claim(worker)


@pytest.mark.parametrize("is_serving", [True, False])
async def test_presence_says_whether_it_serves(database: str, is_serving: bool) -> None:
    async with Presence.enter(
        database, version="0", provider="openai", model="a-model", prompt_version="v1", is_serving=is_serving
    ):
        with closing(psycopg.connect(database)) as connection:
            assert scalar(connection, "select is_serving from pgclarify_private.worker") is is_serving


@pytest.mark.parametrize("pause", [None, timedelta(hours=1)])
def test_a_run_that_is_put_back_waits_by_the_clock_of_the_database(
    connection: Connection, worker: ManualWorker, run_id: int, pause: timedelta | None
) -> None:
    worker.start(run_id)
    worker.send("put_back_run", run_id=run_id, attempt=1, pause=pause)
    due_in = scalar(connection, "select due_at - now() from pgclarify_private.run where status = 'queued'")
    if pause is None:
        assert due_in is None
        assert take(worker)["attempt"] == 2
    else:
        assert timedelta(minutes=50) < due_in <= timedelta(hours=1)
        assert take(worker) is None


def take(worker: ManualWorker) -> Any:
    rows = worker.send("take_run", worker_id=worker.worker_id, only_waited_for=False)
    return rows[0] if rows else None


def test_a_run_that_cannot_be_started_delays_no_other(
    connection: Connection, connect: Connect, worker: ManualWorker, run_id: int
) -> None:
    with closing(connect()) as other, other.transaction():
        other.execute("select from pgclarify_private.corpus for update")
        refused = take(worker)
        assert (refused["run_id"], refused["attempt"]) == (run_id, None)
        assert refused["refusal"]
        assert take(worker) is None
    wait = scalar(
        connection, "select due_at - now() from pgclarify_private.run where status = 'queued' and attempt = 0"
    )
    assert timedelta(0) < wait < timedelta(seconds=6)


def test_a_run_that_must_be_alone_is_left_to_the_worker_that_found_it(
    connection: Connection, worker: ManualWorker, run_id: int, make_worker: MakeWorker
) -> None:
    connection.execute("update pgclarify_private.run set crashes = 2")
    other = make_worker()
    found = take(worker)
    assert (found["run_id"], found["must_be_alone"]) == (run_id, True)
    assert take(other) is None
    connection.execute("update pgclarify_private.run set due_at = now()")
    assert take(other)["must_be_alone"]
    assert worker.start(run_id, is_alone=True) is not None
    assert other.start(run_id, is_alone=True) is None
    worker.finish(run_id)


def test_an_answer_is_kept_under_the_roles_it_was_made_with(
    connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker
) -> None:
    extra = make_role(name="extra")
    asker = make_role("pgclarify_user", extra)
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    worker = make_worker()
    worker.open_spaces()
    with closing(connect(asker)) as session:
        run_id = scalar(session, "select pgclarify.submit('clarify', 'rental cars')")
        connection.execute(f'revoke "{extra}" from "{asker}"'.encode())
        worker.answer(run_id)

        assert scalar(session, "select pgclarify.submit('clarify', 'rental cars')") == run_id
        connection.execute(f'grant "{extra}" to "{asker}"'.encode())
        assert scalar(session, "select pgclarify.submit('clarify', 'rental cars')") != run_id


def test_a_lock_that_anyone_can_take_makes_no_worker(
    connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    with closing(connect(make_role("pgclarify_user"))) as stranger:
        worker.die()
        stranger.execute("select pg_advisory_lock(1885823084, %s::integer)", [worker.worker_id])

        assert scalar(connection, "select count(*) from pgclarify.worker_status where is_alive") == 0
