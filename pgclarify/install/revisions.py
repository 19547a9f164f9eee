"""Revisions of the tables: the present one, and the upgrade to that of this version."""

from __future__ import annotations

import threading

import sqlalchemy
from alembic import command
from alembic.config import Config

from pgclarify.install.shipped import shipped
from pgclarify.install.versions import compare, known_revisions

# Alembic uses one global for the process, and threads may install into several databases.
_alembic_lock = threading.Lock()


def current_revision(connection: sqlalchemy.Connection) -> str | None:
    """Return the revision of the tables in the database; None if there are none.

    Raises:
        SchemaMismatch: If it cannot be upgraded to the revision of this version.
    """
    if connection.exec_driver_sql("select to_regclass('pgclarify_private.schema_version')").scalar() is None:
        return None
    current = connection.exec_driver_sql("select version_num from pgclarify_private.schema_version").scalar()
    if current is None:
        return None
    if current not in known_revisions():
        compare(current)
    return str(current)


def upgrade(connection: sqlalchemy.Connection) -> None:
    """Upgrade the tables to the newest revision, with their data, in the transaction."""
    config = Config()
    config.set_main_option("script_location", str(shipped("migrations")))
    config.attributes["connection"] = connection
    with _alembic_lock:
        command.upgrade(config, "head")
