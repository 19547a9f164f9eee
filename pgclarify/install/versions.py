"""Checks whether the schema in a database is that of this version, without importing the migrations.

A worker checks this when it starts; importing alembic and SQLAlchemy would cost half a second of CPU time.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, LiteralString

import psycopg
from psycopg.rows import tuple_row

from pgclarify.errors import SchemaMismatch
from pgclarify.install.shipped import shipped_hash, shipped_revisions

_REVISION: LiteralString = "select version_num from pgclarify_private.schema_version"


def check_schema(connection: psycopg.Connection[Any]) -> str:
    """Check that the schema in the database is that of this version, and return its hash.

    Raises:
        SchemaMismatch: If it is missing or another one.
    """
    found = _installed_hash(connection)
    check_revision(connection)
    if found is None:
        raise SchemaMismatch(
            "pgclarify is not installed in this database",
            detail="There is no schema pgclarify, or you may not use it.",
            hint="Run: pgclarify init",
        )
    if found != shipped_hash():
        raise SchemaMismatch(
            "the functions in the database are not those of this pgclarify",
            detail=f"This is pgclarify {version('pgclarify')}; the tables have its revision, {shipped_revisions()[0]}.",
            hint="To work with this version, run pgclarify init; else install the one that ran it last.",
        )
    return found


def check_revision(connection: psycopg.Connection[Any]) -> None:
    """Check that the tables in the database have the revision of this version, if we may see it.

    Unlike the whole schema, they are the same in versions that clients may mix.

    Raises:
        SchemaMismatch: If they are older or newer.
    """
    _refuse_another(_only_value(connection, "schema_version", _REVISION))


async def check_revision_async(connection: psycopg.AsyncConnection[Any]) -> None:
    """Check as `check_revision` does, on a connection that commits every statement by itself. Errors as there."""
    try:
        row = await (await connection.cursor(row_factory=tuple_row).execute(_REVISION)).fetchone()
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedTable):
        return
    _refuse_another(None if row is None else str(row[0]))


def _refuse_another(found: str | None) -> None:
    known = shipped_revisions()
    if found in (None, known[0]):
        return
    is_older = found in known
    raise SchemaMismatch(
        f"the schema in the database is {'older' if is_older else 'newer'} than this pgclarify",
        detail=f"It is at revision {found}; this is pgclarify {version('pgclarify')}, which works with {known[0]}.",
        hint="Make a backup, then run: pgclarify init"
        if is_older
        else "Install the newer pgclarify here, too, as this one was installed.",
    )


def is_unchanged(connection: psycopg.Connection[Any], before: str) -> bool:
    """Whether the schema has the hash that it had when this process started.

    The files of this version are not read again: an upgrade of the package may have replaced them.
    """
    return _installed_hash(connection) == before


def _installed_hash(connection: psycopg.Connection[Any]) -> str | None:
    """Return the hash of the installed files; None if there are none, or we may not see it."""
    return _only_value(connection, "applied_sql", "select shipped_hash from pgclarify_private.applied_sql")


def _only_value(connection: psycopg.Connection[Any], table: str, statement: LiteralString) -> str | None:
    """Return what a statement selects of a table of one row; None if it is not there, or we may not read it."""
    # Independent of the row factory of the connection.
    cursor = connection.cursor(row_factory=tuple_row)
    is_readable = cursor.execute(
        """
        select from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = 'pgclarify_private' and c.relname = %s
            and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
    """,
        [table],
    ).fetchone()
    if is_readable is None:
        return None
    row = cursor.execute(statement).fetchone()
    return None if row is None else str(row[0])
