"""The connection pool of a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from pgclarify.database.connections import Connections, with_keepalives
from pgclarify.database.errors import translated
from pgclarify.database.queries import queries, statement
from pgclarify.database.sessions import require_own_sessions
from pgclarify.errors import DatabaseBusy

Pool: TypeAlias = AsyncConnectionPool[psycopg.AsyncConnection[DictRow]]
# Statements are short and writes are batched, so a few connections serve many runs, also of a far server.
MOST_CONNECTIONS = 12
# Serialization failure and deadlock: the statement had no effect, and may simply be repeated.
_LOST_RACES = frozenset({"40001", "40P01"})
_MOST_ATTEMPTS = 5


@asynccontextmanager
async def open_pool(
    dsn: str, *, application_name: str = "pgclarify worker", connections: Connections | None = None
) -> AsyncIterator[Pool]:
    """Open a pool of autocommit connections whose rows are dictionaries.

    Args:
        dsn: Connection string of the database.
        application_name: Their name in pg_stat_activity.
        connections: Registers the connections of a worker, so that they can be closed from outside; None for a
            command, whose statements may take any time.

    Raises:
        ServerUnavailable: If there is no connection within 10 seconds.
        ConfigurationError: If a pooler shares sessions between transactions.
    """
    dsn = with_keepalives(dsn)
    kept = connections or Connections()

    async def configure(connection: psycopg.AsyncConnection[Any]) -> None:
        await kept.prepare(connection)
        if connections is None:
            await connection.execute(queries["lift_limit"])
        await connection.execute(queries["find_vector_types"])
        await register_vector_async(connection)

    # Behind a pooler, other clients would get sessions with our settings.
    await asyncio.to_thread(require_own_sessions, dsn)
    pool: Pool = AsyncConnectionPool(
        dsn,
        min_size=1,
        max_size=MOST_CONNECTIONS,
        timeout=30,
        open=False,
        kwargs={"autocommit": True, "row_factory": dict_row, "application_name": application_name},
        configure=configure,
    )
    with translated():
        await pool.open(wait=True, timeout=10)
    try:
        yield pool
    finally:
        await pool.close()


async def fetch(pool: Pool, name: str, /, **parameters: Any) -> list[DictRow]:  # noqa: ANN401
    """Run a statement in its own transaction and return its rows; repeat it after a serialization failure.

    In a worker it may take ten minutes: see prepare_session.

    Args:
        pool: The pool.
        name: The name of the statement or of an internal function.
        parameters: Its parameters.

    Raises:
        RunLost: If the run is no longer this worker's.
        ServerUnavailable: If there is no connection.
        DatabaseBusy: If a later attempt may succeed.
        DatabaseError: If the server refuses.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            with translated():
                async with pool.connection() as connection:
                    cursor = await connection.execute(statement(name, parameters), parameters)
                    return await cursor.fetchall()
        except DatabaseBusy as busy:
            if busy.sqlstate not in _LOST_RACES or attempt == _MOST_ATTEMPTS:
                raise


async def fetch_value(pool: Pool, function: str, /, **parameters: Any) -> Any:  # noqa: ANN401
    """Call an internal function as `fetch` does, and return its only value."""
    (row,) = await fetch(pool, function, **parameters)
    return row["result"]


async def fetch_within(pool: Pool, limit: str, name: str, /, **parameters: Any) -> list[DictRow]:  # noqa: ANN401
    """Run a statement with a time limit in its own transaction, and return its rows.

    Args:
        pool: The pool.
        limit: As for setting statement_timeout, such as 10s.
        name: As in `fetch`.
        parameters: Its parameters.

    Raises:
        RunLost: If the run is no longer this worker's.
        ServerUnavailable: If there is no connection.
        DatabaseBusy: If it took longer, or a later attempt may succeed.
        DatabaseError: If the server refuses.
    """
    with translated():
        async with pool.connection() as connection, connection.transaction():
            await connection.execute(queries["limit_statements"], {"limit": limit})
            cursor = await connection.execute(statement(name, parameters), parameters)
            return await cursor.fetchall()
