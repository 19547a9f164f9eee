"""A session may have the plans of its statements printed, with values of parameters. They hold nothing of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Event
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker
from tests.sessions import Connection, MakeRole, scalar
from tests.workers import as_role

PRINTING = """
    set client_min_messages = log; set plan_cache_mode = force_custom_plan;
    set debug_pretty_print = off; set debug_print_parse = on; set debug_print_rewritten = on; set debug_print_plan = on;
"""
HIDDEN = b"saluki"
FUNCTIONS = """
    select oid::regprocedure::text, proname, proargtypes::oid[]::regtype[]::text[]
    from pg_proc
    where pronamespace = 'pgclarify'::regnamespace and prokind = 'f' and proname !~ 'drop|remove|erase|cancel'
    order by 1
"""


class Listener:
    """Receives what a session prints."""

    def __init__(self, session: Connection) -> None:
        self._session, self._messages = session, list[str]()
        session.add_notice_handler(
            lambda notice: self._messages.append(f"{notice.message_primary} {notice.message_detail}")
        )
        session.execute(PRINTING)

    def printed(self, statement: str | sql.Composed, *parameters: Any) -> bytes:
        """Everything that a statement printed, with the bytes of constants, which are printed as numbers."""
        self._messages.clear()
        # The first call of a function may be planned without the values.
        for _ in range(2):
            with suppress(psycopg.Error):
                self._session.execute(statement, parameters)
        text = re.sub(r"\s+", " ", " ".join(self._messages))
        assert "PLANNEDSTMT" in text
        constants = re.findall(r"\[ ((?:-?\d+ )+)\]", text)
        return b" ".join([text.encode(), *(bytes(int(each) % 256 for each in found.split()) for found in constants)])


@pytest.fixture
def listener(database: str, connection: Connection, make_role: MakeRole, make_worker: MakeWorker) -> Iterator[Listener]:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    # Calls wait only while a worker is alive.
    make_worker()
    connection.execute("select pgclarify.add_document('insurance', 'd', 'A saluki runs.', readers => '{nobody}')")
    with closing(psycopg.connect(as_role(database, make_role("pgclarify_user")), autocommit=True)) as session:
        is_over = Event()
        with ThreadPoolExecutor(1) as pool:
            ending = pool.submit(end_waits, database, session.info.backend_pid, is_over)
            try:
                yield Listener(session)
            finally:
                is_over.set()
        ending.result()


def end_waits(database: str, process_id: int, is_over: Event) -> None:
    """Cancel statements of a session that have planned what they need, and sleep until a run is over."""
    sleeps = "pid = %s and wait_event = 'PgSleep' and clock_timestamp() > query_start + interval '0.2 s'"
    cancel = f"select pg_cancel_backend(pid) from pg_stat_activity where {sleeps}"  # noqa: S608 - a constant
    with closing(psycopg.connect(database, autocommit=True)) as watcher:
        while not is_over.wait(0.05):
            watcher.execute(cancel.encode(), [process_id])


def test_constants_of_a_plan_are_found(listener: Listener) -> None:
    assert HIDDEN in listener.printed("select 'a saluki'::text")


def test_they_do_not_hold_the_password_of_the_loopback(listener: Listener, connection: Connection) -> None:
    password = str(scalar(connection, "select password from pgclarify_private.loopback")).encode()
    printed = listener.printed("select pgclarify.search('cars ' || clock_timestamp(), 'insurance')")
    assert password not in printed


def test_they_do_not_hold_texts_of_others_or_our_key(listener: Listener, connection: Connection) -> None:
    run_id = scalar(connection, "select pgclarify.submit('clarify', 'What about a saluki?', 'insurance')")
    (inner,) = connection.execute("select inner_pad from pgclarify_private.caller_key").fetchone() or (b"",)
    given = {
        "bigint": str(run_id),
        "bigint[]": f"{{{run_id}}}",
        "text": "insurance",
        "text[]": "{cars}",
        "jsonb": "{}",
        "integer": "1",
        "interval": "1 s",
        "name": "nobody",
        "name[]": "{nobody}",
        "regclass": "pg_class",
    }
    telling = []
    for signature, name, kinds in connection.execute(FUNCTIONS).fetchall():
        arguments = [sql.SQL("{}::{}").format(sql.Literal(given.get(kind)), sql.SQL(kind)) for kind in kinds]
        printed = listener.printed(
            sql.SQL("select * from pgclarify.{}({})").format(sql.Identifier(name), sql.SQL(", ").join(arguments))
        )
        telling += [(signature, each) for each in (HIDDEN, inner[:16]) if each in printed]
    assert telling == []
