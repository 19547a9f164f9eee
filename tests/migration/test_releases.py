"""A database of each release, with data and a run that waits, is upgraded. The first case is a dump of this version."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.errors import DatabaseError
from pgclarify.install import installer
from pgclarify.providers.extractive.verifier import PROMPT_VERSION
from tests.migration import catalog, releases
from tests.servers import copy_database, drop_database, in_database
from tests.sessions import scalar
from tests.workers import model_server, until, wait, wait_until_searchable, worker

OF_THIS_VERSION = "this version"
RELEASED = sorted(releases.FOLDER.glob("*.sql.gz"))
TABLES = """
    select c.oid::regclass::text from pg_class as c
    where c.relnamespace = 'pgclarify_private'::regnamespace and c.relkind = 'r' order by 1
"""
RESULT = "select interpretation, answer, support, cohesion, document_ids from pgclarify.result(%s)"
SUCCEEDED = "select count(*) from pgclarify.run where status = 'succeeded'"
PARTITIONS = """
    select c.relname from pg_inherits join pg_class as c on c.oid = pg_inherits.inhrelid
    where c.relnamespace = 'pgclarify_private'::regnamespace
    union all
    select proname from pg_proc where proname ~ '^(capture|read)_[0-9]'
    union all
    select relname from pg_class where relname ~ '^question_group_leader_[0-9]+_idx$'
