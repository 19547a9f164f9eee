"""Whose code the functions of triggers run, as which role, and who may make triggers that call them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from pgclarify import embedded
from pgclarify.install.installer import install
from tests.integration.attaching import ATTACH, RESYNC, attach
from tests.integration.manual_worker import MakeWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

NO_TRIGGER_OF_OURS, DENIED = "39P01", "42501"
# As superuser, because a superuser sees all rows.
NOTED = """
    select relation::regclass::text, key
    from pgclarify_private.change cross join unnest(coalesce(keys, array[null])) as key
    order by relation::regclass::text, key
"""
LOOT = "select as_whom from pg_temp.loot"
# Code of a session that a name without a schema could find.
TRAP = """
    create temp table loot (as_whom text);
    grant all on loot to public;
    create function pg_temp.evil() returns bigint language plpgsql as
        'begin insert into pg_temp.loot values (current_user); return 1; end';
    create temp view new_rows as select pg_temp.evil() as id;
    create temp view old_rows as select pg_temp.evil() as id;
    grant select on new_rows, old_rows to public;
"""
# Roles that may execute the function of the source by grants, without its owner.
GRANTEES = """
    select privilege.grantee::regrole::text
    from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) as privilege
    where proname ~ '^capture_[0-9]+$' and privilege.grantee <> proowner
"""
OWNERS = "select distinct proowner::regrole::text from pg_proc where proname ~ '^capture_[0-9]+$'"


def listed(session: Connection, query: str) -> list[str]:
    return sorted(row[0] for row in session.execute(query.encode()))


def load(connection: Connection, source_id: int) -> None:
    """Load an attached table, as a worker does."""
    while scalar(connection, "select state from pgclarify_private.source") == "loading":
        connection.execute("select pgclarify_private.advance_source(%s, 'load', 1000, 1000000)", [source_id])


@pytest.fixture
def source_id(alice: Connection) -> int:
    """Of app.article, attached."""
    return attach(alice)


@pytest.fixture
def carol(alice: Connection, connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
    """Another user, who may use alice's schema app."""
    role = make_role("pgclarify_user", name="carol")
    connection.execute(f"grant usage, create on schema app to {role}".encode())
    return connect(role)


class TestOtherTriggers:
    """A user's own trigger without transition tables: names in its query then mean tables."""

    @pytest.mark.parametrize("event", ["insert", "update", "delete"])
    def test_no_user_can_make_one(self, carol: Connection, source_id: int, event: str) -> None:
        carol.execute("create temp table x (id bigint)")
        carol.execute(TRAP.encode())

        assert (
            sqlstate_of(
                carol,
                f"create trigger pgclarify_{source_id}_{event} after {event} on x for each statement"
                f" execute function pgclarify_private.capture_{source_id}()",
            )
            == DENIED
        )

    @pytest.mark.parametrize("event", ["insert", "update", "delete"])
    def test_a_statement_trigger_of_the_tables_owner_runs_no_code_of_a_session(
        self, alice: Connection, connection: Connection, source_id: int, event: str
    ) -> None:
        alice.execute(f"drop trigger pgclarify_{source_id}_{event} on app.article".encode())
        alice.execute(
            f"create trigger mine after {event} on app.article for each statement"
            f" execute function pgclarify_private.capture_{source_id}()".encode()
        )
        alice.execute(TRAP.encode())
        write = {
            "insert": "insert into app.article (id) values (7)",
            "update": "update app.article set id = id",
            "delete": "delete from app.article",
        }

        assert sqlstate_of(alice, write[event]) == NO_TRIGGER_OF_OURS
        assert listed(alice, LOOT) == []
        assert connection.execute(NOTED).fetchall() == []

    def test_a_trigger_of_the_tables_owner_on_another_table_changes_no_document(
        self, alice: Connection, connection: Connection, source_id: int
    ) -> None:
        load(connection, source_id)
        alice.execute("create table app.other (like app.article)")
        alice.execute(
            f"create trigger mine after insert or delete on app.other for each row"
            f" execute function pgclarify_private.capture_{source_id}()".encode()
        )
        alice.execute("insert into app.other (id) values (1); delete from app.other")

        assert (
            scalar(connection, "select pgclarify_private.advance_source(%s, 'changes', 1000, 1000000)", source_id) == 2
        )

        assert listed(connection, "select id from pgclarify_private.document") == ["1", "2"]
        assert scalar(connection, "select state from pgclarify_private.source") == "following"

    @pytest.mark.committed
    def test_a_trigger_made_after_the_snapshot_runs_no_foreign_code(
        self, alice: Connection, connect: Connect, connection: Connection, source_id: int
    ) -> None:
        """In such a transaction the catalogs show the trigger as it was."""
        other = connect(alice.info.user)
        alice.execute(TRAP.encode())
        alice.execute("begin isolation level repeatable read; select 1")
        other.execute(f"drop trigger pgclarify_{source_id}_insert on app.article".encode())
        other.execute(
            f"create trigger pgclarify_{source_id}_insert after insert on app.article for each statement"
            f" execute function pgclarify_private.capture_{source_id}()".encode()
        )

        assert sqlstate_of(alice, "insert into app.article (id) values (7)") == NO_TRIGGER_OF_OURS

        alice.execute("rollback")
        assert listed(alice, LOOT) == []
        assert connection.execute(NOTED).fetchall() == []


