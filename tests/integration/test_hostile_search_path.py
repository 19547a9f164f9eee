"""The owner of a database chooses its search_path, and cannot run code as a worker or as the role that installs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from pgclarify.database.connections import Connections
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.sessions import require_own_sessions
from pgclarify.database.table_session import TableSession
from pgclarify.install.installer import install
from pgclarify.worker import serving
from pgclarify.worker.run_queue import listening_to
from tests.sessions import Connection

# They take the place of PostgreSQL's.
FUNCTIONS = (
    "set_config(text, text, boolean)",
    "current_setting(text)",
    "pg_backend_pid()",
    "current_schema()",
    "pg_try_advisory_lock(integer, integer)",
    "quote_ident(text)",
    "equal(text, text)",
    "equal(name, name)",
)


@asynccontextmanager
async def checks(dsn: str) -> AsyncIterator[None]:
    require_own_sessions(dsn)
    serving._check(dsn)
    yield


@asynccontextmanager
async def tables(dsn: str) -> AsyncIterator[None]:
    async with open_pool(dsn) as pool:
        session = TableSession(dsn, pool)
        # The second one begins anew in the same session.
        for _ in range(2):
            await session.fetch("get_session")
        await session.close()
        yield


OPENERS: dict[str, Callable[[str], AbstractAsyncContextManager[object]]] = {
    "checks": checks,
    "pool": lambda dsn: open_pool(dsn, connections=Connections()),
    "queue": lambda dsn: listening_to(dsn, Connections())(),
    "tables": tables,
    "presence": lambda dsn: Presence.enter(dsn, version="1", provider="p", model="m", prompt_version="v"),
}


@pytest.fixture
def hostile(database: str, connection: Connection) -> str:
    """A database in which foreign functions and operators come before PostgreSQL's. They raise errors."""
    connection.execute("create schema evil; grant usage on schema evil to public")
    for signature in FUNCTIONS:
        connection.execute(
            f"create function evil.{signature} returns boolean language plpgsql"
            " as $$ begin raise 'foreign code runs'; end $$".encode()
        )
    for kind in ("text", "name"):
        operator = f"create operator evil.= (leftarg = {kind}, rightarg = {kind}, function = evil.equal)"
        connection.execute(operator.encode())
    connection.execute(f'alter database "{connection.info.dbname}" set search_path = evil, pg_catalog'.encode())
    return database


@pytest.mark.parametrize("opener", OPENERS.values(), ids=OPENERS.keys())
async def test_a_connection_of_a_worker_runs_no_foreign_code(
    hostile: str, opener: Callable[[str], AbstractAsyncContextManager[object]]
) -> None:
    async with opener(hostile):
        pass


def test_an_install_runs_no_foreign_code(hostile: str) -> None:
    install(hostile)
