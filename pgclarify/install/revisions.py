"""Revisions of the tables: which one is there, which ones are shipped, and the way between them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg import sql
from psycopg.rows import tuple_row

from pgclarify.errors import SchemaMismatch
from pgclarify.install.shipped import shipped, sql_hash
from pgclarify.schema import PRIVATE_SCHEMA, SCHEMA

# The last revision before the baseline: the only one from which there is a way to it.
_BRIDGED = "0016"
# What alembic works on is one global of the process; threads may be installing into several databases.
_alembic_lock = threading.Lock()


def check_schema(connection: psycopg.Connection[Any]) -> None:
    """Check that the schema in the database is the one that this version works with.

    Raises:
        SchemaMismatch: If it is missing, older or newer; the hint names the command that mends it.
    """
    # Whatever its rows are made into otherwise.
    cursor = connection.cursor(row_factory=tuple_row)
    _compare(_read(cursor, SCHEMA, "schema_version", "version_num"))
    if _read(cursor, PRIVATE_SCHEMA, "applied_sql", "shipped_hash") != sql_hash():
        raise SchemaMismatch(
            "the functions in the database are those of another version of pgclarify",
            detail="Their hash is not the one of the files that this version comes with.",
            hint="Run: pgclarify init",
        )


def current_revision(connection: sqlalchemy.Connection) -> str | None:
    """The revision of the tables in the database; None if there are none.

    Raises:
        SchemaMismatch: If there is no way from it to the one of this version.
    """
    if connection.exec_driver_sql("select to_regclass('pgclarify.schema_version')").scalar() is None:
        return None
    context = MigrationContext.configure(
        connection, opts={"version_table": "schema_version", "version_table_schema": SCHEMA}
    )
    current = context.get_current_revision()
    if current is not None and current not in (*known_revisions(), _BRIDGED):
        _compare(current)
    return current


def upgrade(connection: sqlalchemy.Connection) -> None:
    """Bring the tables to the newest revision, with their data, within the transaction."""
    if current_revision(connection) == _BRIDGED:
        # The baseline sees the tables, and starts from them.
        run_alembic(lambda config, revision: command.stamp(config, revision, purge=True), connection, "base")
    run_alembic(command.upgrade, connection, "head")


def remove(connection: sqlalchemy.Connection) -> None:
    """Drop the tables, with their data, within the transaction."""
    if current_revision(connection) == _BRIDGED:
        # The baseline drops whatever is in the schemas.
        run_alembic(lambda config, revision: command.stamp(config, revision, purge=True), connection, "head")
    run_alembic(command.downgrade, connection, "base")


def known_revisions() -> list[str]:
    """Revisions that this version ships, newest first."""
    config = Config()
    config.set_main_option("script_location", str(shipped("migrations")))
    return [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]


def run_alembic(action: Callable[[Config, str], None], connection: sqlalchemy.Connection, revision: str) -> None:
    """Run one of Alembic's commands on a connection of ours, within its transaction."""
    config = Config()
    config.set_main_option("script_location", str(shipped("migrations")))
    config.attributes["connection"] = connection
    with _alembic_lock:
        action(config, revision)


def _read(cursor: psycopg.Cursor[Any], schema: str, table: str, column: str) -> str | None:
    """The value in a table of one row; None if there is none, or it is not for us to see."""
    is_readable = cursor.execute(
        """
        select from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = %s and c.relname = %s
            and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
        """,
        (schema, table),
    ).fetchone()
    if is_readable is None:
        return None
    value = cursor.execute(
        sql.SQL("select {} from {}").format(sql.Identifier(column), sql.Identifier(schema, table))
    ).fetchone()
    return None if value is None else str(value[0])


def _compare(found: str | None) -> None:
    known = known_revisions()
    if found == known[0]:
        return
    if found is None:
        raise SchemaMismatch(
            "pgclarify is not installed in this database",
            detail="There is no schema pgclarify, or you may not look into it.",
            hint="Run: pgclarify init",
        )
    if found in (*known, _BRIDGED):
        raise SchemaMismatch(
            "the schema in the database is older than this version of pgclarify",
            detail=f"It is at revision {found}; this version works with {known[0]}.",
            hint="Run: pgclarify init",
        )
    if found.startswith("00"):
        raise SchemaMismatch(
            "the schema in the database is too old for this version of pgclarify",
            detail=f"It is at revision {found}; this version starts from {_BRIDGED}, the last one of version 0.1.",
            hint=(
                f"Bring it to {_BRIDGED} by pgclarify init of version 0.1, then run this one's."
                if found < _BRIDGED
                else "It is of a version that was never released: load the documents into a new database."
            ),
        )
    raise SchemaMismatch(
        "the schema in the database is newer than this version of pgclarify",
        detail=f"It is at revision {found}; this version works with {known[0]}.",
        hint="Run: pip install --upgrade pgclarify",
    )
