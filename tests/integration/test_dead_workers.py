"""Runs that would otherwise hang: their job failed or vanished, their worker died, or another session locks them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import psycopg
import pytest

from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, Hire, MakeRole, scalar, state_of


@pytest.fixture
def worker_and_run(connection: Connection, hire: Hire) -> Iterator[tuple[object, int]]:
    worker = hire()
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    worker.open_spaces()
    yield worker, scalar(connection, "select pgclarify.submit('clarify', 'rental cars')")


def job_states(connection: Connection) -> list[str]:
    rows = connection.execute("select status::text from pgclarify_queue.procrastinate_jobs order by id").fetchall()
    return [row[0] for row in rows]


def requeue(worker) -> int:
    return int(worker.send("requeue_lost_jobs", worker_id=worker.worker_id)[0]["jobs"])


def test_a_failed_job_of_a_run_that_is_not_over_is_tried_again(connection, worker_and_run):
    worker, run_id = worker_and_run
    connection.execute("update pgclarify_queue.procrastinate_jobs set status = 'failed'")

    assert requeue(worker) == 1
    assert job_states(connection) == ["todo"]
    assert worker.start(run_id) is not None


def test_a_failed_job_waits_while_somebody_living_carries_the_run_out(connection, worker_and_run):
    worker, run_id = worker_and_run
    worker.start(run_id)
    connection.execute("update pgclarify_queue.procrastinate_jobs set status = 'failed'")

    assert requeue(worker) == 0
    assert job_states(connection) == ["failed"]


@pytest.mark.parametrize("pause_seconds", [None, 3600.0])
def test_a_job_that_is_put_back_waits_by_the_clock_of_the_database(connection, worker_and_run, pause_seconds):
    worker, _ = worker_and_run
    registered = "insert into pgclarify_queue.procrastinate_workers default values returning id"
    queue_worker_id = scalar(connection, registered)
    (job,) = worker.send("take_job", worker_id=queue_worker_id, only_waited_for=False)
    own = {"job_id": job["id"], "worker_id": queue_worker_id, "attempts": job["attempts"]}
    worker.send("retry_own_job", **own, pause_seconds=pause_seconds)
    assert job_states(connection) == ["todo"]
    due_in = "select scheduled_at - now() from pgclarify_queue.procrastinate_jobs"
    if pause_seconds is None:
        assert scalar(connection, due_in) is None
    else:
        assert timedelta(minutes=50) < scalar(connection, due_in) <= timedelta(hours=1)


def test_a_failed_job_of_a_run_that_is_over_is_removed(connection, worker_and_run):
    worker, run_id = worker_and_run
    worker.answer(run_id)
    connection.execute("update pgclarify_queue.procrastinate_jobs set status = 'failed'")

    assert requeue(worker) == 0
    assert job_states(connection) == []


def test_a_run_of_a_dead_worker_without_a_job_gets_one(connection, worker_and_run, hire):
    worker, run_id = worker_and_run
    worker.start(run_id)
    connection.execute("delete from pgclarify_queue.procrastinate_jobs")
    connection.execute("update pgclarify_private.run set started_at = now() - interval '1 hour'")
    other = hire()
    assert requeue(other) == 0
    worker.die()

    assert requeue(other) == 1
    # It goes before the runs of a batch.
    assert connection.execute(
        "select status::text, priority = pgclarify_private.single_priority() from pgclarify_queue.procrastinate_jobs"
    ).fetchall() == [("todo", True)]
    assert requeue(other) == 0
    started = other.start(run_id)
    assert started is not None
    assert started["attempt"] == 2


def test_a_run_that_somebody_holds_is_not_waited_for(connection, connect: Connect, worker_and_run):
    worker, run_id = worker_and_run
    with closing(connect()) as other, other.transaction():
        other.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
        with pytest.raises(psycopg.errors.LockNotAvailable):
            worker.start(run_id)
        raise psycopg.Rollback
    assert worker.start(run_id) is not None


def test_a_role_that_lost_its_right_meanwhile_gets_nothing(
    connection: Connection, connect: Connect, make_role: MakeRole, hire: Hire
):
    reader = make_role(name="readers")
    asker = make_role("pgclarify_user", reader)
    connection.execute(
        "select pgclarify.create_corpus('insurance', options => jsonb_build_object('reader', %s::text))", [reader]
    )
    worker = hire()
    worker.open_spaces()
    with closing(connect(asker)) as session:
        run_id = scalar(session, "select pgclarify.submit('clarify', 'rental cars')")
        connection.execute(f'revoke "{reader}" from "{asker}"'.encode())

        assert worker.start(run_id) is None
        assert state_of(session, "select pgclarify.result(%s)", [run_id]) == "PC003"


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
