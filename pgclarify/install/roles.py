"""Roles, which belong to the whole server, and the schemas that they own."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from pgclarify.errors import ConfigurationError
from pgclarify.schema import SCHEMA

ROLES = {
    "pgclarify_owner": "nologin",
    "pgclarify_reader": "nologin",
    "pgclarify_user": "nologin",
    "pgclarify_worker": "nologin",
    # The waiting call's second connection. The limit leaves room for the callers themselves.
    "pgclarify_loopback": "login connection limit 20",
}


def create_roles(cursor: psycopg.Cursor[Any]) -> None:
    """Create our roles. They belong to the whole server, so another database may be making them at this moment."""
    for role, attributes in ROLES.items():
        cursor.execute("select from pg_roles where rolname = %s", (role,))
        if cursor.fetchone() is not None:
            continue
        try:
            with cursor.connection.transaction():
                cursor.execute(sql.SQL(f"create role {{}} {attributes}").format(sql.Identifier(role)))
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            continue
    # Who may ask may also look; who works may enter what a worker needs; the installer acts as the owner.
    for granted, member in (("pgclarify_reader", "pgclarify_user"), ("pgclarify_owner", None)):
        cursor.execute(
            "select pg_has_role(coalesce(%s, current_user::text), %s, 'member')",
            (member, granted),
        )
        row = cursor.fetchone()
        if row is not None and not row[0]:
            cursor.execute(
                sql.SQL("grant {} to {}").format(
                    sql.Identifier(granted), sql.Identifier(member) if member else sql.SQL("current_user")
                )
            )


def create_schemas(cursor: psycopg.Cursor[Any]) -> None:
    """Create the schemas, owned by pgclarify_owner.

    Raises:
        ConfigurationError: If one is there and belongs to somebody else.
    """
    for schema, comment in (
        (SCHEMA, "pgclarify: the readings of a vague question that documents really answer."),
        ("pgclarify_queue", "The task queue of pgclarify: procrastinate's tables."),
    ):
        cursor.execute(
            sql.SQL("create schema if not exists {} authorization pgclarify_owner").format(sql.Identifier(schema))
        )
        cursor.execute("select pg_get_userbyid(nspowner) from pg_namespace where nspname = %s", (schema,))
        row = cursor.fetchone()
        if row is None or row[0] != "pgclarify_owner":
            # Whoever owns a schema may drop what is in it.
            raise ConfigurationError(
                f"there is a schema {schema} already, and it is not ours",
                detail=f"It belongs to {row and row[0]}.",
                hint=f"Rename it: alter schema {schema} rename to …; then run pgclarify init again.",
            )
        cursor.execute(sql.SQL("comment on schema {} is {}").format(sql.Identifier(schema), comment))
    cursor.execute(
        "grant usage on schema pgclarify to pgclarify_reader, pgclarify_user, pgclarify_worker, pgclarify_loopback"
    )