@pytest.mark.committed
@pytest.mark.parametrize("role", ["origin", "replica"])
def test_no_cast_of_the_owners_is_called(
    alice: Connection, connect: Connect, connection: Connection, role: str
) -> None:
    """The id's type can become a type of the owner after the snapshot of our check."""
    alice.execute("create table app.typed (id text unique, body text)")
    attach(alice, "app.typed")
    alice.execute("create type app.letter as enum ('a', 'b')")
    writer = connect()
    writer.execute(f"set session_replication_role = {role}".encode())
    writer.execute("begin isolation level repeatable read; select 1")
    alice.execute("alter table app.typed alter column id type app.letter using id::app.letter")
    alice.execute(
        "create function app.evil(app.letter) returns text language plpgsql as"
        " $$ begin raise 'run by %', current_user; end $$"
    )
    alice.execute("create cast (app.letter as text) with function app.evil(app.letter)")

    writer.execute("insert into app.typed values ('a'); commit")

    assert connection.execute(NOTED).fetchall() == [("app.typed", None)]


class TestRole:
    """Functions of triggers run as a role that may append to pgclarify_private.change, and nothing else."""

    @pytest.fixture
    def attempt(self, connection: Connection, source_id: int) -> Callable[[str], str | None]:
        """The SQLSTATE of a statement that a function of that role executes."""
        connection.execute("create schema trial; grant usage, create on schema trial to pgclarify_capture")
        connection.execute(
            "create function trial.attempt(text) returns void language plpgsql as $$ begin execute $1; end $$"
        )
        connection.execute("alter function trial.attempt(text) owner to pgclarify_capture")
        connection.execute("alter function trial.attempt(text) security definer")
        connection.execute("revoke all on schema trial from pgclarify_capture")
        return lambda statement: sqlstate_of(
            connection, "select trial.attempt(%s)", [statement.replace("_capture_N", f"capture_{source_id}")]
        )

    @parametrize_in_one_test(
        "statement",
        [
            "select * from pgclarify.document",
            "select * from pgclarify_private.change",
            "select * from pgclarify_capture.change",
            "delete from pgclarify_capture.change",
            "select * from app.article",
            "select pgclarify.create_corpus('mine')",
            "set local role pgclarify_owner",
            "grant pgclarify_capture to current_user",
            # It cannot name its own functions, so it can neither change them nor move them to another schema.
            "grant execute on function pgclarify_private.capture_N() to public",
            "alter function pgclarify_private.capture_N() security invoker",
            "alter function pgclarify_private.capture_N() set schema pgclarify_capture",
            "drop function pgclarify_private.capture_N() cascade",
            "create or replace function pgclarify_private.capture_N() returns trigger language plpgsql as 'begin end'",
            "create function pgclarify.mine() returns integer language sql as 'select 1'",
            "create or replace view pgclarify_capture.new_rows as select 1 as id",
            "drop view pgclarify_capture.new_rows",
            "drop schema pgclarify_capture cascade",
        ],
    )
    def test_may_do_nothing_else(self, attempt: Callable[[str], str | None], statement: str) -> None:
        assert attempt(statement) == DENIED

    def test_may_append(self, attempt: Callable[[str], str | None]) -> None:
        assert attempt("insert into pgclarify_capture.change (source_id, relation, keys) values (1, 1, '{1}')") is None

    def test_runs_them_and_owns_nothing_else(self, connection: Connection, source_id: int) -> None:
        assert listed(connection, OWNERS) == ["pgclarify_capture"]
        owned = connection.execute(
            "select classid::regclass::text, objid from pg_shdepend where refobjid = 'pgclarify_capture'::regrole"
            " and deptype = 'o' and dbid = (select oid from pg_database where datname = current_database())"
        ).fetchall()
        assert owned == [
            ("pg_proc", scalar(connection, "select %s::regproc::oid", f"pgclarify_private.capture_{source_id}"))
        ]
        assert scalar(
            connection,
            "select not rolcanlogin and not rolsuper and not rolcreaterole and not rolbypassrls and not exists"
            " (select from pg_auth_members where member = 'pgclarify_capture'::regrole)"
            " from pg_roles where rolname = 'pgclarify_capture'",
        )


