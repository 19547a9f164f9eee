"""Checks whether the schema in a database is that of this version, without importing the migrations.

A worker checks this when it starts; importing alembic and SQLAlchemy would cost half a second of CPU time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

from pgclarify.errors import SchemaMismatch
from pgclarify.install.shipped import shipped, sql_hash
from pgclarify.schema_names import PRIVATE_SCHEMA

# The form that migrations/script.py.mako writes.
_REVISION = re.compile(r"^(revision|down_revision) = (?:None|['\"](\w+)['\"])$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installed:
    """What is installed in a database: the revision of its tables, and the hash of its functions. None: nothing."""

    revision: str | None
    shipped_hash: str | None


def check_schema(connection: psycopg.Connection[Any]) -> Installed:
    """Check that the schema in the database is that of this version, and return what is installed.

    Raises:
        SchemaMismatch: If it is missing, older or newer; the hint names the command that fixes it.
    """
    found = _installed(connection)
    compare(found.revision)
    if found.shipped_hash != sql_hash():
        raise SchemaMismatch(
            "the functions in the database are those of another version of pgclarify",
            detail="Their hash differs from that of this version's files.",
            hint="Run: pgclarify init",
        )
    return found


def check_unchanged(connection: psycopg.Connection[Any], before: Installed) -> None:
    """Check that the schema is what it was when this process started.

    The files of this version are not read again: an upgrade of the package may have replaced them.

    Raises:
        SchemaMismatch: If init has installed another version since then.
    """
    if _installed(connection) != before:
        raise SchemaMismatch(
            "the schema in the database was changed while this worker was running",
            detail="pgclarify was removed, or another version was installed.",
            hint="Start a worker of the version that is installed now.",
        )


def _installed(connection: psycopg.Connection[Any]) -> Installed:
    # Independent of the row factory of the connection.
    cursor = connection.cursor(row_factory=tuple_row)
    return Installed(
        _read(cursor, "schema_version", "version_num"),
        _read(cursor, "applied_sql", "shipped_hash"),
    )


def known_revisions() -> list[str]:
    """Return the revisions of this version, newest first."""
    found = [dict(_REVISION.findall(path.read_text("utf-8"))) for path in shipped("migrations").glob("versions/*.py")]
    after = {one["down_revision"]: one["revision"] for one in found}
    in_order = [after[""]]
    while in_order[0] in after:
        in_order.insert(0, after[in_order[0]])
    return in_order


def compare(found: str | None) -> None:
    """Check that a revision is the newest one of this version; None means a database without tables.

    Raises:
        SchemaMismatch: If it is another one.
    """
    known = known_revisions()
    if found == known[0]:
        return
    if found is None:
        raise SchemaMismatch(
            "pgclarify is not installed in this database",
            detail="There is no schema pgclarify, or you may not use it.",
            hint="Run: pgclarify init",
        )
    if found in known:
        raise SchemaMismatch(
            "the schema in the database is older than this version of pgclarify",
            detail=f"It is at revision {found}; this version works with {known[0]}.",
            hint="Run: pgclarify init",
        )
    raise SchemaMismatch(
        "the schema in the database is of a version that this pgclarify does not know",
        detail=f"It is at revision {found}; this version works with {known[0]}.",
        hint="Run: pip install --upgrade pgclarify.",
    )


def _read(cursor: psycopg.Cursor[Any], table: str, column: str) -> str | None:
    """Return the value in a table of one row; None if there is none, or we may not see it."""
    is_readable = cursor.execute(
        """
        select from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = %s and c.relname = %s
            and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
        """,
        (PRIVATE_SCHEMA, table),
    ).fetchone()
    if is_readable is None:
        return None
    value = cursor.execute(
        sql.SQL("select {} from {}").format(sql.Identifier(column), sql.Identifier(PRIVATE_SCHEMA, table))
    ).fetchone()
    return None if value is None else str(value[0])
