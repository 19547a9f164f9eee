"""PgBouncer in transaction mode: callers can use it; workers cannot, and report that."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

import pgclarify
from pgclarify.database.pool import open_pool
from pgclarify.database.sessions import require_own_sessions
from pgclarify.errors import ConfigurationError
from tests.clients.bouncing import Bouncer, bouncer
from tests.clients.serving import DATABASE, STATEMENT_TIMEOUTS, ClientService
from tests.openai_server import Server
from tests.sessions import scalar
from tests.workers import environment, living_workers, loopbacks, until

__all__ = ["bouncer"]

Connection = psycopg.Connection[Any]
AsyncConnection = psycopg.AsyncConnection[Any]

CLARIFY = "select * from pgclarify.clarify(%s, top_k => 1, timeout => '10min') order by ordinal"
STATUS = "select status from pgclarify.run where question = %s"
SESSIONS = "select count(*) from pg_stat_activity where usename = 'asker'"


def connect(url: str) -> Connection:
    return psycopg.connect(url, autocommit=True, prepare_threshold=None)


async def connect_async(url: str) -> AsyncConnection:
    return await psycopg.AsyncConnection.connect(url, autocommit=True, prepare_threshold=None)


def test_answers_are_the_same(bouncer: Bouncer, asker: Connection, model: Server) -> None:
    with connect(bouncer.url()) as connection, pgclarify.connect(bouncer.url()) as client:
        through = connection.execute(CLARIFY, ["hail"]).fetchall()
        assert through
        for _ in range(8):
            assert [reading.answer for reading in client.clarify("hail", top_k=1)] == [row[4] for row in through]
        assert client.wait([through[0][0]])
    assert asker.execute(CLARIFY, ["hail"]).fetchall() == through


@pytest.mark.parametrize("by", ["cancelling", "statement_timeout"])
def test_a_call_cut_off_cancels_its_run(
    bouncer: Bouncer, superuser: Connection, asker: Connection, model: Server, by: str
) -> None:
    model.latency = 600.0
    question = f"behind the pooler by {by}"

    def cut_off(limit: str) -> None:
        with (
            connect(bouncer.url()) as connection,
            ThreadPoolExecutor(1) as pool,
            connection.transaction(force_rollback=True),
        ):
            connection.execute("select set_config('statement_timeout', %s, true)", [limit])
            call = pool.submit(connection.execute, CLARIFY.encode(), [question])
            if by == "cancelling":
                until(lambda: scalar(asker, STATUS, question) or call.done())
                connection.cancel_safe()
            assert isinstance(call.exception(300), psycopg.errors.QueryCanceled)

    for limit in STATEMENT_TIMEOUTS if by == "statement_timeout" else ["0"]:
        cut_off(limit)
        if scalar(asker, STATUS, question):
            break

    assert scalar(asker, STATUS, question) == "cancelled"
    until(lambda: loopbacks(superuser) == 0)


async def test_two_hundred_callers_over_twenty_sessions(bouncer: Bouncer, superuser: Connection, model: Server) -> None:
    """Twenty callers wait in sessions of the server; the others wait in the pooler for a session."""
    # Long enough that many calls overlap.
    model.latency = 0.2

    async def ask(number: int) -> bool:
        async with await connect_async(bouncer.url()) as connection:
            # Several callers ask the same question, as people do.
            cursor = await connection.execute(CLARIFY, [f"caller {number % 40}"])
            return bool(await cursor.fetchall())

    await asyncio.wait_for(asyncio.gather(*(ask(number) for number in range(200))), 600)

    assert 5 < scalar(superuser, SESSIONS) <= 20 + 1 + 5
    until(lambda: loopbacks(superuser) == 0)


@pytest.mark.parametrize("pool", [DATABASE, "single"])
def test_a_worker_says_that_it_needs_the_server_itself(bouncer: Bouncer, pool: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        require_own_sessions(bouncer.url(pool))
    assert "PGCLARIFY_DATABASE_URL" in (refused.value.hint or "")


def test_the_server_itself_is_what_a_worker_needs(service: ClientService) -> None:
    for url in (service.url(), service.dsn):
        require_own_sessions(url)


async def test_settings_of_a_session_are_not_for_sessions_that_are_shared(bouncer: Bouncer) -> None:
    with pytest.raises(ConfigurationError):
        async with open_pool(bouncer.url()):
            pass
    # In session mode, each connection keeps its session.
    async with open_pool(bouncer.url("sessions")) as pool, pool.connection() as connection:
        assert await (await connection.execute("select 1 as one")).fetchall() == [{"one": 1}]


def test_a_worker_behind_it_ends_and_leaves_nothing(
    service: ClientService, bouncer: Bouncer, superuser: Connection, tmp_path: Path
) -> None:
    # A serving worker has some advisory locks all the time, and others for a moment. Calls of `wait` have left one on
    # each connection of the bouncer that they used.
    locks = """
        select count(*) from pg_locks inner join pg_stat_activity using (pid)
        where locktype = 'advisory' and usename = 'asker'
    """
    before = (living_workers(service.dsn), scalar(superuser, locks))
    ended = subprocess.run(
        [sys.executable, "-m", "pgclarify.cli", "worker"],
        env=environment(bouncer.url(), None),
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=600,
    )
    assert ended.returncode == 1
    assert b"PGCLARIFY_DATABASE_URL" in ended.stderr
    assert (living_workers(service.dsn), scalar(superuser, locks)) == before
