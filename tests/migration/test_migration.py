"""Migrations make the tables, which are the same as in pgclarify.schema."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from pgclarify import schema
from pgclarify.install import installer, revisions, tables
from pgclarify.install.create_extension import files
from pgclarify.schema_names import SCHEMA
from tests.migration import catalog
from tests.pages import CHECKOUT


def look(dsn: str, read: Callable[[psycopg.Connection[Any]], set[str]]) -> set[str]:
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        return read(connection)


def test_removed_and_installed_again(database: str) -> None:
    first = look(database, catalog.everything)
    with closing(psycopg.connect(database, autocommit=True)) as connection:
        connection.execute("select pgclarify.create_corpus('insurance')")
        connection.execute("select pgclarify_private.open_space(1, 4)")
        # As on the page on operations.
        connection.execute("drop schema pgclarify, pgclarify_private, pgclarify_capture, pgclarify_dblink cascade")

    assert installer.install(database).previous is None

    assert look(database, catalog.everything) == first


@pytest.fixture
def later_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The shipped revisions with a later one, which fails in a database that has the declared tables."""
    folder = tmp_path / "migrations"
    shutil.copytree(CHECKOUT / "migrations", folder)
    monkeypatch.setattr(revisions, "shipped", lambda _: folder)
    newest = revisions.known_revisions()[0]
    (folder / "versions" / "v9.py").write_text(
        f'from alembic import op\n\nrevision = "v9"\ndown_revision = "{newest}"\n\n\n'
        'def upgrade() -> None:\n    op.execute("alter table pgclarify_private.run add column question text")\n'
    )
    return "v9"


def test_a_new_database_gets_the_declared_tables_at_the_newest_revision(
    make_database: Callable[..., str], later_revision: str
) -> None:
    assert installer.install(make_database()).current == later_revision


def test_the_script_of_an_extension_has_the_declared_tables_at_the_newest_revision(later_revision: str) -> None:
    script = files.extension_files()[f"pgclarify--{files.VERSION}.sql"]

    assert "add column question" not in script
    assert f"SET version_num='{later_revision}'" in script


def test_alembic_finds_nothing_to_change_in_a_new_database(database: str) -> None:
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(database), poolclass=sqlalchemy.NullPool
    )
    with engine.connect() as connection:
        # Reflection returns this name only as plain text.
        assert connection.dialect.ischema_names is not None  # type: ignore[attr-defined]
        connection.dialect.ischema_names = connection.dialect.ischema_names | {"name": schema.base.Name}  # type: ignore[attr-defined]
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": True,
                "include_schemas": True,
                "include_name": lambda name, kind, _: kind != "schema" or name in (SCHEMA, schema.PRIVATE_SCHEMA),
                "version_table": "schema_version",
                "version_table_schema": schema.PRIVATE_SCHEMA,
            },
        )

        assert list(compare_metadata(context, schema.metadata)) == []
    engine.dispose()


def test_upgraded_tables_are_those_that_are_declared(database: str, make_database: Callable[..., str]) -> None:
    dsn = make_database()
    with closing(psycopg.connect(dsn)) as connection, connection:
        connection.execute("create extension vector; create schema pgclarify; create schema pgclarify_private")
        connection.execute(tables.statements().replace("@extschema:vector@", "public").encode())

    declared, upgraded = look(dsn, catalog.tables), look(database, catalog.tables)

    assert declared - upgraded == set()
    assert upgraded - declared == set()
