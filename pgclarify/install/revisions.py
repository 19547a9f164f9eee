"""Revisions of the tables: the present one, and the upgrade to that of this version."""

from __future__ import annotations

import threading
from collections.abc import Callable

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext

from pgclarify.install.shipped import shipped
from pgclarify.install.versions import compare, known_revisions
from pgclarify.schema_names import PRIVATE_SCHEMA

# Alembic uses one global for the process, and threads may install into several databases.
_alembic_lock = threading.Lock()


def current_revision(connection: sqlalchemy.Connection) -> str | None:
    """Return the revision of the tables in the database; None if there are none.

    Raises:
        SchemaMismatch: If it cannot be upgraded to the revision of this version.
    """
    if connection.exec_driver_sql("select to_regclass('pgclarify_private.schema_version')").scalar() is None:
        return None
    context = MigrationContext.configure(
        connection, opts={"version_table": "schema_version", "version_table_schema": PRIVATE_SCHEMA}
    )
    current = context.get_current_revision()
    if current is not None and current not in known_revisions():
        compare(current)
    return current


def upgrade(connection: sqlalchemy.Connection) -> None:
    """Upgrade the tables to the newest revision, with their data, in the transaction."""
    run_alembic(command.upgrade, connection, "head")


def remove(connection: sqlalchemy.Connection) -> None:
    """Drop the tables, with their data, in the transaction."""
    run_alembic(command.downgrade, connection, "base")


def run_alembic(action: Callable[[Config, str], None], connection: sqlalchemy.Connection, revision: str) -> None:
    """Run a command of Alembic on our connection, in its transaction."""
    config = Config()
    config.set_main_option("script_location", str(shipped("migrations")))
    config.attributes["connection"] = connection
    with _alembic_lock:
        action(config, revision)
