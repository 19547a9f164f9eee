"""The extensions that pgclarify stands on: vector, and dblink for calls that wait."""

from __future__ import annotations

import re
from typing import Any

import psycopg
from psycopg import sql

from pgclarify.errors import ConfigurationError

OLDEST_SERVER = 150000


OLDEST_VECTOR = (0, 8)
DBLINK_SCHEMA = "pgclarify_dblink"


def create_extensions(cursor: psycopg.Cursor[Any]) -> None:
    """Create what is available and missing.

    Raises:
        ConfigurationError: If the server is too old, or has no pgvector that is new enough.
    """
    version = cursor.connection.info.server_version
    if version < OLDEST_SERVER:
        raise ConfigurationError(
            "this PostgreSQL is too old",
            detail=f"It is version {version // 10000}.",
            hint="pgclarify needs PostgreSQL 15 or newer, with pgvector 0.8 or newer.",
        )
    _create_extension(cursor, "vector", None)
    cursor.execute("select extversion from pg_extension where extname = 'vector'")
    row = cursor.fetchone()
    if row is None:
        raise ConfigurationError(
            "this PostgreSQL has no pgvector",
            detail="The extension vector is neither installed in this database nor available on the server.",
            hint="Install pgvector 0.8 or newer on the server, or leave PGCLARIFY_DATABASE_URL unset for the embedded"
            " one.",
        )
    if tuple(int(part) for part in re.findall(r"\d+", row[0])[:2]) < OLDEST_VECTOR:
        raise ConfigurationError(
            "this pgvector is too old",
            detail=f"It is version {row[0]}.",
            hint="Install pgvector 0.8 or newer, then run: alter extension vector update.",
        )
    # In a schema of its own that nobody may look into: where everyone may call dblink, everyone may open connections.
    _create_extension(cursor, "dblink", DBLINK_SCHEMA)


def grant_extensions(cursor: psycopg.Cursor[Any]) -> None:
    """Let the owner's functions use the extensions."""
    vector = extension_schema(cursor, "vector")
    dblink = extension_schema(cursor, "dblink")
    for schema in {vector, dblink} - {None, "public"}:
        cursor.execute(sql.SQL("grant usage on schema {} to pgclarify_owner").format(sql.Identifier(schema or "")))
    cursor.execute("select rolsuper from pg_roles where rolname = current_user")
    row = cursor.fetchone()
    if dblink is not None and row is not None and row[0]:
        # A role that is no superuser may otherwise connect only where the server asks for a password.
        cursor.execute(
            sql.SQL("grant execute on function {0}.dblink_connect_u(text, text) to pgclarify_owner").format(
                sql.Identifier(dblink)
            )
        )


def extension_schema(cursor: psycopg.Cursor[Any], name: str) -> str | None:
    """The schema that an extension is in; None if it is not installed."""
    cursor.execute(
        "select n.nspname from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace where e.extname = %s",
        (name,),
    )
    row = cursor.fetchone()
    return None if row is None else str(row[0])


def _create_extension(cursor: psycopg.Cursor[Any], name: str, schema: str | None) -> None:
    """Create an extension if it is available and missing."""
    if extension_schema(cursor, name) is not None:
        return
    cursor.execute("select from pg_available_extensions where name = %s", (name,))
    if cursor.fetchone() is None:
        return
    if schema is not None:
        cursor.execute(sql.SQL("create schema if not exists {}").format(sql.Identifier(schema)))
        cursor.execute(
            sql.SQL("comment on schema {} is {}").format(
                sql.Identifier(schema), f"The extension {name}, out of everyone's reach but pgclarify's."
            )
        )
    try:
        with cursor.connection.transaction():
            cursor.execute(
                sql.SQL("create extension if not exists {} schema {}").format(
                    sql.Identifier(name), sql.Identifier(schema or "public")
                )
            )
    except psycopg.errors.InsufficientPrivilege as error:
        if name == "dblink":
            return
        raise ConfigurationError(
            f"the extension {name} is missing and you may not create it",
            detail=str(error.diag.message_primary),
            hint=f"Have a superuser run: create extension {name};",
        ) from None
