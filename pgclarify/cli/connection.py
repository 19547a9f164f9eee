"""The database of a command, and a connection to it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow

from pgclarify import embedded
from pgclarify.cli.client import CommandClient
from pgclarify.client.opening import CONNECTION_OPTIONS, connecting
from pgclarify.config import Settings, read_settings
from pgclarify.errors import ConfigurationError, ServerUnavailable

if TYPE_CHECKING:
    Database: TypeAlias = psycopg.Connection[DictRow]


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
    if settings.database_url is not None:
        return _checked(settings.database_url)
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
    return embedded.start(settings.data_dir)


def _checked(url: str) -> str:
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
    with connecting():
        return psycopg.connect(dsn, **CONNECTION_OPTIONS)


def client_of(database: Database, corpus: str | None = None) -> CommandClient:
    """Return a client on the connection."""
    # Commands show these warnings in their own words.
    logging.getLogger("pgclarify.client").setLevel(logging.ERROR)
    return CommandClient(database, corpus=corpus)
