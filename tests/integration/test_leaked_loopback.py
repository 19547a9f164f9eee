"""The loopback: a leaked connection is useless, because statements through it must be signed for their transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, ManualWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connect, Connection, MakeRole, sqlstate_of
from tests.workers import until

INSUFFICIENT_PRIVILEGE = "42501"
CANCELED = "57014"
NO_WORKER = "PC001"
TIMED_OUT = "PC002"

PAYLOADS = {
    "enter": """
        {"requester": "postgres", "requester_oid": "10", "operation": "clarify", "corpus_id": 1, "questions": ["cars"],
        "settings": {}, "parent_run_id": null}
    """,
    "cancel": "[1]",
    "unfinished": "[1]",
    "rows": '{"row_type": "run_outcome", "ids": [1], "requester": "postgres"}',
}


class Leak:
    """A loopback connection that Mallory has obtained, with which she may send any statement."""

    def __init__(self, connection: Connection, superuser: Connection) -> None:
        self._connection = connection
        self._superuser = superuser

    def send(self, statement: str) -> Any:
        if not statement.startswith("select"):
            self._connection.execute("select pgclarify_dblink.dblink_exec('leak', %s)", [statement])
            return None
        row = self._connection.execute(
            "select * from pgclarify_dblink.dblink('leak', %s) as answer (answer text)", [statement]
        ).fetchone()
        return row and row[0]

    def call(self, request: str, payload: str, signature: bytes | None) -> str | None:
        """The SQLSTATE that a call through the leak ends with."""
        try:
            self.send(
                sql.SQL("select pgclarify_private.answer_loopback({}, {}::jsonb, {}::bytea)::text")
                .format(request, payload, signature)
                .as_string(self._superuser)
            )
        except psycopg.Error as error:
            return error.sqlstate
        return None

    def signature(self, request: str, payload: str) -> bytes:
        """A signature as pgclarify's own functions would make for the leak's present transaction."""
        row = self._superuser.execute(
            "select pgclarify_private.sign(concat_ws(' ', 'loopback', %s::text, %s::text, %s::jsonb))",
            [self.send("select pgclarify_private.loopback_challenge()"), request, payload],
        ).fetchone()
        assert row is not None
        return bytes(row[0])


@pytest.fixture
def mallory(make_role: MakeRole) -> str:
    """A pgclarify_user."""
    return make_role("pgclarify_user", name="mallory")


def runs(connection: Connection) -> list[Any]:
    return connection.execute("select requested_by, status from pgclarify.run order by run_id").fetchall()


@pytest.fixture
def open_leak(connection: Connection, database: str, mallory: str) -> Iterator[Callable[[], Leak]]:
    """Leaves a named connection of role pgclarify_loopback in a session that then becomes Mallory's."""
    opened: list[Connection] = []
    address = psycopg.conninfo.conninfo_to_dict(database)

    def open_one() -> Leak:
        session = psycopg.connect(database, autocommit=True)
        opened.append(session)
        session.execute(
            "select pgclarify_dblink.dblink_connect_u('leak', format("
            "'user=pgclarify_loopback dbname=%%s host=%%s port=%%s', current_database(), %s::text, %s::integer))",
            [address["host"], address.get("port", 5432)],
        )
        session.execute(sql.SQL("grant usage on schema pgclarify_dblink to {}").format(sql.Identifier(mallory)))
        session.execute(sql.SQL("set session authorization {}").format(sql.Identifier(mallory)))
        return Leak(session, connection)

    yield open_one
    for session in opened:
        session.close()


@pytest.fixture
def asked(connection: Connection) -> list[Any]:
    """The runs before the attack."""
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    connection.execute("select pgclarify.submit('clarify', 'cars')")
    return runs(connection)


@parametrize_in_one_test("request_", PAYLOADS)
def test_a_leaked_loopback_does_nothing_without_a_signature(
    connection: Connection, asked: list[Any], open_leak: Callable[[], Leak], request_: str
) -> None:
    leak = open_leak()

    assert leak.send("select current_user") == "pgclarify_loopback"
    for signature in (None, b"", b"\0" * 32):
        assert leak.call(request_, PAYLOADS[request_], signature) == INSUFFICIENT_PRIVILEGE
    assert runs(connection) == asked


