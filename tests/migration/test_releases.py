"""A database of each release, with data and a run that waits, is upgraded. The first case is a dump of this version."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.install import installer
from tests.migration import catalog, releases
from tests.workers import scalar, wait, worker

OF_THIS_VERSION = "this version"
TABLES = """
    select c.oid::regclass::text from pg_class as c
    where c.relnamespace = 'pgclarify_private'::regnamespace and c.relkind = 'r' order by 1
"""
SUCCEEDED = "select count(*) from pgclarify.run where status = 'succeeded'"
PARTITIONS = """
    select c.relname from pg_inherits join pg_class as c on c.oid = pg_inherits.inhrelid
    where c.relnamespace = 'pgclarify_private'::regnamespace
    union all
    select proname from pg_proc where proname ~ '^(capture|read)_[0-9]'
    union all
    select relname from pg_class where relname ~ '^question_group_leader_[0-9]+_idx$'
"""


def counts(connection: psycopg.Connection[Any]) -> dict[str, int]:
    tables = [name for (name,) in connection.execute(TABLES).fetchall()]
    return {name: scalar(connection, f"select count(*) from {name}") for name in tables}  # noqa: S608


@pytest.fixture
def statements(
    request: pytest.FixtureRequest, installed: Callable[[], AbstractContextManager[str]], tmp_path: Path
) -> bytes:
    if request.param != OF_THIS_VERSION:
        return gzip.decompress((releases.FOLDER / request.param).read_bytes())
    with installed() as dsn:
        releases.fill(dsn, tmp_path)
        return releases.dump(dsn)


@pytest.mark.parametrize(
    "statements",
    [OF_THIS_VERSION, *sorted(path.name for path in releases.FOLDER.glob("*.sql.gz"))],
    indirect=True,
)
def test_an_upgrade_keeps_all_rows_and_answers_and_the_runs_that_wait(
    statements: bytes, database: str, make_database: Callable[..., str], tmp_path: Path
) -> None:
    dsn = make_database()
    releases.restore(statements, dsn)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        before = counts(connection)
        waiting = scalar(connection, "select run_id from pgclarify.run where status = 'queued'")
        answered = scalar(connection, SUCCEEDED)

        installer.install(dsn)

        after = counts(connection)
        assert {table: after[table] for table in before} == before
        made_at_run_time = {name for (name,) in connection.execute(PARTITIONS).fetchall()}
        with closing(psycopg.connect(database, autocommit=True)) as fresh:
            expected, found = catalog.everything(fresh), catalog.everything(connection)
        assert expected - found == set()
        assert [line for line in found - expected if not any(name in line for name in made_at_run_time)] == []

        with worker(dsn, None, tmp_path):
            assert wait(connection, [waiting]) == ["succeeded"]
            fees = connection.execute("select * from pgclarify.result(%s)", [waiting]).fetchall()
            assert "ninety dollars" in str(fees)
            readings = connection.execute(releases.ASK).fetchall()
            assert "four hundred dollars" in str(readings)
        assert scalar(connection, SUCCEEDED) == answered + 1, "the answer before the upgrade is served again"
