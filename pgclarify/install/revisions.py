"""Revisions of the tables: the present one, the newest one of a new database, and the upgrade to that."""

from __future__ import annotations

import threading
from typing import Any

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from pgclarify.errors import SchemaMismatch
from pgclarify.install import tables
from pgclarify.install.shipped import shipped

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
    known = known_revisions()
    if current is not None and current not in known:
        raise SchemaMismatch(
            "the schema in the database is of a version that this pgclarify does not know",
            detail=f"It is at revision {current}; this version works with {known[0]}.",
            hint="Install the newer pgclarify here, too, as this one was installed.",
        )
    return current


def known_revisions() -> list[str]:
    """Return the revisions of this version, newest first."""
    return [script.revision for script in ScriptDirectory.from_config(config_of()).walk_revisions()]


def create(config: Config, *, as_script: bool = False) -> None:
    """Create the tables of this version in a new database. They are at the newest revision, so none is carried out.

    Args:
        config: As of `config_of`.
        as_script: Whether to write SQL to the output of config, instead of executing it.
    """
    first = known_revisions()[-1]
    command.upgrade(config, first, sql=as_script)
    command.stamp(config, f"{first}:head" if as_script else "head", sql=as_script)


def upgrade(connection: sqlalchemy.Connection, *, is_new: bool) -> None:
    """Create the tables or, with their data, upgrade them to the newest revision, in the transaction."""
    config = config_of()
    config.attributes["connection"] = connection
    with _alembic_lock:
        if is_new:
            create(config)
        else:
            command.upgrade(config, "head")
            # As in the first revision: several statements at once, only without parameters.
            connection.connection.cursor().execute(tables.comments())


def config_of(**options: Any) -> Config:  # noqa: ANN401 - those of Alembic
    """Return Alembic's configuration, with the folder of the revisions."""
    config = Config(**options)
    config.set_main_option("script_location", str(shipped("migrations")))
    return config
