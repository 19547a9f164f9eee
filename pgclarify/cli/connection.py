"""The database of a command, and a connection to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from pgclarify.errors import ConfigurationError, ServerUnavailable

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import DictRow

    from pgclarify.cli.client import CommandClient
    from pgclarify.config import Settings

    Database: TypeAlias = psycopg.Connection[DictRow]

_NO_ANSWER = "Check that the server is running, and PGCLARIFY_DATABASE_URL if it is set."
_REFUSED = "The server is running. Check role, password and database in PGCLARIFY_DATABASE_URL."


def load_settings() -> Settings:
    """Read the settings. A URL of the embedded server, as `pgclarify dsn` prints it, is treated as no URL.

    Raises:
        ConfigurationError: If a setting cannot be used. Its value is not repeated, because it may be a key.
    """
    from pydantic import ValidationError

    from pgclarify.config import Settings

    try:
        settings = Settings()
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        wrong = "; ".join(f"{_variable(problem['loc'])}: {problem['msg']}" for problem in problems)
        raise ConfigurationError(
            "a setting cannot be used", detail=f"{wrong}.", hint="Correct it in the environment or in .env."
        ) from None
    if settings.database_url is None:
        return settings
    from pgclarify import embedded

    is_embedded = embedded.is_own(settings.data_dir, settings.database_url)
    return settings.model_copy(update={"database_url": None}) if is_embedded else settings


def _variable(location: Sequence[int | str]) -> str:
    name = str(location[0]).upper()
    return name if name.startswith("OPENAI_") else f"PGCLARIFY_{name}"


def running_dsn(settings: Settings) -> str:
    """Return the connection string of the database in use.

    Raises:
        ConfigurationError: If it cannot be read.
        ServerUnavailable: If the embedded server is needed and is not running.
    """
    if settings.database_url is not None:
        return _checked(settings.database_url)
    from pgclarify import embedded

    dsn = embedded.running_dsn(settings.data_dir)
    if dsn is None:
        raise ServerUnavailable(
            "the embedded server is not running",
            detail=f"Its data directory is {settings.data_dir}.",
            hint="Start it with: pgclarify up --detach",
        )
    return dsn


def started_dsn(settings: Settings) -> str:
    """Return the connection string of the database in use. The embedded server is started if it is needed.

    Raises:
        ConfigurationError: If it cannot be read, or the data directory cannot be used.
        ServerUnavailable: If the embedded server does not start.
    """
    if settings.database_url is not None:
        return _checked(settings.database_url)
    from pgclarify import embedded

    return embedded.start(settings.data_dir)


def _checked(url: str) -> str:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # libpq's message repeats the string, which may have a password.
        raise ConfigurationError(
            "PGCLARIFY_DATABASE_URL is no connection string",
            hint="Write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %XX for special characters.",
        ) from None
    return url


def connect(dsn: str) -> Database:
    """Connect; rows are dictionaries, and every statement is committed by itself.

    Raises:
        ServerUnavailable: If the server does not answer, or refuses the connection.
    """
    import psycopg
    from psycopg.rows import dict_row

    try:
        # Behind a pooler, the next statement may run in another session, without the prepared statement.
        return psycopg.connect(
            dsn, row_factory=dict_row, autocommit=True, prepare_threshold=None, application_name="pgclarify"
        )
    except psycopg.OperationalError as error:
        raise ServerUnavailable(
            "no connection to the database server",
            detail=str(error).strip(),
            hint=_REFUSED if asked_for_password(error) else _NO_ANSWER,
        ) from None


def asked_for_password(error: psycopg.OperationalError) -> bool:
    """Return whether a server ran, and asked for a password, when no connection to it could be made."""
    return error.pgconn is not None and (error.pgconn.needs_password or error.pgconn.used_password)


def client_of(database: Database, corpus: str | None = None) -> CommandClient:
    """Return a client on the connection. It raises psycopg's errors, which main explains in the words of commands."""
    import logging

    from pgclarify.cli.client import CommandClient

    # Commands show these warnings in their own words.
    logging.getLogger("pgclarify.client").setLevel(logging.ERROR)
    return CommandClient(database, corpus=corpus)