@parametrize_in_one_test("request_", PAYLOADS)
def test_a_signature_is_good_once_and_for_one_thing(
    connection: Connection,
    asked: list[Any],
    open_leak: Callable[[], Leak],
    connect: Connect,
    make_role: MakeRole,
    request_: str,
) -> None:
    ManualWorker(connect(make_role("pgclarify_worker")))
    leak, other_leak = open_leak(), open_leak()
    payload = PAYLOADS[request_]

    leak.send("begin")
    good = leak.signature(request_, payload)
    assert leak.call(request_, payload, good) is None
    leak.send("rollback")

    # Not in another transaction.
    assert leak.call(request_, payload, good) == INSUFFICIENT_PRIVILEGE
    leak.send("begin")
    assert leak.call(request_, payload, good) == INSUFFICIENT_PRIVILEGE
    leak.send("rollback")
    # Not in another session.
    leak.send("begin")
    other_leak.send("begin")
    assert other_leak.call(request_, payload, leak.signature(request_, payload)) == INSUFFICIENT_PRIVILEGE
    other_leak.send("rollback")
    # Not for another payload, and not for another request.
    assert leak.call(request_, "[2]", leak.signature(request_, payload)) == INSUFFICIENT_PRIVILEGE
    leak.send("rollback")
    for another in PAYLOADS.keys() - {request_}:
        leak.send("begin")
        assert leak.call(another, payload, leak.signature(request_, payload)) == INSUFFICIENT_PRIVILEGE
        leak.send("rollback")
    assert runs(connection) == asked


def test_a_role_of_the_name_with_another_oid_is_not_the_one_that_asks(
    connection: Connection, asked: list[Any], open_leak: Callable[[], Leak], connect: Connect, make_role: MakeRole
) -> None:
    """It was dropped, and another one was created, between the call and its second connection."""
    ManualWorker(connect(make_role("pgclarify_worker")))
    leak = open_leak()
    stale = PAYLOADS["enter"].replace('"10"', '"11"')

    leak.send("begin")
    assert leak.call("enter", stale, leak.signature("enter", stale)) == "PC004"
    leak.send("rollback")
    assert runs(connection) == asked


def test_a_callers_proof_is_no_signature(
    asked: list[Any], open_leak: Callable[[], Leak], connect: Connect, mallory: str
) -> None:
    leak = open_leak()
    session = connect(mallory)
    with session.transaction():
        row = session.execute("select proof from pgclarify_private.caller").fetchone()
        assert row is not None

        assert leak.call("cancel", "[1]", row[0]) == INSUFFICIENT_PRIVILEGE


def test_none_leaks(connection: Connection, asked: list[Any], connect: Connect, make_role: MakeRole) -> None:
    """After any end of a call, its session has no open connection."""
    witness = connect()
    clarify = "select * from pgclarify.clarify('rentals', timeout => '0.05s')"

    assert sqlstate_of(connection, clarify) == NO_WORKER
    ManualWorker(connect(make_role("pgclarify_worker")))
    assert sqlstate_of(connection, clarify) == TIMED_OUT
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(sqlstate_of, connection, clarify.replace("0.05s", "10min"))
        # Interrupted after its run is entered.
        until(lambda: len(runs(witness)) == 3 or waiting.done())
        witness.execute("select pg_cancel_backend(%s::integer)", [connection.info.backend_pid])
        assert waiting.result() == CANCELED
    assert sqlstate_of(connection, "set transaction isolation level repeatable read; " + clarify) == TIMED_OUT

    assert connection.execute("select pgclarify_dblink.dblink_get_connections()").fetchone() == (None,)
    # The run of the interrupted call was cancelled; the others continue.
    assert [status for _, status in runs(connection)] == ["queued", "queued", "cancelled", "queued"]


def test_dblink_is_out_of_reach(connect: Connect, make_role: MakeRole) -> None:
    user = connect(make_role("pgclarify_user", "pgclarify_worker"))

    for attempt in (
        "select pgclarify_dblink.dblink_connect('a', 'dbname=postgres')",
        "select pgclarify_dblink.dblink_connect_u('a', 'dbname=postgres')",
        "select pgclarify_dblink.dblink_get_connections()",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            user.execute(attempt.encode())


def test_the_loopbacks_login_is_limited(connection: psycopg.Connection[Any]) -> None:
    assert connection.execute(
        "select rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolconnlimit > 0 from pg_roles"
        " where rolname = 'pgclarify_loopback'"
    ).fetchone() == (False, False, False, False, True)
    assert connection.execute(
        "select count(*) from pg_auth_members where member = 'pgclarify_loopback'::regrole"
    ).fetchone() == (0,)
