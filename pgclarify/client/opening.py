"""Which database a client talks to, and how it connects."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from pgclarify.errors import ConfigurationError, ServerUnavailable

_logger = logging.getLogger("pgclarify.client")

CONNECTION_OPTIONS: Mapping[str, Any] = {
    "autocommit": True,
    "row_factory": dict_row,
    # Unless the URL has one.
    "fallback_application_name": "pgclarify client",
    # Behind PgBouncer the next transaction may be on another session; and planning a function call costs little.
    "prepare_threshold": None,
}


def database_url(url: str | None) -> str:
    """The connection string: the one given, else the settings', else the embedded server's if that is running.

    Raises:
        ConfigurationError: If a setting cannot be used.
        ServerUnavailable: If it is the embedded server, and that is not running.
    """
    if url is not None:
        return url
    from pydantic import ValidationError

    from pgclarify import embedded
    from pgclarify.config import Settings

    try:
        settings = Settings()
    except ValidationError as error:
        # The values stay out: a key may be among them.
        wrong = "; ".join(f"{problem['loc'][0]}: {problem['msg']}" for problem in error.errors(include_input=False))
        raise ConfigurationError("a setting cannot be used", detail=f"{wrong}.", hint="Pass a URL.") from None
    running = settings.database_url or embedded.running_dsn(settings.data_dir)
    if running is None:
        raise ServerUnavailable(
            "no database is named, and the embedded server is not running",
            detail=f"Its data directory is {settings.data_dir}.",
            hint="Pass a URL, set PGCLARIFY_DATABASE_URL, or start the embedded server with: pgclarify up --detach",
        )
    return running


@contextmanager
def connecting() -> Iterator[None]:
    """Raise our own exceptions in place of those of psycopg's connect.

    Raises:
        ConfigurationError: If the connection string is none. It is not repeated: a password may be in it.
        ServerUnavailable: If the server does not answer, or turns us away.
    """
    try:
        yield
    except psycopg.ProgrammingError:
        raise ConfigurationError(
            "the connection string cannot be used",
            hint="Pass a URL, such as postgresql://user@host/database; reserved characters in it are %-encoded.",
        ) from None
    except psycopg.Error as error:
        raise ServerUnavailable(
            "no connection to the database server",
            detail=str(error).strip(),
            hint="Check the URL, and that the server is running.",
        ) from error


def log_warning(notice: psycopg.errors.Diagnostic) -> None:
    """Pass on what the server warns of, such as a partial run; what it merely mentions is left out."""
    if notice.severity_nonlocalized == "WARNING":
        _logger.warning("%s", " ".join(filter(None, [notice.message_primary, notice.message_hint])))


def is_in_transaction(connection: object) -> bool:
    """True if a connection has a transaction open; a pool's never has between two statements."""
    return (
        isinstance(connection, psycopg.BaseConnection)
        and connection.info.transaction_status is not TransactionStatus.IDLE
    )
