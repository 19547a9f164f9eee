"""The database of a command, and a connection to it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeAlias

import psycopg
import typer
from psycopg.rows import DictRow

from pgclarify import embedded
from pgclarify.cli import terminal
from pgclarify.client.opening import CONNECTION_OPTIONS, connecting, database_url
from pgclarify.config import Settings, read_settings
from pgclarify.install.versions import check_revision

if TYPE_CHECKING:
    from pgclarify.cli.client import CommandClient

    Database: TypeAlias = psycopg.Connection[DictRow]

DSN_EXAMPLES = terminal.examples(
    'psql "$(pgclarify dsn)"',
    'pg_dump -Fc "$(pgclarify dsn)" > pgclarify.dump',
    'psql "$(pgclarify dsn)&user=dashboard"',
)


def dsn() -> None:
    """Print the connection string of the database in use."""
    typer.echo(running_dsn(load_settings()))


def load_settings() -> Settings:
    """Read the settings. A URL of the embedded server, as `pgclarify dsn` prints it, is treated as no URL.

    Raises:
        ConfigurationError: As read_settings.
    """
    settings = read_settings()
    if settings.database_url is None:
        return settings
    is_embedded = embedded.is_own(settings.data_dir, settings.database_url)
    return settings.model_copy(update={"database_url": None}) if is_embedded else settings


def running_dsn(settings: Settings) -> str:
    """Return the connection string of the database in use.

    Raises:
        ConfigurationError: If it cannot be read.
        ServerUnavailable: If the embedded server is needed and is not running.
    """
    return database_url(settings=settings)


def connect(url: str) -> Database:
    """Connect as `connect_to_any`, and check that the schema is of this version, before anything is spent or stored.

    Raises:
        ServerUnavailable: As connect_to_any.
        SchemaMismatch: If the tables are of another revision.
    """
    database = connect_to_any(url)
    try:
        check_revision(database)
    except BaseException:
        database.close()
        raise
    return database


def connect_to_any(url: str) -> Database:
    """Connect; rows are dictionaries, and every statement is committed by itself.

    Raises:
        ServerUnavailable: If the server does not answer, or refuses the connection.
    """
    with connecting():
        return psycopg.connect(url, **CONNECTION_OPTIONS)


def checked_dsn(settings: Settings) -> str:
    """Return running_dsn for what opens its own connections, after the check of `connect`. Errors as of both."""
    dsn = running_dsn(settings)
    connect(dsn).close()
    return dsn


def connected() -> Database:
    """Connect to the database in use. Errors as of load_settings, running_dsn and connect."""
    return connect(running_dsn(load_settings()))


def client_of(database: Database, corpus: str | None = None) -> CommandClient:
    """Return a client on the connection."""
    # Slow to import, and not needed by the command dsn.
    from pgclarify.cli.client import CommandClient

    # Commands show these warnings in their own words.
    logging.getLogger("pgclarify.client").setLevel(logging.ERROR)
    return CommandClient(database, corpus=corpus)