"""


# What an upgrade changes on purpose; and the address and the password of the server, which is another one.
CHANGED = {f"pgclarify_private.{table}" for table in ("schema_version", "applied_sql", "loopback")}


@pytest.fixture(scope="module", autouse=True)
def people(admin: psycopg.Connection[Any], installed: Callable[[], AbstractContextManager[str]]) -> Iterator[None]:
    """The roles that dumps need."""
    with installed() as dsn, closing(psycopg.connect(dsn, autocommit=True)) as connection:
        releases.make_roles(connection)
    yield
    for role in releases.ROLES:
        admin.execute(f"drop role {role}".encode())


def rows(connection: psycopg.Connection[Any]) -> dict[str, list[dict[str, Any]]]:
    """All rows of our tables, and of a table that a corpus follows."""
    tables = [name for (name,) in connection.execute(TABLES).fetchall()] + ["public.help_article"]
    each = "select coalesce(jsonb_agg(to_jsonb(one) order by to_jsonb(one)), '[]') from {} as one"
    return {name: scalar(connection, each.format(name)) for name in tables}


def without(columns: Iterable[str], stored: Iterable[dict[str, Any]]) -> list[str]:
    """Rows without some columns, in an order that does not depend on these."""
    return sorted(json.dumps({name: row[name] for name in sorted(row.keys() - columns)}) for row in stored)


def differing(before: dict[str, list[dict[str, Any]]], after: dict[str, list[dict[str, Any]]]) -> list[str]:
    """The tables with other rows than before; columns that only one version has do not count."""

    def names(stored: list[dict[str, Any]]) -> set[str]:
        return {column for row in stored for column in row}

    return [
        table
        for table in before
        if without(names(after[table]) - names(before[table]), after[table])
        != without(names(before[table]) - names(after[table]), before[table])
    ]


def seen_by_people(connection: psycopg.Connection[Any]) -> dict[tuple[str, str], int]:
    """How many rows each role sees in each view that 0.2.0 has."""
    views = connection.execute(
        "select c.relname from pg_class as c where c.relnamespace = 'pgclarify'::regnamespace and c.relkind = 'v'"
        " and c.relname not in ('finding', 'worker_status', 'wait', 'queue_status') order by 1"
    ).fetchall()
    seen = {}
    for role in releases.ROLES:
        connection.execute(f"set session authorization {role}".encode())
        for (view,) in views:
            seen[role, view] = scalar(connection, f"select count(*) from pgclarify.{view}")  # noqa: S608
        connection.execute("reset session authorization")
    return seen


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
    [OF_THIS_VERSION, *(path.name for path in RELEASED)],
    indirect=True,
)
def test_an_upgrade_keeps_all_rows_and_answers_and_the_runs_that_wait(
    statements: bytes, database: str, make_database: Callable[..., str], tmp_path: Path
) -> None:
    dsn = make_database()
    releases.restore(statements, dsn)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        before = rows(connection)
        waiting = scalar(connection, "select run_id from pgclarify.run where status = 'queued'")
        answered = scalar(connection, SUCCEEDED)
        has_same_prompt = "select bool_or(prompt_version = %s) from pgclarify_private.completion"
        asked_again = 0 if scalar(connection, has_same_prompt, PROMPT_VERSION) else 1

        installer.install(dsn)

        after = rows(connection)
        assert set(differing(before, after)) <= CHANGED
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


EACH = pytest.mark.parametrize("version", [path.name.removesuffix(".sql.gz") for path in RELEASED])


@pytest.fixture
def version() -> str:
    """The release that is upgraded: 0.2.0, in which readings have a column confidence, unless a test says another."""
    return "0.2.0"


@pytest.fixture(scope="module")
def restored(server: str, admins: Sequence[psycopg.Connection[Any]], people: None) -> Iterator[Callable[[str], str]]:
    """Names of databases of releases. A dump is restored once."""
    made: dict[str, str] = {}

    def restore(version: str) -> str:
        if version not in made:
            made[version] = copy_database(admins, "template1")
            dump = gzip.decompress((releases.FOLDER / f"{version}.sql.gz").read_bytes())
            releases.restore(dump, in_database(server, made[version]))
        return made[version]

    yield restore
    for name in made.values():
        drop_database(admins[0], name)


@pytest.fixture
def released(version: str, restored: Callable[[str], str], make_database: Callable[..., str]) -> str:
    """A database of that release."""
    return make_database(restored(version))


@EACH
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


@EACH
def test_people_budgets_and_attached_tables_go_on_after_an_upgrade(released: str, tmp_path: Path) -> None:
    ask = "select * from pgclarify.clarify('mileage', 'rental')"
    with (
        closing(psycopg.connect(released, autocommit=True)) as connection,
        closing(psycopg.connect(released, autocommit=True, user=releases.ASKER)) as asker,
    ):
        # As the pages say of a restore: the roles of this server have other oids.
        connection.execute("select pgclarify_private.adopt_roles()")
        connection.execute("insert into help_article values (2, 'Parking is free on Sundays.')")
        before = seen_by_people(connection)
        spent = connection.execute("select name, calls, spent_usd, left_calls from pgclarify.budget").fetchall()
        answered = scalar(
            asker, "select array_agg(run_id order by run_id) from pgclarify.run where operation = 'clarify'"
        )
        results = [asker.execute(RESULT, [run_id]).fetchall() for run_id in answered]
        assert all(results)
        assert before[releases.ASKER, "investigation_step"] > 0
        assert before[releases.ANALYST, "document"] > before[releases.ASKER, "document"] > 0

        installer.install(released)

        after = seen_by_people(connection)
        # Views that are new have nothing yet.
        assert before.items() <= after.items()
        assert {view for view, rows in after.items() if rows and view not in before} == set()
        assert [asker.execute(RESULT, [run_id]).fetchall() for run_id in answered] == results
        assert connection.execute("select name, calls, spent_usd, left_calls from pgclarify.budget").fetchall() == spent
        connection.execute("update help_article set body = 'The shop is open from ten to five.' where id = 1")
        with model_server() as model, worker(released, model.base_url, tmp_path):
            warnings: list[str] = []
            asker.add_notice_handler(lambda said: warnings.append(said.message_primary or ""))
            asker.execute(ask.encode())
            assert any('budget "people" is spent' in warning for warning in warnings)
            # It does not bind others.
            assert connection.execute(ask.encode()).fetchall()
            assert scalar(connection, "select left_calls from pgclarify.budget") == 0
            wait_until_searchable(connection, "help")
            texts = "select array_agg(content order by id) from pgclarify.document where corpus_id = %s"
            corpus_id = scalar(connection, "select corpus_id from pgclarify.corpus where corpus = 'help'")
            expected = ["The shop is open from ten to five.", "Parking is free on Sundays."]
            until(lambda: scalar(connection, texts, corpus_id) == expected)
            found = "select document_id from pgclarify.search('parking', 'help', 1)"
            until(lambda: scalar(connection, found) == "2")


@pytest.mark.parametrize(
    ("version", "end"),
    [
        ("0.2.0", "raise exception 'no space left on device' using errcode = 'disk_full'"),
        ("0.3.0", "perform pg_terminate_backend(pg_backend_pid())"),
    ],
)
def test_an_upgrade_that_fails_or_is_killed_at_its_end_changes_nothing(released: str, version: str, end: str) -> None:
    with closing(psycopg.connect(released, autocommit=True)) as connection:
        connection.execute(
            f"""
            create function ends() returns event_trigger language plpgsql security definer as $$
            begin
                if exists (select from pg_event_trigger_ddl_commands() where object_identity ~ 'remove_budget') then
                    {end};
                end if;
            end
            $$;
            create event trigger at_the_end on ddl_command_end execute function ends();
            """.encode()
        )
        before = rows(connection), catalog.everything(connection)

        with pytest.raises(psycopg.OperationalError):
            installer.install(released)

        assert (rows(connection), catalog.everything(connection)) == before
        connection.execute("drop event trigger at_the_end")
    assert installer.install(released).previous == f"v{version.replace('.', '_')}"


@EACH
def test_a_copy_made_before_the_upgrade_works_as_before(released: str, make_database: Callable[..., str]) -> None:
    """The way back of docs/operations.md: what an upgrade gives to roles of the server does not hinder that release."""
    copy = make_database(psycopg.conninfo.conninfo_to_dict(released)["dbname"])
    with closing(psycopg.connect(copy, autocommit=True)) as connection:
        answers = connection.execute(releases.ASK).fetchall()
        before = rows(connection), catalog.everything(connection)

        installer.install(released)

        assert (rows(connection), catalog.everything(connection)) == before
        assert connection.execute(releases.ASK).fetchall() == answers != []
