"""The client whose calls are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from pgclarify.client import dialogue, documents, operations, runs, watching
from pgclarify.client.opening import (
    CONNECTION_OPTIONS,
    connecting,
    database_url,
    is_in_transaction,
    log_warning,
    statement_of,
    without_url,
)
from pgclarify.client.scripts import Call, Pause, Rows, Script, Session, Statement, Stream, described
from pgclarify.database.binary import reading_binary
from pgclarify.database.errors import CLIENT_REFUSALS, translated

P = ParamSpec("P")
T = TypeVar("T")


def _call(
    script: Callable[Concatenate[Session, P], Script[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """Make a method that executes a script and returns its result."""

    async def call(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with closing(script(client, *args, **kwargs)) as steps:
            try:
                step = next(steps)
                while True:
                    step = steps.send(await client._take(step))
            except StopIteration as end:
                returned: T = end.value
                return returned

    return described(call, script)


def _iteration(
    script: Callable[Concatenate[Session, P], Stream[T]],
) -> Callable[Concatenate[AsyncClient, P], AsyncIterator[T]]:
    """Make a method that executes a script while the caller iterates over what it yields."""

    async def call(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        with closing(script(client, *args, **kwargs)) as steps:
            try:
                step = next(steps)
                while True:
                    if isinstance(step, Statement | Call | Pause):
                        step = steps.send(await client._take(step))
                    else:
                        yield step
                        step = next(steps)
            except StopIteration:
                return

    return described(call, script, "AsyncIterator[{}]")


class AsyncClient(Session):
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

    clarify = _call(operations.clarify)
    clarify_many = _call(operations.clarify_many)
    detect_ambiguity = _call(dialogue.detect_ambiguity)
    rewrite = _call(dialogue.rewrite)
    clarifying_questions = _call(dialogue.clarifying_questions)
    reply = _call(dialogue.reply)
    list_answers = _call(operations.list_answers)
    investigate = _call(operations.investigate)
    search = _call(operations.search)
    neighbors = _call(operations.neighbors)
    consolidate = _call(operations.consolidate)
    estimate = _call(operations.estimate)
    submit = _call(runs.submit)
    submit_many = _call(runs.submit_many)
    wait = _call(runs.wait)
    cancel = _call(runs.cancel)
    result = _call(runs.result)
    verdicts = _iteration(watching.verdicts)
    explain = _call(runs.explain)
    closest_passages = _call(operations.closest_passages)
    cited_passages = _call(operations.cited_passages)
    create_corpus = _call(documents.create_corpus)
    alter_corpus = _call(documents.alter_corpus)
    drop_corpus = _call(documents.drop_corpus)
    add_documents = _call(documents.add_documents)
    remove_document = _call(documents.remove_document)
    erase_document = _call(documents.erase_document)
    attach_table = _call(documents.attach_table)
    detach_table = _call(documents.detach_table)
    resync = _call(documents.resync)
    grant_access = _call(documents.grant_access)
    revoke_access = _call(documents.revoke_access)
    distribute = _call(documents.distribute)
    corpora = _call(documents.corpora)
    corpus_status = _call(documents.corpus_status)
    wait_until_searchable = _call(documents.wait_until_searchable)

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
        with connecting():
            connection = await psycopg.AsyncConnection.connect(database_url(self._url), **CONNECTION_OPTIONS)
        return AsyncClient(connection, corpus=self._corpus, owns_connection=True)


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
