"""The client whose calls block."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from pgclarify.client import documents, passages, runs, watching
from pgclarify.client.executing import iterating_method, method
from pgclarify.client.methods import Methods
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


class Client(Methods):
    """Asks pgclarify. Every call returns when it has its answer, and raises only errors of `pgclarify.errors`.

    `pgclarify.connect` makes a client with its own connection. If you pass a connection, calls are part of its
    transaction. If you pass a pool, each call takes a connection from it, so that threads do not wait for each other.

        with pgclarify.connect() as client:
            for reading in client.clarify("rental cars", corpus="insurance"):
                print(reading.ordinal, reading.interpretation, reading.answer, reading.document_ids)

    Methods raise InputError if an argument or option cannot be used, NotFound if a corpus or run does not exist or you
    may not see it, and PermissionDenied if something is another role's. Methods that wait for a worker also raise
    NoWorker, RunTimeout (the run continues, and run_ids names it) and RunFailed. If one is interrupted (Ctrl-C, a
    cancelled task), it cancels its run.

    Args:
        connection: A connection or a pool.
        corpus: Name of the corpus for calls that name none; None lets the server choose.
        owns_connection: Whether close closes the connection too.
    """

    def __init__(
        self,
        connection: psycopg.Connection[Any] | ConnectionPool[Any],
        *,
        corpus: str | None = None,
        owns_connection: bool = False,
    ) -> None:
        super().__init__(corpus)
        self._connection = without_url(connection)
        self._owns_connection = owns_connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, if it is the client's own."""
        if self._owns_connection:
            self._connection.close()

    neighbors = method(passages.neighbors)
    submit = method(runs.submit)
    submit_many = method(runs.submit_many)
    wait = method(runs.wait)
    cancel = method(runs.cancel)
    result = method(runs.result)
    verdicts = iterating_method(watching.verdicts)
    explain = method(runs.explain)
    give_feedback = method(runs.give_feedback)
    closest_passages = method(passages.closest_passages)
    create_corpus = method(documents.create_corpus)
    alter_corpus = method(documents.alter_corpus)
    drop_corpus = method(documents.drop_corpus)
    add_documents = method(documents.add_documents)
    remove_document = method(documents.remove_document)
    erase_document = method(documents.erase_document)
    attach_table = method(documents.attach_table)
    detach_table = method(documents.detach_table)
    resync = method(documents.resync)
    grant_access = method(documents.grant_access)
    revoke_access = method(documents.revoke_access)
    distribute = method(documents.distribute)
    corpora = method(documents.corpora)
    corpus_status = method(documents.corpus_status)
    wait_until_searchable = method(documents.wait_until_searchable)

    @property
    def _is_in_transaction(self) -> bool:
        """Tell whether the connection has an open transaction."""
        return is_in_transaction(self._connection)

    def _take(self, step: Statement | Call | Pause) -> Rows:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return ()
        with translated(CLIENT_REFUSALS), self._borrowed() as connection:
            connection.add_notice_handler(log_warning)
            try:
                with reading_binary(psycopg.Cursor(connection, row_factory=dict_row)) as cursor:
                    return cursor.execute(*statement_of(step)).fetchall()
            finally:
                connection.remove_notice_handler(log_warning)

    def _borrowed(self) -> AbstractContextManager[psycopg.Connection[Any]]:
        if isinstance(self._connection, ConnectionPool):
            return self._connection.connection()
        return nullcontext(self._connection)


def connect(url: str | None = None, *, corpus: str | None = None) -> Client:
    """Connect to a database that has pgclarify; every call is committed by itself.

    Args:
        url: A libpq connection string or URL. None means PGCLARIFY_DATABASE_URL, else the embedded server.
        corpus: Name of the corpus for calls that name none; None lets the server choose.

    Returns:
        A client with its own connection, which is closed at the end of the with block.

    Raises:
        ConfigurationError: If the connection string or a setting cannot be used.
        ServerUnavailable: If the server does not answer or refuses the connection; or if no URL is given and the
            embedded server is not running.
    """
    with connecting():
        connection = psycopg.connect(database_url(url), **CONNECTION_OPTIONS)
    return Client(connection, corpus=corpus, owns_connection=True)
