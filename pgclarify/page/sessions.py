"""The database as the person on the page sees it: each transaction has the role of one person."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import psycopg
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from pgclarify.client.awaiting import AsyncClient
from pgclarify.client.opening import CONNECTION_OPTIONS
from pgclarify.database.binary import reading_binary
from pgclarify.database.errors import CLIENT_REFUSALS, translated
from pgclarify.database.queries import queries
from pgclarify.errors import ConfigurationError, PermissionDenied

Row: TypeAlias = Mapping[str, Any]
# People wait for workers without a connection, so a few serve many.
_MOST_CONNECTIONS = 8


class Session:
    """One transaction of one person.

    Args:
        connection: A connection whose transaction has the role of the person.
    """

    def __init__(self, connection: psycopg.AsyncConnection[DictRow]) -> None:
        self.client = AsyncClient(connection)
        self._connection = connection

    async def rows(self, name: str, **parameters: object) -> list[DictRow]:
        """Return the rows of a named statement."""
        async with reading_binary(self._connection.cursor()) as cursor:
            await cursor.execute(queries[name], parameters)
            return await cursor.fetchall()

    async def row(self, name: str, **parameters: object) -> DictRow | None:
        """Return the first row of a named statement; None without one."""
        return next(iter(await self.rows(name, **parameters)), None)


@asynccontextmanager
async def _begun(pool: AsyncConnectionPool[psycopg.AsyncConnection[DictRow]]) -> AsyncIterator[Session]:
    """Open a transaction of the login."""
    async with pool.connection() as connection, connection.transaction():
        session = Session(connection)
        await session.rows("page_begin")
        yield session


class Sessions:
    """Opens transactions for people.

    Args:
        pool: Connections of the login.
        takes_roles: Whether each person has a role, which the login was granted; else all ask as the login.
    """

    def __init__(self, pool: AsyncConnectionPool[psycopg.AsyncConnection[DictRow]], *, takes_roles: bool) -> None:
        self._pool = pool
        self._takes_roles = takes_roles

    @asynccontextmanager
    async def reading(self, role: str | None) -> AsyncIterator[Session]:
        """Open a transaction in which nothing can be stored.

        Args:
            role: The role of the person; None without roles.

        Raises:
            PermissionDenied: If the login may not become this role, or it has rights that no person may have here.
            ServerUnavailable: If there is no connection.
        """
        async with self.writing(role) as session:
            await session.rows("page_begin_reading")
            yield session

    @asynccontextmanager
    async def writing(self, role: str | None) -> AsyncIterator[Session]:
        """Open a transaction that can store something. Arguments and errors as of `reading`."""
        with translated(CLIENT_REFUSALS):
            async with _begun(self._pool) as session:
                if (role is not None) is not self._takes_roles:
                    # No fault of ours may let a person ask as the login.
                    raise PermissionDenied("it is not known who asks")
                if role is not None and await session.row("page_act_as", role=role) is None:
                    raise PermissionDenied(
                        "this role cannot ask here",
                        detail="It is none, was not granted to the login of the page, or has the rights of an owner.",
                        hint="Run: grant THE_ROLE to THE_LOGIN with inherit false, set true. Superusers, roles with"
                        " BYPASSRLS and owners are always refused.",
                    )
                yield session


@asynccontextmanager
async def open_sessions(dsn: str, *, takes_roles: bool) -> AsyncIterator[tuple[Sessions, Row]]:
    """Connect, and return sessions and what is known of the login.

    Args:
        dsn: The connection string.
        takes_roles: As in Sessions.

    Raises:
        ServerUnavailable: If there is no connection within 10 seconds.
        ConfigurationError: If people have roles, and the login is one that none of them may have.
    """
    pool: AsyncConnectionPool[psycopg.AsyncConnection[DictRow]] = AsyncConnectionPool(
        dsn,
        min_size=1,
        max_size=_MOST_CONNECTIONS,
        timeout=20,
        open=False,
        kwargs={**CONNECTION_OPTIONS, "fallback_application_name": "pgclarify ui"},
        check=AsyncConnectionPool.check_connection,
    )
    with translated(CLIENT_REFUSALS):
        await pool.open(wait=True, timeout=10)
    try:
        with translated(CLIENT_REFUSALS):
            async with _begun(pool) as session:
                login = await session.row("page_describe_login")
        assert login is not None  # noqa: S101 - the statement has one row
        if takes_roles and login["is_powerful"]:
            raise ConfigurationError(
                "the login of the page has too many rights to act for others",
                detail=f"It is {login['login']}, which is a superuser or an owner, or has BYPASSRLS.",
                hint="Use its own: create role page login; grant ann to page with inherit false, set true.",
            )
        yield Sessions(pool, takes_roles=takes_roles), login
    finally:
        await pool.close()
