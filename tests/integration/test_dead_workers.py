"""Runs that would otherwise hang: they were put back, their worker died, or another session locks them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import psycopg
import pytest

from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, Hire, MakeRole, scalar


@pytest.fixture
def worker_and_run(connection: Connection, hire: Hire) -> Iterator[tuple[object, int]]:
    worker = hire()
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    worker.open_spaces()
    yield worker, scalar(connection, "select pgclarify.submit('clarify', 'rental cars')")


@pytest.mark.parametrize("pause", [None, timedelta(hours=1)])
def test_a_run_that_is_put_back_waits_by_the_clock_of_the_database(connection, worker_and_run, pause):
    worker, run_id = worker_and_run
    worker.start(run_id)
    worker.send("put_back_run", run_id=run_id, attempt=1, pause=pause)
    status, due_in = connection.execute("select status, due_at - now() from pgclarify_private.run").fetchone()
    assert status == "queued"
    if pause is None:
        assert due_in is None
        assert take(worker)["attempt"] == 2
    else:
        assert timedelta(minutes=50) < due_in <= timedelta(hours=1)
        assert take(worker) is None


def take(worker):
    rows = worker.send("take_run", worker_id=worker.worker_id, only_waited_for=False)
    return rows[0] if rows else None


def test_a_run_that_cannot_be_started_delays_no_other(connection, connect: Connect, worker_and_run):
    worker, run_id = worker_and_run
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


def test_a_run_that_must_be_alone_is_left_to_the_worker_that_found_it(connection, worker_and_run, hire):
    worker, run_id = worker_and_run
    connection.execute("update pgclarify_private.run set crashes = 2")
    other = hire()
    found = take(worker)
    assert (found["run_id"], found["must_be_alone"]) == (run_id, True)
    assert take(other) is None
    connection.execute("update pgclarify_private.run set due_at = now()")
    assert take(other)["must_be_alone"]
    assert worker.start(run_id, is_alone=True) is not None
    assert other.start(run_id, is_alone=True) is None
    worker.finish(run_id)


def test_a_run_that_somebody_holds_is_not_waited_for(connection, connect: Connect, worker_and_run):
    worker, run_id = worker_and_run
    with closing(connect()) as other, other.transaction():
        other.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
        with pytest.raises(psycopg.errors.LockNotAvailable):
            worker.start(run_id)
        raise psycopg.Rollback
    assert worker.start(run_id) is not None


def test_an_answer_is_kept_under_the_roles_it_was_made_with(
    connection: Connection, connect: Connect, make_role: MakeRole, hire: Hire
):
    extra = make_role(name="extra")
    asker = make_role("pgclarify_user", extra)
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    worker = hire()
    worker.open_spaces()
    with closing(connect(asker)) as session:
        run_id = scalar(session, "select pgclarify.submit('clarify', 'rental cars')")
        connection.execute(f'revoke "{extra}" from "{asker}"'.encode())
        worker.answer(run_id)

        assert scalar(session, "select pgclarify.submit('clarify', 'rental cars')") == run_id
        connection.execute(f'grant "{extra}" to "{asker}"'.encode())
        assert scalar(session, "select pgclarify.submit('clarify', 'rental cars')") != run_id


def test_a_lock_that_anyone_can_take_makes_no_worker(
    connection: Connection, connect: Connect, make_role: MakeRole, hire: Hire
):
    worker = hire()
    with closing(connect(make_role("pgclarify_user"))) as stranger:
        worker.die()
        stranger.execute("select pg_advisory_lock(1885823084, %s::integer)", [worker.worker_id])

        assert scalar(connection, "select count(*) from pgclarify.worker_status where is_alive") == 0
