"""A database of each release, with data and a run that waits, is upgraded. The first case is a dump of this version."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.errors import DatabaseError
from pgclarify.install import installer
from pgclarify.providers.extractive.verifier import PROMPT_VERSION
from tests.migration import catalog, releases
from tests.sessions import scalar
from tests.workers import wait, worker

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
        has_same_prompt = "select bool_or(prompt_version = %s) from pgclarify_private.completion"
        asked_again = 0 if scalar(connection, has_same_prompt, PROMPT_VERSION) else 1

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
        # An answer before the upgrade is served again, unless the verifier gives others since then.
        assert scalar(connection, SUCCEEDED) == answered + 1 + asked_again


@pytest.fixture
def released(make_database: Callable[..., str]) -> str:
    """A database of 0.2.0, in which readings have a column confidence."""
    dsn = make_database()
    releases.restore(gzip.decompress((releases.FOLDER / "0.2.0.sql.gz").read_bytes()), dsn)
    return dsn


def test_objects_of_users_that_do_not_read_a_removed_column_keep_working(
    released: str, make_role: Callable[..., str]
) -> None:
    reporting = make_role()
    with closing(psycopg.connect(released, autocommit=True)) as connection:
        connection.execute(f"create view asked as {releases.ASK}".encode())
        connection.execute(f"grant select on pgclarify.interpretation to {reporting}".encode())
        connection.execute("""
            create view found as
                select document_id from pgclarify.search('deductible', 'rental', 5, '{"method": "lexical"}');
            create view added as select pgclarify.add_document('rental', id, body, title => 'T') as added
                from (values ('later', 'A later document.')) as given (id, body);
            create view shown as select run_id, ordinal, interpretation, answer from pgclarify.interpretation;
            create view whole as select found as reading from pgclarify.interpretation as found;
            create materialized view kept as select * from shown;
            create function spoken(reading pgclarify.interpretation) returns text language sql
                begin atomic select reading.answer; end;
        """)
        reads = (
            "select * from asked",
            "select * from found",
            "select * from shown",
            "select (reading).answer, spoken(reading) from whole",
            "select * from kept",
        )
        before = [connection.execute(read.encode()).fetchall() for read in reads]
        assert all(before)

        installer.install(released)

        # Its functions got parameters: new calls find these, and views keep the earlier ones.
        later = "select document_id from pgclarify.search('deductible', 'rental', 5, '{\"method\": \"lexical\"}', '{}')"
        assert connection.execute(later.encode()).fetchall() == before[1]
        assert scalar(connection, "select added from added")
        assert scalar(connection, "select pgclarify.add_document('rental', 'dated', 'A.', dated => '2026-01-01')")
        connection.execute("refresh materialized view kept")
        assert [connection.execute(read.encode()).fetchall() for read in reads] == before
        new = "select run_id, ordinal, interpretation, answer from pgclarify.interpretation"
        assert connection.execute(new).fetchall() == before[2]
        assert scalar(connection, "select has_table_privilege(%s, 'pgclarify.interpretation', 'select')", reporting)


def test_an_upgrade_names_all_objects_that_need_a_removed_column_and_changes_nothing(released: str) -> None:
    objects = {
        "view likely": "as select answer, confidence from pgclarify.clarify('deductible for hail', 'rental')",
        "view asked": "as select * from pgclarify.clarify_many(array['deductible for hail'])",
        "materialized view shown": "as select * from pgclarify.interpretation",
        "table copied": "(reading pgclarify.clarification)",
        "function highest()": "returns real begin atomic select max(confidence) from pgclarify.interpretation; end",
    }
    with closing(psycopg.connect(released, autocommit=True)) as connection:
        for name, definition in objects.items():
            connection.execute(f"create {name} {definition}".encode())
        before = catalog.everything(connection)

        with pytest.raises(DatabaseError) as refused:
            installer.install(released)

        assert refused.value.sqlstate == "2BP01"
        named = {f"public.{name.split()[-1]}" for name in objects}
        assert {name for name in named if name in str(refused.value.detail)} == named
        assert catalog.everything(connection) == before

        for name in objects:
            connection.execute(f"drop {name}".encode())
        assert installer.install(released).previous == "v0_2_0"
