"""How a process keeps its worker entry alive, and how it learns that the entry has expired."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from pgclarify.database import presence
from pgclarify.database.connections import with_keepalives
from pgclarify.database.presence import Presence
from pgclarify.errors import ServerUnavailable
from tests.integration.manual_worker import MakeWorker
from tests.integration.network_proxy import network
from tests.sessions import Connection, scalar
from tests.workers import until

ENTRY: dict[str, Any] = {"version": "0", "provider": "openai", "model": "a-model", "prompt_version": "v1"}
SHORT = timedelta(seconds=1)
ALIVE = "select is_alive from pgclarify.worker_status where worker_id = %s"


async def test_a_busy_event_loop_sends_heartbeats_all_the_same(database: str, connection: Connection) -> None:
    seen = "select seen_at from pgclarify_private.worker"
    async with Presence.enter(database, **ENTRY, lease=SHORT):
        first = scalar(connection, seen)
        # This blocks the loop.
        until(lambda: scalar(connection, seen) > first)


async def test_an_event_loop_that_is_stuck_sends_none(
    database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "_LOOP_PATIENCE_SECONDS", 0.5)
    async with Presence.enter(database, **ENTRY, lease=SHORT) as entered:
        until(lambda: not scalar(connection, ALIVE, entered.worker_id))
        # The loop continues. There was no other worker to take anything over.
        await asyncio.to_thread(until, lambda: scalar(connection, ALIVE, entered.worker_id))
        assert not entered.lost.done()


async def test_a_worker_records_its_loaded_models_at_once(database: str, connection: Connection) -> None:
    async with Presence.enter(database, **ENTRY, lease=timedelta(hours=1)) as entered:
        entered.report_loaded(["small"])
        until(lambda: scalar(connection, "select embedding_models from pgclarify_private.worker") == ["small"])
        assert scalar(connection, ALIVE, entered.worker_id)
    until(lambda: not scalar(connection, ALIVE, entered.worker_id))


def silence(connection: Connection, worker_id: int) -> None:
    connection.execute(
        "update pgclarify_private.worker set seen_at = seen_at - lease where worker_id = %s", [worker_id]
    )


def terminate(connection: Connection, worker_id: int) -> None:
    connection.execute(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid::bigint = %s"
        # Workers of other databases have the same numbers.
        " and database = (select oid from pg_database where datname = current_database())",
        [worker_id],
    )


@pytest.mark.parametrize("end", [silence, terminate])
async def test_a_worker_learns_that_its_entry_has_expired(
    database: str, connection: Connection, make_worker: MakeWorker, end: Callable[[Connection, int], None]
) -> None:
    async with Presence.enter(database, **ENTRY, lease=timedelta(seconds=4)) as entered:
        make_worker()
        end(connection, entered.worker_id)
        with pytest.raises(ServerUnavailable):
            await entered.lost
    until(lambda: not scalar(connection, ALIVE, entered.worker_id))


async def test_a_worker_learns_that_the_network_is_gone(database: str) -> None:
    with network(database) as (way, dsn):
        async with Presence.enter(dsn, **ENTRY, lease=SHORT) as entered:
            way.part()
            with pytest.raises(ServerUnavailable):
                await entered.lost


def test_keepalives_of_a_connection_string_stay() -> None:
    given = conninfo_to_dict(with_keepalives("postgresql://me@db.example/app?keepalives_idle=77&connect_timeout=3"))
    assert given["host"] == "db.example"
    assert given["keepalives_idle"] == "77"
    assert given["connect_timeout"] == "3"
    assert given["tcp_user_timeout"] == "20000"
