"""The client whose calls are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from pgclarify.client import (
    asking,
    conversing,
    detecting,
    documents,
    estimating,
    explaining,
    investigating,
    listing,
    submitting,
    watching,
)
from pgclarify.client.opening import CONNECTION_OPTIONS, connecting, database_url, is_in_transaction, log_warning
from pgclarify.client.refusals import REFUSALS
from pgclarify.client.scripts import Pause, Rows, Script, Session, Statement, Stream, described
from pgclarify.database.errors import translated
from pgclarify.database.queries import queries

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
                    if isinstance(step, Statement | Pause):
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
        self._connection = connection
        self._owns_connection = owns_connection

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection, if it is the client's own."""
        if self._owns_connection:
            await self._connection.close()

    clarify = _call(asking.clarify)
    clarify_many = _call(asking.clarify_many)
    submit = _call(submitting.submit)
    submit_many = _call(submitting.submit_many)
    wait = _call(asking.wait)
    verdicts = _iteration(watching.verdicts)
    result = _call(submitting.result)
    cancel = _call(asking.cancel)
    estimate = _call(estimating.estimate)
    explain = _call(explaining.explain)
    consolidate = _call(asking.consolidate)
    search = _call(asking.search)
    closest_passages = _call(asking.closest_passages)
    investigate = _call(investigating.investigate)
    steps = _iteration(watching.steps)
    detect_ambiguity = _call(detecting.detect_ambiguity)
    rewrite = _call(detecting.rewrite)
    route = _call(detecting.route)
    clarifying_questions = _call(conversing.clarifying_questions)
    reply = _call(conversing.reply)
    list_answers = _call(listing.list_answers)
    create_corpus = _call(documents.create_corpus)
    drop_corpus = _call(documents.drop_corpus)
    add_documents = _call(documents.add_documents)
    remove_document = _call(documents.remove_document)
    erase_document = _call(documents.erase_document)
    corpora = _call(documents.corpora)
    corpus_status = _call(documents.corpus_status)
    wait_until_searchable = _call(documents.wait_until_searchable)

    @property
    def is_in_transaction(self) -> bool:
        """Tell whether the connection has an open transaction."""
        return is_in_transaction(self._connection)

    async def _take(self, step: Statement | Pause) -> Rows:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return ()
        with translated(REFUSALS):
            async with self._borrowed() as connection:
                connection.add_notice_handler(log_warning)
                try:
                    async with connection.cursor(row_factory=dict_row) as cursor:
                        await cursor.execute(queries[step.name], step.parameters)
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