class TestWhoMayMakeTriggers:
    def test_the_tables_owner_alone(self, alice: Connection, connection: Connection, source_id: int) -> None:
        assert listed(connection, GRANTEES) == [alice.info.user]

    def test_follows_the_table_to_another_owner(
        self, alice: Connection, carol: Connection, connection: Connection, source_id: int
    ) -> None:
        connection.execute(f"alter table app.article owner to {carol.info.user}".encode())

        connection.execute("select pgclarify_private.inspect_sources()")

        assert listed(connection, GRANTEES) == [carol.info.user]

    @pytest.mark.committed
    def test_two_workers_notice_another_owner_at_once(
        self, alice: Connection, carol: Connection, connection: Connection, source_id: int, make_worker: MakeWorker
    ) -> None:
        connection.execute(f"alter table app.article owner to {carol.info.user}".encode())
        first, second = make_worker(), make_worker()
        second.connection.execute("set statement_timeout = '2s'")
        with first.connection.transaction():
            first.send("inspect_sources")

            second.send("inspect_sources")

        assert listed(connection, GRANTEES) == [carol.info.user]

    def test_resync_grants_it_anew(self, alice: Connection, connection: Connection, source_id: int) -> None:
        connection.execute(
            f"revoke all on function pgclarify_private.capture_{source_id}() from {alice.info.user}".encode()
        )
        connection.execute(f"grant execute on function pgclarify_private.capture_{source_id}() to public".encode())

        alice.execute(RESYNC)

        assert listed(connection, GRANTEES) == [alice.info.user]

    def test_a_new_owner_adds_partitions(self, alice: Connection, carol: Connection, connection: Connection) -> None:
        alice.execute(
            "create table app.event (id bigint, body text, year integer, unique (id, year)) partition by list (year)"
        )
        attach(alice, "app.event")
        alice.execute("create table app.event_2024 partition of app.event for values in (2024)")
        connection.execute(f"alter table app.event owner to {carol.info.user}".encode())
        connection.execute("select pgclarify_private.inspect_sources()")

        carol.execute("create table app.event_2025 partition of app.event for values in (2025)")
        carol.execute("insert into app.event values (1, 'a', 2024), (2, 'b', 2025)")

        assert connection.execute(NOTED).fetchall() == [("app.event_2024", "1"), ("app.event_2025", "2")]


