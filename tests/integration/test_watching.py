"""A run that was asked alone goes first while a session waits for it, and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from pgclarify.client.blocking import Client
from pgclarify.errors import RunTimeout
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar
from tests.workers import until


@pytest.fixture
def alice(connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    return connect(make_role("pgclarify_user"))


@pytest.fixture
def worker(make_worker: MakeWorker) -> ManualWorker:
    return make_worker()


def submit(alice: Connection, question: str) -> int:
    return int(scalar(alice, "select pgclarify.submit('clarify', %s)", question))


def wait(connection: Connection, *run_ids: int) -> None:
    connection.execute("select from pgclarify.wait(%s, '1 ms')", [list(run_ids)])


def waited_for(worker: ManualWorker, *run_ids: int) -> list[int]:
    """Let queued runs go first that sessions wait for; those of these runs that a caller waits for."""
    (row,) = worker.send("watch_runs", run_ids=list(run_ids), attempts=[1] * len(run_ids))
    return list(row["waited_for"])


def order(worker: ManualWorker) -> list[int]:
    """Take all runs as the queue does, those first that may take the room kept for waiting callers."""
    runs = []
    for only_waited_for in (True, False):
        while taken := worker.send("take_run", worker_id=worker.worker_id, only_waited_for=only_waited_for):
            runs.append(taken[0]["run_id"])
    return runs


def test_a_session_raises_the_run_that_it_waits_for(alice: Connection, worker: ManualWorker) -> None:
    first, second = submit(alice, "one"), submit(alice, "two")
    wait(alice, second)
    assert waited_for(worker, first, second) == [second]
    assert worker.send("take_run", worker_id=worker.worker_id, only_waited_for=False)[0]["run_id"] == second
    assert order(worker) == [first]
    # It is no longer queued, and its calls go first as long as the session waits for it.
    assert waited_for(worker, first, second) == [second]


def test_a_program_that_waits_for_its_runs_in_turn_raises_only_the_last(
    alice: Connection, worker: ManualWorker
) -> None:
    runs = [submit(alice, question) for question in ("one", "two", "three")]
    for run in (*runs, runs[1], runs[1]):
        wait(alice, run)
        assert waited_for(worker, *runs) == [run]
    assert order(worker) == [runs[1], runs[0], runs[2]]


@contextmanager
def asking(caller: Connection, connection: Connection, question: str) -> Iterator[tuple[int, Future[Any]]]:
    """A call that waits without limit: its run, once the session notes that it waits, and the result of the call."""
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(caller.execute, b"select from pgclarify.clarify(%s, timeout => null)", [question])
        watched = "select run_id from pgclarify_private.watch_locks() where process_id = %s"
        until(lambda: call.done() or connection.execute(watched.encode(), [caller.info.backend_pid]).fetchone())
        try:
            yield scalar(connection, watched, caller.info.backend_pid), call
        finally:
            connection.execute("select pg_terminate_backend(%s::integer)", [caller.info.backend_pid])


def test_the_run_of_a_call_goes_first_while_the_call_waits(
    alice: Connection, connect: Connect, connection: Connection, worker: ManualWorker
) -> None:
    submitted = submit(alice, "one")
    with asking(connect(alice.info.user), connection, "two") as (asked, call):
        assert waited_for(worker, submitted, asked) == [asked]
        assert order(worker) == [asked, submitted]
        connection.execute("select pgclarify.cancel(array[%s]::bigint[])", [asked])
        assert isinstance(call.exception(60), psycopg.Error)
        assert scalar(connection, "select count(*) from pgclarify_private.watch_locks()") == 0


def test_after_its_timeout_a_call_raises_its_run_no_longer(alice: Connection, worker: ManualWorker) -> None:
    submitted = submit(alice, "one")
    with pytest.raises(psycopg.Error) as raised:
        alice.execute("select pgclarify.clarify('two', timeout => '10 ms')")
    assert raised.value.sqlstate == "PC002"
    asked = scalar(alice, "select max(run_id) from pgclarify.run")
    assert waited_for(worker, submitted, asked) == []
    assert not worker.send("take_run", worker_id=worker.worker_id, only_waited_for=True)
    wait(alice, asked)
    assert waited_for(worker, submitted, asked) == [asked]
    assert order(worker) == [asked, submitted]


@pytest.mark.parametrize("level", ["read committed", "repeatable read"])
def test_a_call_that_times_out_names_workers_that_take_no_runs(
    alice: Connection, connection: Connection, worker: ManualWorker, level: str
) -> None:
    alice.execute(f"set default_transaction_isolation = '{level}'".encode())

    def told() -> tuple[str, str]:
        with pytest.raises(psycopg.Error) as raised:
            alice.execute("select pgclarify.clarify('two', timeout => '10 ms')")
        assert raised.value.sqlstate == "PC002"
        return raised.value.diag.message_detail or "", raised.value.diag.message_hint or ""

    detail, hint = told()
    assert "0.1.0" not in detail
    assert "pgclarify worker" not in hint
    # As after an upgrade.
    connection.execute("update pgclarify_private.worker set schema_hash = 'older', version = '0.1.0'")
    detail, hint = told()
    assert "0.1.0" in detail
    assert "pgclarify worker" in hint
    # Another one of this version takes them.
    connection.execute(
        "update pgclarify_private.worker set schema_hash = (select shipped_hash from pgclarify_private.applied_sql)"
    )
    assert "pgclarify worker" not in told()[1]
    worker.die()
    assert scalar(connection, "select pgclarify_private.why_unserved_now()")


def test_a_call_whose_session_is_terminated_raises_its_run_no_longer(
    alice: Connection, connect: Connect, connection: Connection, worker: ManualWorker
) -> None:
    submitted, caller = submit(alice, "one"), connect(alice.info.user)
    with asking(caller, connection, "two") as (asked, call):
        connection.execute("select pg_terminate_backend(%s::integer, 60000)", [caller.info.backend_pid])
        assert isinstance(call.exception(60), psycopg.OperationalError)
    assert waited_for(worker, submitted, asked) == []
    assert order(worker) == [submitted, asked]


def test_a_cancelled_call_leaves_no_note_that_it_waits(
    alice: Connection, connect: Connect, connection: Connection, worker: ManualWorker
) -> None:
    caller = connect(alice.info.user)
    with asking(caller, connection, "one") as (_, call):
        connection.execute("select pg_cancel_backend(%s::integer)", [caller.info.backend_pid])
        assert isinstance(call.exception(60), psycopg.errors.QueryCanceled)
        assert scalar(connection, "select count(*) from pgclarify_private.watch_locks()") == 0


def test_the_python_client_raises_the_run_that_it_watches(alice: Connection, worker: ManualWorker) -> None:
    client = Client(alice)
    first, second = submit(alice, "one"), submit(alice, "two")
    with pytest.raises(RunTimeout):
        list(client.verdicts(second, timeout=0.01))
    assert waited_for(worker, first, second) == [second]
