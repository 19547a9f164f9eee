"""Tables of one owner that several sessions attach at once, and workers that tidy up meanwhile: no deadlock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.integration.attaching import ATTACH, DETACH, attach
from tests.integration.manual_worker import MakeWorker
from tests.sessions import Connect, Connection, scalar, sqlstate_of
from tests.workers import until

DUPLICATE = "42710"
FIRST_HALF = (
    "select pgclarify_private.attach_table(caller, 'kb', 'app.article', 'id', 'body', '{}')"
    " from pgclarify_private.caller"
)
SECOND_HALF = (
    "select pgclarify_private.take_steps(caller, 'kb', 'app.article'::regclass, false) from pgclarify_private.caller"
)
WAITS = "select cardinality(pg_blocking_pids(%s)) > 0"


def test_a_table_that_two_sessions_attach_is_attached_once_without_a_deadlock(
    alice: Connection, connection: Connection, connect: Connect
) -> None:
    """Between the two halves of the first call, another table of the same owner is attached."""
    # The role that reads Alice's tables exists from now on, so no call waits for another one that makes it.
    alice.execute(ATTACH)
    alice.execute(DETACH)
    alice.execute("create table app.other (id bigint primary key, body text)")
    second, third = connect(alice.info.user), connect(alice.info.user)
    with ThreadPoolExecutor(2) as pool:
        with alice.transaction():
            alice.execute(FIRST_HALF.encode())
            other = pool.submit(attach, third, "app.other", id_prefix="other/")
            until(lambda: other.done() or scalar(connection, WAITS, third.info.backend_pid))
            late = pool.submit(sqlstate_of, second, ATTACH)
            until(lambda: scalar(connection, WAITS, second.info.backend_pid))

            alice.execute(SECOND_HALF.encode())

        assert late.result() == DUPLICATE
        assert other.result()
    assert scalar(connection, "select count(*) from pgclarify_private.source") == 2


def test_two_workers_drop_the_same_idle_table_reader_without_an_error(
    alice: Connection, connection: Connection, make_worker: MakeWorker
) -> None:
    alice.execute(ATTACH)
    alice.execute(DETACH)
    first, second = make_worker(), make_worker()
    with ThreadPoolExecutor(1) as pool:
        with first.connection.transaction():
            assert first.value("drop_idle_table_reader") is not None
            late = pool.submit(second.value, "drop_idle_table_reader")
            until(lambda: scalar(connection, WAITS, second.connection.info.backend_pid))

        assert late.result() is None
