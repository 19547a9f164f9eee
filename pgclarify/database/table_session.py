"""A connection for statements that read attached tables, and may execute code of the tables' owners."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

from pgclarify.database.errors import translated
from pgclarify.database.pool import Pool, fetch
from pgclarify.database.queries import queries, statement
from pgclarify.errors import DatabaseBusy

# A batch takes some seconds at most. An owner's code may wait forever, and may ignore a cancel.
_MOST_SECONDS = 90.0


class TableSession:
    """A session for nothing else.

    Code that a statement executes needs no rights to replace the session's prepared statements, or to take or release
    its locks. So nothing is prepared here, and each statement starts in a new or a reset session.

    Args:
        dsn: Connection string of the database.
        pool: The worker's connections; one of them terminates the session.
        most_seconds: Time limit of a statement; then the session is terminated.
    """

    def __init__(self, dsn: str, pool: Pool, *, most_seconds: float = _MOST_SECONDS) -> None:
        self._dsn = dsn
        self._pool = pool
        self._most_seconds = most_seconds
        self._connection: psycopg.AsyncConnection[DictRow] | None = None

    async def fetch(self, name: str, /, **parameters: Any) -> list[DictRow]:  # noqa: ANN401
        """Call an internal function in its own transaction and return its rows.

        Raises:
            ServerUnavailable: If there is no connection.
            DatabaseBusy: If a later attempt may succeed, or it took too long.
            DatabaseError: If the server refuses.
        """
        with translated():
            try:
                connection = await self._open()
                reading = asyncio.create_task(_fetch(connection, name, parameters))
                try:
                    done, _ = await asyncio.wait({reading}, timeout=self._most_seconds)
                except asyncio.CancelledError:
                    reading.cancel()
                    raise
                if not done:
                    await self._end(connection, reading)
                return await reading
            except psycopg.Error:
                await self.close()
                raise

    async def close(self) -> None:
        """Close the connection; the next statement opens another."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _open(self) -> psycopg.AsyncConnection[DictRow]:
        if self._connection is None:
            self._connection = await psycopg.AsyncConnection.connect(
                self._dsn,
                autocommit=True,
                prepare_threshold=None,
                row_factory=dict_row,
                application_name="pgclarify worker",
            )
        else:
            await self._connection.execute(queries["forget_session"])
        await self._connection.execute(queries["pin_session"])
        await self._connection.execute(queries["prepare_session"])
        return self._connection

    async def _end(self, connection: psycopg.AsyncConnection[DictRow], reading: asyncio.Task[list[DictRow]]) -> None:
        await fetch(self._pool, "end_session", process_id=connection.info.backend_pid)
        await asyncio.wait({reading})
        if reading.exception() is not None:
            await self.close()
            raise DatabaseBusy(
                "reading an attached table took too long",
                detail=f"It was ended after {self._most_seconds:g} seconds.",
                hint="Check which functions its indexes and constraints call.",
            )


async def _fetch(connection: psycopg.AsyncConnection[DictRow], name: str, parameters: dict[str, Any]) -> list[DictRow]:
    cursor = await connection.execute(statement(name, parameters), parameters)
    return await cursor.fetchall()
