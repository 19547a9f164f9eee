"""The extensions that pgclarify needs: vector, and dblink for calls that wait."""

from __future__ import annotations

import re
from typing import Any

import psycopg
from psycopg import sql

from pgclarify.errors import ConfigurationError

OLDEST_MAJOR = 16
"""The oldest version of PostgreSQL that init accepts."""

OLDEST_VECTOR = (0, 8)
# In a database in SQL_ASCII, PostgreSQL counts bytes as characters, and psycopg returns texts as bytes.
_ENCODING = "UTF8"
DBLINK_SCHEMA = "pgclarify_dblink"
# A role that is not a superuser may only connect where the server asks for a password. Without that (as with `trust`),
# dblink_connect_u connects as any role, even as a superuser. So the owner's functions get this function instead.
_CONNECT_LOOPBACK = r"""
    create or replace function {schema}.connect_loopback(connection_name text, settings jsonb)
    returns void
    language plpgsql volatile security definer
    set search_path = pg_catalog, pg_temp
    set debug_print_plan = off
    as $$
    declare
        v_settings text;
    begin
        select string_agg(
            concat(setting.key, '=''', replace(replace(setting.value, E'\\', E'\\\\'), '''', E'\\'''), ''''), ' '
        )
        into v_settings
        from jsonb_each_text(
            connect_loopback.settings || jsonb_build_object('user', 'pgclarify_loopback')
        ) as setting
        where setting.key in (
            'user', 'password', 'dbname', 'host', 'port', 'connect_timeout', 'application_name', 'options'
        );
        perform {dblink}.dblink_connect_u(connect_loopback.connection_name, v_settings);
    end
    $$;
    comment on function {schema}.connect_loopback(text, jsonb) is
    'Open a connection under a name as role pgclarify_loopback, and as no other. settings: of libpq, where to.';
    alter function {schema}.connect_loopback(text, jsonb) owner to current_user;
    revoke execute on function {schema}.connect_loopback(text, jsonb) from public;
    grant execute on function {schema}.connect_loopback(text, jsonb) to pgclarify_owner;
    revoke execute on function {dblink}.dblink_connect_u(text, text) from pgclarify_owner;
"""


def check_encoding(connection: psycopg.Connection[Any]) -> None:
    """Refuse a database in another encoding, in which even SQLAlchemy may fail.

    Raises:
        ConfigurationError: If it is not UTF8.
    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != _ENCODING:
        raise ConfigurationError(
            f"this database does not have the encoding {_ENCODING}",
            detail=f"Its encoding is {encoding}.",
            hint=f"Make another one: create database NAME encoding '{_ENCODING}' template template0;",
        )


def create_extensions(cursor: psycopg.Cursor[Any]) -> None:
    """Create what is available and missing.

    Raises:
        ConfigurationError: If the server is too old, or has no pgvector, or one that is too old.
    """
    major = cursor.connection.info.server_version // 10000
    if major < OLDEST_MAJOR:
        raise ConfigurationError(
            "this PostgreSQL is too old",
            detail=f"It is version {major}.",
            hint=f"Use PostgreSQL {OLDEST_MAJOR} or newer, with pgvector 0.8 or newer.",
        )
    _create_extension(cursor, "vector", "public")
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
    # In a separate schema without access for others: a role that may call dblink may open connections.
    _create_extension(cursor, "dblink", DBLINK_SCHEMA)


def grant_extensions(cursor: psycopg.Cursor[Any]) -> None:
    """Let the owner's functions use the extensions, and let workers use the type of vectors.

    Raises:
        ConfigurationError: If pgvector is in a schema on which we cannot grant rights.
    """
    vector = extension_schema(cursor, "vector") or "public"
    if not all(_open_schema(cursor, vector, role) for role in ("pgclarify_owner", "pgclarify_worker")):
        name = sql.Identifier(vector).as_string(cursor)
        raise ConfigurationError(
            "pgvector is in a schema that pgclarify may not use",
            detail=f"It is in {name}, and you may not grant its usage.",
            hint=f"Have a superuser run: grant usage on schema {name} to pgclarify_owner, pgclarify_worker;"
            " if these roles are not there yet, have a superuser run: pgclarify init",
        )
    dblink = extension_schema(cursor, "dblink")
    if dblink is None or not _open_schema(cursor, dblink, "pgclarify_owner"):
        return
    cursor.execute("select rolsuper from pg_roles where rolname = current_user")
    if cursor.fetchone() == (True,):
        _create_dblink_schema(cursor)
        _open_schema(cursor, DBLINK_SCHEMA, "pgclarify_owner")
        names = {"schema": sql.Identifier(DBLINK_SCHEMA), "dblink": sql.Identifier(dblink)}
        cursor.execute(sql.SQL(_CONNECT_LOOPBACK).format(**names))


def has_dblink(cursor: psycopg.Cursor[Any]) -> bool:
    """Whether the extension is installed in the schema for the owner's functions."""
    dblink = extension_schema(cursor, "dblink")
    return dblink is not None and _may_use(cursor, dblink, "pgclarify_owner")


def _open_schema(cursor: psycopg.Cursor[Any], schema: str, role: str) -> bool:
    """Grant usage of a schema to a role that lacks it; False if we may not."""
    if _may_use(cursor, schema, role):
        return True
    try:
        with cursor.connection.transaction():
            cursor.execute(
                sql.SQL("grant usage on schema {} to {}").format(sql.Identifier(schema), sql.Identifier(role))
            )
    except psycopg.errors.InsufficientPrivilege:
        return False
    # Granting without the grant option gives a warning, not an error.
    return _may_use(cursor, schema, role)


def _may_use(cursor: psycopg.Cursor[Any], schema: str, role: str) -> bool:
    cursor.execute("select has_schema_privilege(%s::name, %s, 'usage')", (role, schema))
    return cursor.fetchone() == (True,)


def extension_schema(cursor: psycopg.Cursor[Any], name: str) -> str | None:
    """Return the schema of an extension; None if it is not installed."""
    cursor.execute(
        "select n.nspname from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace where e.extname = %s",
        (name,),
    )
    row = cursor.fetchone()
    return None if row is None else str(row[0])


def _create_dblink_schema(cursor: psycopg.Cursor[Any]) -> None:
    cursor.execute(sql.SQL("create schema if not exists {}").format(sql.Identifier(DBLINK_SCHEMA)))
    cursor.execute(
        sql.SQL("comment on schema {} is {}").format(
            sql.Identifier(DBLINK_SCHEMA), "The extension dblink, out of everyone's reach but pgclarify's."
        )
    )


def _create_extension(cursor: psycopg.Cursor[Any], name: str, schema: str) -> None:
    """Create an extension if it is available and not installed."""
    if extension_schema(cursor, name) is not None:
        return
    cursor.execute("select from pg_available_extensions where name = %s", (name,))
    if cursor.fetchone() is None:
        return
    try:
        with cursor.connection.transaction():
            if schema == DBLINK_SCHEMA:
                _create_dblink_schema(cursor)
            cursor.execute(
                sql.SQL("create extension if not exists {} schema {}").format(
                    sql.Identifier(name), sql.Identifier(schema)
                )
            )
    except psycopg.errors.InsufficientPrivilege as error:
        if name == "dblink":
            return
        raise ConfigurationError(
            f"the extension {name} is missing, and you may not create it",
            detail=str(error.diag.message_primary),
            hint=f"Have a superuser run: create extension {name};",
        ) from None