class TestUsersStatementsGoOn:
    @pytest.mark.committed
    def test_in_a_transaction_older_than_the_triggers(
        self, alice: Connection, connect: Connect, connection: Connection
    ) -> None:
        other = connect(alice.info.user)
        other.execute("begin isolation level repeatable read; select 1")
        alice.execute(ATTACH)

        other.execute(
            "insert into app.article (id) values (7); delete from app.article where id = 7; truncate app.article"
        )
        other.execute("commit")

        assert set(connection.execute(NOTED).fetchall()) == {("app.article", "7"), ("app.article", None)}

    def test_writes_to_a_detached_partition_go_on(self, alice: Connection, connection: Connection) -> None:
        alice.execute(
            "create table app.event (id bigint, body text, year integer, unique (id, year)) partition by list (year)"
        )
        alice.execute("create table app.event_2024 partition of app.event for values in (2024)")
        attach(alice, "app.event")
        alice.execute("alter table app.event detach partition app.event_2024")

        alice.execute("insert into app.event_2024 values (1, 'a', 2024); truncate app.event_2024")

        assert connection.execute(NOTED).fetchall() == [("app.event_2024", None)]

    def test_writes_to_a_renamed_or_moved_table_go_on(
        self, alice: Connection, connection: Connection, source_id: int
    ) -> None:
        alice.execute("alter table app.article rename to paper")
        connection.execute(f"create schema other authorization {alice.info.user}".encode())
        alice.execute("alter table app.paper set schema other")

        alice.execute("insert into other.paper (id) values (7)")

        assert connection.execute(NOTED).fetchall() == [("other.paper", "7")]

    def test_writes_go_on_after_the_corpus_is_gone(
        self, alice: Connection, connection: Connection, source_id: int
    ) -> None:
        connection.execute("delete from pgclarify_private.source")

        alice.execute("insert into app.article (id) values (7); truncate app.article")

        assert set(connection.execute(NOTED).fetchall()) == {("app.article", "7"), ("app.article", None)}


@pytest.mark.committed
def test_functions_of_an_earlier_version_are_made_anew(
    alice: Connection, connection: Connection, database: str, source_id: int
) -> None:
    name = f"pgclarify_private.capture_{source_id}()"
    before = scalar(connection, "select %s::regprocedure::oid", name)
    definition = scalar(connection, "select pg_get_functiondef(%s::regprocedure)", name)
    connection.execute(definition.replace("tg_op = 'INSERT'", "tg_op = 'OTHER'").encode())
    connection.execute(f"alter function {name} owner to pgclarify_owner".encode())
    connection.execute(f"grant execute on function {name} to pgclarify_user".encode())
    # Something has to be applied.
    connection.execute("update pgclarify_private.applied_sql set shipped_hash = ''")

    install(database)

    assert scalar(connection, "select %s::regprocedure::oid", name) == before
    assert scalar(connection, "select pg_get_functiondef(%s::regprocedure)", name) == definition
    assert listed(connection, OWNERS) == ["pgclarify_capture"]
    assert listed(connection, GRANTEES) == [alice.info.user]
    alice.execute("insert into app.article (id) values (7)")
    assert connection.execute(NOTED).fetchall() == [("app.article", "7")]


@pytest.mark.committed
def test_a_restored_dump_notes_changes(
    alice: Connection, connection: Connection, database: str, make_database: Callable[..., str], tmp_path: Path
) -> None:
    alice.execute(
        "create table app.event (id bigint, body text, year integer, unique (id, year)) partition by list (year)"
    )
    alice.execute("create table app.event_2024 partition of app.event for values in (2024)")
    attach(alice)
    attach(alice, "app.event")
    restored = make_database()
    dump = tmp_path / "dump.sql"
    subprocess.run([embedded.binary("pg_dump"), database, "-f", dump], check=True)
    # So that the numbers of the tables are others.
    with closing(psycopg.connect(restored, autocommit=True)) as there:
        there.execute("create table public.first (id bigint)")

    subprocess.run([embedded.binary("psql"), restored, "-q", "-v", "ON_ERROR_STOP=1", "-f", dump], check=True)

    with (
        closing(psycopg.connect(restored, autocommit=True)) as there,
        closing(psycopg.connect(restored, user=alice.info.user, autocommit=True)) as owner,
    ):
        there.execute("truncate pgclarify_private.change")
        owner.execute("insert into app.article (id) values (7); insert into app.event values (1, 'a', 2024)")
        owner.execute("create table app.event_2025 partition of app.event for values in (2025)")
        owner.execute("insert into app.event values (2, 'b', 2025)")
        assert there.execute(NOTED).fetchall() == [
            ("app.article", "7"),
            ("app.event_2024", "1"),
            ("app.event_2025", "2"),
        ]
        assert listed(there, OWNERS) == ["pgclarify_capture"]
        assert set(listed(there, GRANTEES)) == {alice.info.user}
