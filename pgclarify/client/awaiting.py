"""The client whose calls are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Self

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from pgclarify.client import documents, passages, runs, watching
from pgclarify.client.executing import async_iterating_method, async_method
from pgclarify.client.methods import AsyncMethods
from pgclarify.client.opening import (
    CONNECTION_OPTIONS,
    connecting,
    database_url,
    is_in_transaction,
    log_warning,
    statement_of,
    without_url,
)
from pgclarify.client.scripts import Call, Pause, Rows, Statement
from pgclarify.database.binary import reading_binary
from pgclarify.database.errors import CLIENT_REFUSALS, translated


class AsyncClient(AsyncMethods):
    """Asks pgclarify from asyncio: like `Client`, but calls are awaited, and `verdicts` is for `async for`.

    With one connection, calls wait for each other; with a pool, they run at the same time.

        async with pgclarify.connect_async() as client:
            readings = await client.clarify("rental cars", corpus="insurance")

    Args:
        connection: A connection or a pool.
        corpus: Name of the corpus for calls that name none; None lets the server choose.
        owns_connection: Whether close closes the connection too.
    """

    def __init__(
        self,
        connection: psycopg.AsyncConnection[Any] | AsyncConnectionPool[Any],
        *,
        corpus: str | None = None,
        owns_connection: bool = False,
    ) -> None:
        super().__init__(corpus)
        self._connection = without_url(connection)
        self._owns_connection = owns_connection

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection, if it is the client's own."""
        if self._owns_connection:
            await self._connection.close()

    neighbors = async_method(passages.neighbors)
    submit = async_method(runs.submit)
    submit_many = async_method(runs.submit_many)
    wait = async_method(runs.wait)
    cancel = async_method(runs.cancel)
    result = async_method(runs.result)
    verdicts = async_iterating_method(watching.verdicts)
    explain = async_method(runs.explain)
    give_feedback = async_method(runs.give_feedback)
    closest_passages = async_method(passages.closest_passages)
    create_corpus = async_method(documents.create_corpus)
    alter_corpus = async_method(documents.alter_corpus)
    drop_corpus = async_method(documents.drop_corpus)
    add_documents = async_method(documents.add_documents)
    remove_document = async_method(documents.remove_document)
    erase_document = async_method(documents.erase_document)
    attach_table = async_method(documents.attach_table)
    detach_table = async_method(documents.detach_table)
    resync = async_method(documents.resync)
    grant_access = async_method(documents.grant_access)
    revoke_access = async_method(documents.revoke_access)
    distribute = async_method(documents.distribute)
    corpora = async_method(documents.corpora)
    corpus_status = async_method(documents.corpus_status)
    wait_until_searchable = async_method(documents.wait_until_searchable)

    @property
    def _is_in_transaction(self) -> bool:
        """Tell whether the connection has an open transaction."""
        return is_in_transaction(self._connection)

    async def _take(self, step: Statement | Call | Pause) -> Rows:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return ()
        with translated(CLIENT_REFUSALS):
            async with self._borrowed() as connection:
                connection.add_notice_handler(log_warning)
                try:
                    async with reading_binary(psycopg.AsyncCursor(connection, row_factory=dict_row)) as cursor:
                        await cursor.execute(*statement_of(step))
                        return await cursor.fetchall()
                finally:
                    connection.remove_notice_handler(log_warning)

    def _borrowed(self) -> AbstractAsyncContextManager[psycopg.AsyncConnection[Any]]:
        if isinstance(self._connection, AsyncConnectionPool):
            return self._connection.connection()
        return nullcontext(self._connection)


class Connecting:
    """A client that is not connected yet: `await` returns it; `async with` also closes it at the end of the block."""

    def __init__(self, url: str | None, corpus: str | None) -> None:
        self._url = url
        self._corpus = corpus

    def __await__(self) -> Generator[Any, None, AsyncClient]:
        return self._connect().__await__()

    async def __aenter__(self) -> AsyncClient:
        self._client = await self
        return self._client

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def _connect(self) -> AsyncClient:
        return AsyncClient(await open_connection(self._url), corpus=self._corpus, owns_connection=True)


async def open_connection(url: str | None) -> psycopg.AsyncConnection[Any]:
    """Open a connection as connect_async does; url: as there."""
    with connecting():
        return await psycopg.AsyncConnection.connect(database_url(url), **CONNECTION_OPTIONS)


def connect_async(url: str | None = None, *, corpus: str | None = None) -> Connecting:
    """Connect to a database that has pgclarify, from asyncio; every call is committed by itself.

        async with pgclarify.connect_async() as client: ...
        client = await pgclarify.connect_async()

    Args:
        url: As of connect.
        corpus: As of connect.

    Returns:
        An object to await or to enter with `async with`; both raise what connect raises.
    """
    return Connecting(url, corpus)
