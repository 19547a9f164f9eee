"""Checks whether the schema in a database is that of this version, without importing the migrations.

A worker checks this when it starts; importing alembic and SQLAlchemy would cost half a second of CPU time.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.rows import tuple_row

from pgclarify.errors import SchemaMismatch
from pgclarify.install.shipped import shipped_hash


def check_schema(connection: psycopg.Connection[Any]) -> str:
    """Check that the schema in the database is that of this version, and return its hash.

    Raises:
        SchemaMismatch: If it is missing or another one.
    """
    found = _installed_hash(connection)
    if found is None:
        raise SchemaMismatch(
            "pgclarify is not installed in this database",
            detail="There is no schema pgclarify, or you may not use it.",
            hint="Run: pgclarify init",
        )
    if found != shipped_hash():
        raise SchemaMismatch(
            "the schema in the database is that of another version of pgclarify",
            detail="Its hash differs from that of this version's files.",
            hint="Run: pgclarify init; if the schema is of a newer version, run: pip install --upgrade pgclarify",
        )
    return found


def is_unchanged(connection: psycopg.Connection[Any], before: str) -> bool:
    """Whether the schema has the hash that it had when this process started.

    The files of this version are not read again: an upgrade of the package may have replaced them.
    """
    return _installed_hash(connection) == before


def _installed_hash(connection: psycopg.Connection[Any]) -> str | None:
    """Return the hash of the installed files; None if there are none, or we may not see it."""
    # Independent of the row factory of the connection.
    cursor = connection.cursor(row_factory=tuple_row)
    is_readable = cursor.execute("""
        select from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = 'pgclarify_private' and c.relname = 'applied_sql'
            and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
    """).fetchone()
    if is_readable is None:
        return None
    row = cursor.execute("select shipped_hash from pgclarify_private.applied_sql").fetchone()
    return None if row is None else str(row[0])
