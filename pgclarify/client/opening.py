"""Which database a client connects to, and how."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from pgclarify.client.operations import WHOLE_NUMBERS
from pgclarify.client.scripts import Call, Statement
from pgclarify.database.queries import call, queries
from pgclarify.errors import ConfigurationError, InputError, ServerUnavailable
from pgclarify.schema_names import PRIVATE_SCHEMA, SCHEMA
from pgclarify.tracing import current_traceparent

if TYPE_CHECKING:
    from pgclarify.config import Settings

_logger = logging.getLogger("pgclarify.client")
T = TypeVar("T")

CONNECTION_OPTIONS: Mapping[str, Any] = {
    "autocommit": True,
    "row_factory": dict_row,
    # Else text would be bytes in a database in SQL_ASCII.
    "client_encoding": "utf8",
    # Applies if the URL has no application_name.
    "fallback_application_name": "pgclarify client",
    # Behind PgBouncer, a prepared statement may be missing in the next session. Planning these calls is cheap.
    "prepare_threshold": None,
}


def database_url(url: str | None = None, settings: Settings | None = None) -> str:
    """Return the connection string: as given, else from the settings, else that of the running embedded server.

    Args:
        url: A connection string or URL, if one is given.
        settings: Settings in use; None reads them.

    Raises:
        ConfigurationError: If it is no connection string, or a setting cannot be used.
        ServerUnavailable: If the embedded server is needed and is not running.
    """
    if url is None:
        from pgclarify import embedded
        from pgclarify.config import read_settings

        settings = settings or read_settings()
        url = settings.database_url or embedded.running_dsn(settings.data_dir)
        if url is None:
            raise ServerUnavailable(
                "no database is named, and the embedded server is not running",
                detail=f"Its data directory is {settings.data_dir}.",
                hint="Start it with: pgclarify up --detach. For another server, set PGCLARIFY_DATABASE_URL.",
            )
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # libpq's message repeats the string, which may have a password.
        raise ConfigurationError(
            "the connection string cannot be used",
            hint="Write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %XX for special characters.",
        ) from None
    return url


@contextmanager
def connecting() -> Iterator[None]:
    """Raise our own exceptions instead of those of psycopg's connect.

    Raises:
        ServerUnavailable: If the server does not answer, or refuses the connection.
    """
    try:
        yield
    except psycopg.Error as error:
        raise ServerUnavailable(
            "no connection to the database server",
            detail=str(error).strip(),
            hint="The server is running. Check role, password and database in the URL."
            if error.pgconn is not None and (error.pgconn.needs_password or error.pgconn.used_password)
            else "Check the URL, and whether the server is running.",
        ) from error


def log_warning(notice: psycopg.errors.Diagnostic) -> None:
    """Log the server's warnings, such as that of a partial run. Its other notices are ignored."""
    if notice.severity_nonlocalized == "WARNING":
        _logger.warning("%s", ". ".join(filter(None, [notice.message_primary, notice.message_hint])))


def without_url(connection: T) -> T:
    """Return a connection or a pool.

    Raises:
        InputError: If it is a text.
    """
    if isinstance(connection, str):
        raise InputError("a client needs a connection or a pool", hint="Pass a URL to connect or connect_async.")
    return connection


def is_in_transaction(connection: object) -> bool:
    """Tell whether a connection has an open transaction; a pool never has one between two statements."""
    return (
        isinstance(connection, psycopg.BaseConnection)
        and connection.info.transaction_status is not TransactionStatus.IDLE
    )


def statement_of(step: Statement | Call) -> tuple[bytes, Mapping[str, object]]:
    """Return what is sent for a statement or a call of a function, and its parameters.

    Raises:
        InputError: If a number does not fit its parameter. The server would say that there is no such function.
    """
    if isinstance(step, Statement):
        _check_numbers(step.parameters)
        return queries[step.name].encode(), step.parameters
    _check_numbers(step.arguments)
    schema = PRIVATE_SCHEMA if step.names_caller else SCHEMA
    sent = call(step.function, tuple(step.arguments), schema=schema, names_caller=step.names_caller)
    traceparent = current_traceparent()
    if traceparent is not None:
        # A comment, because a parameter of the session would cost a round trip, and stay.
        sent += f" /*traceparent='{traceparent}'*/".encode()
    return sent, step.arguments


def _check_numbers(given: Mapping[str, object]) -> None:
    """Refuse numbers that are not whole, or beyond the type that their parameter has in SQL."""
    for name in given.keys() & WHOLE_NUMBERS.keys():
        end = 2 ** WHOLE_NUMBERS[name]
        value = given[name]
        for one in value if isinstance(value, list) else [value]:
            # Texts and numbers of numpy are for the server to read.
            if isinstance(one, bool | float) or (isinstance(one, int) and not -end <= one < end):
                raise InputError(
                    f"{name} is no whole number, or is too large",
                    # Python writes no number of very many digits.
                    detail=f"It is {'too large' if isinstance(one, int) and abs(one) >= 10**100 else repr(one)}.",
                    hint=f"Pass a whole number from {-end} to {end - 1}.",
                )
