"""Installs: twice, twenty at once, over an older schema and over a newer one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgclarify.errors import ConfigurationError, SchemaMismatch, ServerUnavailable
from pgclarify.install import installer, versions
from tests.servers import in_database

HEAD = "v0_2_0"


def test_installing_twice_changes_nothing(database: str, connection: psycopg.Connection[Any]) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    keys = connection.execute("select * from pgclarify_private.caller_key").fetchall()
    ways_back = connection.execute("select * from pgclarify_private.loopback").fetchall()

    installation = installer.install(database)

    assert (installation.previous, installation.current, installation.has_dblink) == (HEAD, HEAD, True)
    assert connection.execute("select * from pgclarify_private.caller_key").fetchall() == keys
    assert connection.execute("select * from pgclarify_private.loopback").fetchall() == ways_back
    assert connection.execute("select corpus from pgclarify.corpus").fetchall() == [("insurance",)]
    assert len(keys) == len(ways_back) == 1


def test_twenty_installs_at_once(make_database: Callable[..., str]) -> None:
    dsn = make_database()

    with ThreadPoolExecutor(20) as pool:
        installations = list(pool.map(installer.install, [dsn] * 20))

    assert sorted(str(installation.previous) for installation in installations) == ["None"] + [HEAD] * 19
    assert {installation.current for installation in installations} == {HEAD}
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        assert connection.execute("select count(*) from pgclarify_private.caller_key").fetchone() == (1,)
        assert connection.execute("select pgclarify.create_corpus('insurance')").fetchone() == (1,)


def test_a_failed_install_leaves_nothing(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("create schema pgclarify authorization pgclarify_owner")
        connection.execute("set role pgclarify_owner")
        # A conflict with one of our public functions: the same signature with another result type.
        connection.execute("create function pgclarify.cancel(run_ids bigint[]) returns text language sql as 'select 1'")

        with pytest.raises(psycopg.errors.InvalidFunctionDefinition):
            installer.install(dsn)

        assert connection.execute("select to_regclass('pgclarify_private.run')").fetchone() == (None,)
        assert connection.execute("select count(*) from pg_extension where extname = 'vector'").fetchone() == (0,)


@pytest.mark.parametrize("schema", ["pgclarify", "pgclarify_private"])
def test_a_schema_of_somebody_else_is_not_moved_into(
    make_role: Callable[..., str], make_database: Callable[..., str], schema: str
) -> None:
    dsn = make_database()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute(
            sql.SQL("create schema {} authorization {}").format(sql.Identifier(schema), sql.Identifier(make_role()))
        )

    with pytest.raises(ConfigurationError):
        installer.install(dsn)


@pytest.mark.parametrize(("relation", "column"), [("schema_version", "version_num"), ("applied_sql", "shipped_hash")])
def test_code_of_somebody_elses_schema_does_not_run_as_the_installer(
    make_role: Callable[..., str], make_database: Callable[..., str], relation: str, column: str
) -> None:
    dsn = make_database()
    stranger = make_role()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute(sql.SQL("create schema of_the_stranger authorization {}").format(sql.Identifier(stranger)))
        connection.execute(sql.SQL("create schema pgclarify_private authorization {}").format(sql.Identifier(stranger)))
        with closing(psycopg.connect(dsn, user=stranger, autocommit=True)) as attacker:
            # A sequence keeps its state when a transaction is rolled back.
            attacker.execute("create sequence of_the_stranger.runs")
            attacker.execute(
                "create function of_the_stranger.run() returns text language sql"
                " as $$ select nextval('of_the_stranger.runs')::text $$"
            )
            attacker.execute(
                sql.SQL("create view pgclarify_private.{} as select of_the_stranger.run() as {}").format(
                    sql.Identifier(relation), sql.Identifier(column)
                )
            )

        with pytest.raises(ConfigurationError):
            installer.install(dsn)

        assert connection.execute("select is_called from of_the_stranger.runs").fetchone() == (False,)


@pytest.mark.parametrize("revision", ["0001", "0015", "0017", "9999"])
def test_a_schema_that_there_is_no_way_from_is_left_alone(
    database: str, connection: psycopg.Connection[Any], revision: str
) -> None:
    connection.execute("update pgclarify_private.schema_version set version_num = %s", [revision])

    with pytest.raises(SchemaMismatch):
        installer.install(database)

    assert connection.execute("select version_num from pgclarify_private.schema_version").fetchone() == (revision,)
    assert connection.execute("select count(*) from pgclarify.corpus").fetchone() == (0,)


def test_checking_a_missing_schema_is_an_error(make_database: Callable[..., str]) -> None:
    with (
        closing(psycopg.connect(make_database(), autocommit=True)) as connection,
        pytest.raises(SchemaMismatch),
    ):
        versions.check_schema(connection)


def test_whoever_may_use_pgclarify_may_check_the_schema(
    connect: Callable[..., psycopg.Connection[Any]], make_role: Callable[..., str]
) -> None:
    for role in ("pgclarify_worker", "pgclarify_user", "pgclarify_reader"):
        versions.check_schema(connect(make_role(role)))
    with pytest.raises(SchemaMismatch):
        versions.check_schema(connect(make_role()))


def test_installing_into_a_missing_database_is_an_error(server: str) -> None:
    with pytest.raises(ServerUnavailable):
        installer.install(in_database(server, "there_is_none"))


def test_installing_keeps_what_rests_on_our_views(database: str, connection: psycopg.Connection[Any]) -> None:
    connection.execute("create view public.mine as select * from pgclarify.run")
    connection.execute("create view public.readings as select * from pgclarify.result(1)")

    installer.install(database)

    assert connection.execute("select count(*) from public.mine").fetchone() == (0,)
