"""Migrations make and remove the tables, which are the same as in pgclarify.schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from pgclarify import schema
from pgclarify.install import installer
from pgclarify.schema_names import SCHEMA
from tests.migration import catalog


def look(dsn: str, read: Callable[[psycopg.Connection[Any]], set[str]]) -> set[str]:
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        return read(connection)


@contextmanager
def sqlalchemy_connection(dsn: str) -> Iterator[sqlalchemy.Connection]:
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=sqlalchemy.NullPool
    )
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def drift(dsn: str) -> list[Any]:
    """The differences that alembic would put into a new revision."""
    with sqlalchemy_connection(dsn) as connection:
        # Reflection returns this name only as plain text.
        assert connection.dialect.ischema_names is not None  # type: ignore[attr-defined]
        connection.dialect.ischema_names = connection.dialect.ischema_names | {"name": schema.Name}  # type: ignore[attr-defined]
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
        return list(compare_metadata(context, schema.metadata))


def test_made_removed_and_made_again(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    installer.migrate(dsn, "head")
    first = look(dsn, catalog.everything)

    installer.migrate(dsn, "base")

    assert look(dsn, catalog.tables) == set()
    installer.migrate(dsn, "head")
    assert look(dsn, catalog.everything) == first


def test_uninstall_and_install_again(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    installer.install(dsn)
    first = look(dsn, catalog.everything)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("select pgclarify.create_corpus('kept')")

    installer.uninstall(dsn)

    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        assert connection.execute(
            "select count(*) from pg_namespace where nspname in ('pgclarify', 'pgclarify_private', 'pgclarify_queue')"
        ).fetchone() == (0,)
        assert connection.execute("select count(*) from pg_default_acl").fetchone() == (0,)
    installer.uninstall(dsn)
    assert installer.install(dsn).previous is None
    assert look(dsn, catalog.everything) == first


def test_removed_with_functions_data_and_partitions(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    installer.install(dsn)
    first = look(dsn, catalog.everything)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("select pgclarify.create_corpus('insurance')")
        connection.execute("select pgclarify_private.open_space(1, 4)")
        connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
        connection.execute("select pgclarify.submit('clarify', 'cars', 'insurance')")

    installer.migrate(dsn, "base")
    installer.install(dsn)

    assert look(dsn, catalog.everything) == first


def test_alembic_finds_no_drift(database: str) -> None:
    assert drift(database) == []


def test_metadata_makes_the_very_same_tables(database: str, make_database: Callable[..., str]) -> None:
    dsn = make_database()
    with sqlalchemy_connection(dsn) as connection, connection.begin():
        connection.exec_driver_sql("create extension vector")
        connection.exec_driver_sql("create schema pgclarify")
        connection.exec_driver_sql("create schema pgclarify_private")
        schema.metadata.create_all(connection)

    made, migrated = look(dsn, catalog.tables), look(database, catalog.tables)

    assert made - migrated == set()
    assert migrated - made == set()


@pytest.mark.parametrize(
    "change",
    [
        "alter table pgclarify_private.run add column mood text",
        "alter table pgclarify_private.term alter column passages type integer",
        "alter table pgclarify_private.run alter column attempt set default 1",
        "alter table pgclarify_private.run alter column operation drop not null",
        "drop index pgclarify_private.run_corpus_id_idx",
        "comment on column pgclarify_private.run.question is 'Something else.'",
        "alter table pgclarify_private.verdict drop constraint verdict_candidate_fk",
        "alter table pgclarify_private.run alter column corpus_name set not null",
    ],
)
def test_alembic_would_find_drift(connection: psycopg.Connection[Any], database: str, change: str) -> None:
    connection.execute(change.encode())

    assert len(drift(database)) == 1


@pytest.mark.parametrize(
    "change",
    [
        "alter table pgclarify_private.run drop constraint run_failed_has_an_error",
        "alter table pgclarify_private.ambiguity_rule drop constraint ambiguity_rule_pattern_is_fit",
        "alter table pgclarify_private.staged_passage set logged",
        "alter table pgclarify_private.term reset (fillfactor)",
        "alter table pgclarify_private.run alter column run_id set generated by default",
        "alter table pgclarify_private.corpus rename constraint corpus_name_key to corpus_name_uq",
        "comment on table pgclarify_private.run is 'Something else.'",
    ],
)
def test_the_catalogs_show_what_alembic_cannot_see(connection: psycopg.Connection[Any], change: str) -> None:
    before = catalog.tables(connection)

    connection.execute(change.encode())

    assert catalog.tables(connection) != before
