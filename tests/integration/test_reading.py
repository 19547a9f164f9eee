"""Reading attached tables runs code of their owners: it reads nothing of others, and nothing that it does lasts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from pgclarify.database.pool import fetch, open_pool
from pgclarify.database.reading import ReadingSession
from pgclarify.errors import DatabaseBusy
from pgclarify.install import installer
from pgclarify.worker.sources import Sources
from tests.integration.attaching import (
    ATTACH,
    DETACH,
    RESYNC,
    STATE,
    attach,
    reader_of,
    refusal,
)
from tests.integration.by_hand import Connect, Connection, Hire, MakeRole, at_once, scalar, state_of
from tests.integration.test_privileges import listed
from tests.migration.test_objects import rows
from tests.workers import as_role, until

pytestmark = pytest.mark.rolled_back

# Taken by code when it runs, in the session that it runs in. What is rolled back does not release it.
RAN = 4711
HAS_RUN = f"select count(*) > 0 from pg_locks where locktype = 'advisory' and objid = {RAN}"  # noqa: S608 - a constant
BATCH = {"max_changes": 9, "max_bytes": 1000}
NEXT_KEYS = (
    "select pgclarify_private.next_keys(source, 10, 1000) from pgclarify_private.source"
    " where relation = 'bobs.note'::regclass"
)
ROWS_TO_LOAD = "select pgclarify_private.rows_to_load(caller, {}) from pgclarify_private.caller"
CHECK_IDS = "select pgclarify_private.check_ids(caller, {}) from pgclarify_private.caller"

GRANTED = """
    select granted.grantee::regrole::text from pg_attribute cross join lateral aclexplode(attacl) as granted
    where attrelid = 'app.article'::regclass
"""

Plant = Callable[..., None]


@pytest.fixture
def note(alice: Connection, bob: Connection, connection: Connection) -> int:
    """The source of Bob's table "bobs.note", beside Alice's in schema "app", which everybody may use."""
    attach(alice)
    alice.execute("grant usage on schema app to public")
    connection.execute(f"create schema bobs authorization {bob.info.user}".encode())
    bob.execute("grant usage on schema bobs to public")
    bob.execute("create table bobs.note (id bigint primary key, body text)")
    bob.execute("insert into bobs.note values (1, 'Ships.')")
    bob.execute("create table bobs.loot (who text, said text)")
    bob.execute("grant insert on bobs.loot to public")
    bob.execute("select pgclarify.add_document('bobs', 'x', 'By hand.')")
    return attach(bob, "bobs.note", "bobs")


@pytest.fixture
def plant(note: int, bob: Connection, connection: Connection) -> Plant:
    """Lets reading "bobs.note" run code of Bob's, which makes no index on it himself.

    is_overlooked: Let the worker's look at the table miss it, as if the index had been made after that.
    """

    def make(code: str, *, declared: str = "", is_overlooked: bool = False) -> None:
        bob.execute(
            f"create function bobs.work() returns boolean language plpgsql as $work$ declare v_text text; {declared}"
            f" begin perform pg_advisory_lock({RAN}); {code} return true; end $work$;"
            # Who makes the index runs it, too.
            " create function bobs.spy() returns boolean language plpgsql immutable as $spy$ begin"
            f" return current_user = '{bob.info.user}' or bobs.work(); end $spy$".encode()
        )
        bob.execute("create index spied on bobs.note (id) where bobs.spy()")
        if is_overlooked:
            connection.execute("alter function bobs.spy() owner to postgres")

    return make


class TestWhatItReads:
    @pytest.mark.parametrize("call", [ROWS_TO_LOAD, CHECK_IDS])
    def test_in_a_users_session(self, note: int, plant: Plant, bob: Connection, call: str) -> None:
        plant("select string_agg(body, ' ') into v_text from app.article; insert into bobs.loot values ('a', v_text);")

        assert state_of(bob, call.format(note)) == "42501"

        assert scalar(bob, HAS_RUN)
        assert rows(bob, "select said from bobs.loot") == []

    @pytest.mark.parametrize("code", ["perform body from bobs.page;", "perform from pg_class;"])
    def test_it_may_read_what_is_its_owners_and_everybodys(
        self, note: int, plant: Plant, bob: Connection, code: str
    ) -> None:
        bob.execute("create table bobs.page (id bigint primary key, body text)")
        attach(bob, "bobs.page", "bobs", id_prefix="page/")
        plant(code)

        assert state_of(bob, ROWS_TO_LOAD.format(note)) is None
        assert scalar(bob, HAS_RUN)

    @pytest.mark.committed
    def test_through_a_worker_that_looked_too_early(
        self, note: int, bob: Connection, connection: Connection, connect: Connect, hire: Hire
    ) -> None:
        worker = hire()
        worker.open_spaces()
        worker.follow_everything()
        planting = connect(bob.info.user)
        planting.execute(
            "create function bobs.spy() returns boolean language plpgsql immutable as $spy$"  # noqa: S608 - of a test
            f" declare v_text text; begin if current_user = '{bob.info.user}' then return true; end if;"
            f" perform pg_advisory_lock({RAN}); select string_agg(body, ' ') into v_text from app.article;"
            " raise exception 'It says: %', v_text; end $spy$".encode()
        )
        waits = "select count(*) from pg_locks where not granted and pid = %s"
        process_id = worker.connection.info.backend_pid
        with ThreadPoolExecutor(1) as pool:
            # The worker gives up after half a second, and this machine may be slower.
            while not scalar(connection, HAS_RUN):
                bob.execute("drop index if exists bobs.spied")
                bob.execute("select pgclarify.resync('bobs', 'bobs.note')")
                worker.follow_everything()
                bob.execute("update bobs.note set body = body || 'x'")
                planting.execute("begin")
                planting.execute("lock table bobs.note in access exclusive mode")
                following = pool.submit(worker.send, "follow_changes", source_id=note, **BATCH)
                while not (following.done() or scalar(connection, waits, process_id)):
                    pass
                planting.execute("create index spied on bobs.note (id) where bobs.spy()")
                planting.execute("commit")
                following.result()

        ((state, error),) = bob.execute("select state, error from pgclarify.source_status").fetchall()
        assert state == "failed"
        assert "Cars." not in error

    def test_no_text_of_an_error_is_passed_on(self, plant: Plant, connection: Connection) -> None:
        plant("raise division_by_zero using message = 'Ships.', detail = 'Ships.', hint = 'Ships.';")

        diagnostic = refusal(connection, NEXT_KEYS)

        assert diagnostic.sqlstate == "22012"
        for text in (
            diagnostic.message_primary,
            diagnostic.message_detail,
            diagnostic.message_hint,
            diagnostic.context,
        ):
            assert "Ships." not in (text or "")

    @pytest.mark.parametrize(
        ("raised", "state"),
        [
            ("23514", "23514"),
            ("40001", "40001"),
            ("57014", "57014"),
            # What these mean to a worker is not for others to say.
            ("PC000", "38000"),
            ("PC006", "38000"),
            ("08006", "38000"),
            ("57P01", "38000"),
            ("P0004", "38000"),
        ],
    )
    def test_the_code_of_an_error(self, plant: Plant, connection: Connection, raised: str, state: str) -> None:
        plant(f"raise exception using errcode = '{raised}';")

        assert state_of(connection, NEXT_KEYS) == state

    def test_nobody_runs_code_of_others_by_attaching_a_table(
        self, alice: Connection, bob: Connection, connection: Connection, make_role: MakeRole
    ) -> None:
        """Tables of one corpus are compared in the session of who attaches one while the other is being loaded."""
        team = make_role(name="team")
        connection.execute(f"grant {team} to {alice.info.user}, {bob.info.user}".encode())
        connection.execute(f"update pgclarify.corpus set owner = '{team}', owner_oid = '{team}'::regrole")  # noqa: S608 - of a test
        connection.execute(f"create schema bobs authorization {bob.info.user}".encode())
        bob.execute("create table bobs.note (id bigint primary key, body text)")
        attach(bob, "bobs.note")
        connection.execute(
            "create function bobs.spy() returns boolean language plpgsql immutable as"
            f" $$ begin if current_user <> '{bob.info.user}' then perform pg_advisory_lock({RAN}); end if;"
            " return true; end $$;"
            " create index on bobs.note (id) where bobs.spy()"
        )

        attach(alice)

        assert not scalar(connection, HAS_RUN)


class TestWhatItDoes:
    def test_nothing_lasts(self, plant: Plant, bob: Connection, connection: Connection) -> None:
        bob.execute(
            "create function bobs.later() returns trigger language plpgsql as"
            " $$ begin insert into bobs.loot values (current_user, 'later'); return null; end $$"
        )
        bob.execute("create table bobs.trap (id bigint); grant insert on bobs.trap to public")
        bob.execute(
            "create constraint trigger later after insert on bobs.trap deferrable initially deferred"
            " for each row execute function bobs.later()"
        )
        plant(
            "insert into bobs.loot values (current_user, 'now'); insert into bobs.trap values (1);"
            " create temporary table pg_class_too (); execute 'listen gossip';"
            " perform set_config('search_path', 'bobs', false); perform set_config('work_mem', '64kB', false);"
        )
        settings = "select array[current_setting('search_path'), current_setting('work_mem')]"
        before = scalar(connection, settings)

        assert scalar(connection, NEXT_KEYS) == ["1"]

        assert scalar(connection, HAS_RUN)
        assert rows(bob, "select said from bobs.loot") == []
        assert scalar(connection, settings) == before
        assert scalar(connection, "select to_regclass('pg_temp.pg_class_too') is null")
        assert rows(connection, "select pg_listening_channels()") == []

    @pytest.mark.committed
    def test_a_workers_prepared_statements_are_not_replaced(
        self, plant: Plant, bob: Connection, connection: Connection, database: str, hire: Hire
    ) -> None:
        hired = hire()
        hired.open_spaces()
        login = as_role(database, str(hired.connection.info.user))
        bob.execute(
            "create function bobs.catch() returns bigint language plpgsql as"
            " $$ begin insert into bobs.loot values (current_user, 'caught'); return 1; end $$"
        )
        plant(
            "for v_row in select * from pg_prepared_statements loop"
            " execute format('deallocate %I', v_row.name);"
            " execute format('prepare %I%s as select id as source_id, ''load''::text as work"
            " from bobs.catch() as id where id < 0', v_row.name,"
            " '(' || nullif(array_to_string(v_row.parameter_types, ', '), '') || ')'); end loop;",
            declared="v_row record;",
            is_overlooked=True,
        )

        async def work() -> None:
            async with open_pool(login) as pool:
                for _ in range(9):
                    await fetch(pool, "list_waiting_sources")
                sources = Sources(login, pool)
                await sources.follow()
                for _ in range(9):
                    await fetch(pool, "list_waiting_sources")
                await sources.close()

        asyncio.run(work())

        assert rows(bob, "select who from bobs.loot") == []
        state = "select state from pgclarify_private.source where relation = 'bobs.note'::regclass"
        assert rows(connection, state) == ["following"]

    @pytest.mark.committed
    def test_what_a_session_keeps_is_forgotten(
        self, plant: Plant, connection: Connection, database: str, make_role: MakeRole, note: int
    ) -> None:
        plant("", is_overlooked=True)
        login = as_role(database, make_role("pgclarify_worker"))

        async def work() -> None:
            async with open_pool(login) as pool:
                session = ReadingSession(login, pool)
                for _ in range(2):
                    await session.fetch("load_source", source_id=note, max_rows=9, max_bytes=1000)
                assert scalar(connection, HAS_RUN)
                await session.fetch("list_waiting_sources")
                assert not scalar(connection, HAS_RUN)
                await session.close()

        asyncio.run(work())

    @pytest.mark.committed
    def test_code_that_never_ends_is_ended(
        self, plant: Plant, connection: Connection, database: str, make_role: MakeRole, note: int
    ) -> None:
        plant(
            "loop begin perform pg_sleep(60); exception when query_canceled then null; end; end loop;",
            is_overlooked=True,
        )
        login = as_role(database, make_role("pgclarify_worker"))

        async def work() -> None:
            async with open_pool(login) as pool:
                session = ReadingSession(login, pool, most_seconds=1)
                with pytest.raises(DatabaseBusy):
                    await session.fetch("load_source", source_id=note, max_rows=9, max_bytes=1000)
                assert await session.fetch("list_waiting_sources")
                await session.close()

        asyncio.run(work())

        until(lambda: not scalar(connection, HAS_RUN))


class TestReaders:
    def test_one_for_each_owner(self, note: int, alice: Connection, connection: Connection) -> None:
        first, second = reader_of(connection), reader_of(connection, "bobs.note")
        assert first != second
        may = "select has_column_privilege(%s, %s, 'body', 'select')"
        for role, table, is_allowed in (
            (first, "app.article", True),
            (second, "bobs.note", True),
            (first, "bobs.note", False),
            (second, "app.article", False),
        ):
            assert scalar(connection, may, role, table) is is_allowed

    @pytest.mark.committed
    def test_two_owners_at_once(self, bob: Connection, alice: Connection, connection: Connection) -> None:
        connection.execute(f"create schema bobs authorization {bob.info.user}".encode())
        bob.execute("create table bobs.note (id bigint primary key, body text)")

        assert at_once(lambda: attach(alice), lambda: attach(bob, "bobs.note", "bobs")) == [None, None]

    def test_it_goes_with_the_last_table(self, alice: Connection, connection: Connection, hire: Hire) -> None:
        worker = hire()
        alice.execute("create table app.page (id bigint primary key, body text)")
        attach(alice)
        attach(alice, "app.page", id_prefix="page/")
        reader = reader_of(connection)
        is_there = "select count(*) from pg_roles where rolname = %s"

        alice.execute(DETACH.encode())
        assert worker.send("drop_idle_reader") == [{"dropped": None}]
        with alice.transaction():
            alice.execute("select pgclarify.detach_table('kb', 'app.page')")
        assert worker.send("drop_idle_reader")[0]["dropped"] is not None

        assert worker.send("drop_idle_reader") == [{"dropped": None}]
        assert scalar(connection, is_there, reader) == 0
        assert attach(alice)
        assert scalar(connection, is_there, reader) == 1

    @pytest.mark.committed
    def test_not_while_a_table_is_being_attached(self, alice: Connection, connection: Connection, hire: Hire) -> None:
        worker = hire()
        attach(alice)
        alice.execute(DETACH.encode())
        with alice.transaction():
            attach(alice)
            with pytest.raises(psycopg.errors.LockNotAvailable):
                worker.send("drop_idle_reader")
        assert worker.send("drop_idle_reader") == [{"dropped": None}]

    def test_a_role_that_somebody_else_made_is_not_used(
        self, alice: Connection, bob: Connection, connection: Connection, admin: Connection
    ) -> None:
        reader = reader_of(connection)
        admin.execute(f"create role {reader}".encode())
        admin.execute(f"grant {reader} to {bob.info.user}".encode())
        try:
            assert state_of(alice, ATTACH) == "55000"
        finally:
            admin.execute(f"drop role {reader}".encode())
        assert state_of(alice, ATTACH) is None

    def test_a_table_of_another_owner_is_read_by_that_ones_reader(
        self, note: int, alice: Connection, bob: Connection, connection: Connection, hire: Hire
    ) -> None:
        before = reader_of(connection)
        connection.execute(f"alter table app.article owner to {bob.info.user}".encode())

        hire().send("inspect_sources")

        assert set(rows(connection, STATE)) == {"failed", "loading"}
        connection.execute(RESYNC.encode())
        assert set(rows(connection, STATE)) == {"loading"}
        may = "select has_column_privilege(%s, 'app.article', 'body', 'select')"
        assert scalar(connection, may, reader_of(connection))
        assert not scalar(connection, may, before)

    @pytest.mark.parametrize("table", ["app.whole", "app.part"])
    def test_tables_whose_partitions_have_other_owners_are_not_read(
        self, alice: Connection, bob: Connection, connection: Connection, hire: Hire, table: str
    ) -> None:
        alice.execute("create table app.whole (id bigint primary key, body text) partition by range (id)")
        alice.execute("create table app.part partition of app.whole for values from (0) to (9)")
        attach(alice, table)
        worker = hire()
        worker.open_spaces()
        worker.follow_everything()
        assert rows(connection, STATE) == ["following"]
        connection.execute(f"alter table app.part owner to {bob.info.user}".encode())
        connection.execute("insert into app.whole values (1, 'Cars.')")

        worker.follow_everything()

        assert rows(connection, STATE) == ["failed"]
        assert state_of(connection, RESYNC.replace("app.article", table)) == "0A000"
        connection.execute("alter table app.part owner to postgres")
        if table == "app.whole":
            # Who may do everything may do that.
            connection.execute(RESYNC.replace("app.article", table).encode())


class TestUpgrading:
    @pytest.fixture
    def old(self, note: int, connection: Connection, admin: Connection, old_table_reader: str) -> Iterator[None]:
        """Two tables as an older version left them: one role reads both."""
        for table in ("app.article", "bobs.note"):
            reader = reader_of(connection, table)
            connection.execute(f"drop owned by {reader}".encode())
        with connection.transaction():
            connection.execute("grant usage on schema app, bobs to pgclarify_table_reader")
            connection.execute("grant select (id, body) on app.article, bobs.note to pgclarify_table_reader")
        admin.execute(f"revoke usage on schema public from {old_table_reader}".encode())
        connection.execute("update pgclarify_private.applied_sql set shipped_hash = 'older'")
        yield
        connection.execute("drop owned by pgclarify_table_reader") if rows(
            connection, "select 1 from pg_roles where rolname = 'pgclarify_table_reader'"
        ) else None

    @pytest.mark.committed
    @pytest.mark.usefixtures("old")
    def test_each_owner_gets_its_reader(self, database: str, connection: Connection, hire: Hire) -> None:
        hire().send("inspect_sources")
        installer.install(database)

        assert rows(connection, "select 1 from pg_roles where rolname = 'pgclarify_table_reader'") == []
        assert rows(connection, "select pgclarify_private.source_fault(source) from pgclarify_private.source") == [
            None,
            None,
        ]
        assert listed(connection, GRANTED) == {reader_of(connection)}

    @pytest.mark.committed
    @pytest.mark.usefixtures("old")
    def test_without_the_rights_sources_fail_until_they_are_compared_again(
        self, database: str, alice: Connection, connection: Connection, hire: Hire, make_role: MakeRole
    ) -> None:
        owner = make_role("pgclarify_owner", name="installer")
        connection.execute(f"alter role {owner} createrole".encode())

        installer.install(as_role(database, owner))
        hire().send("inspect_sources")

        assert rows(connection, STATE) == ["failed", "failed"]
        alice.execute(RESYNC.encode())
        assert sorted(rows(connection, STATE)) == ["failed", "loading"]
        assert listed(connection, GRANTED) == {reader_of(connection)}


@pytest.mark.committed
def test_a_renamed_owner_gets_another_reader(
    alice: Connection, database: str, connection: Connection, admin: Connection, hire: Hire
) -> None:
    """As after a restore, where the number of a role may be another one's."""
    attach(alice)
    first, name = reader_of(connection), alice.info.user
    alice.close()
    admin.execute(f"alter role {name} rename to {name}_too".encode())
    try:
        assert reader_of(connection) != first
        connection.execute(
            "update pgclarify_private.source set attached_by = 'postgres', attached_by_oid = 'postgres'::regrole"
        )
        hire().send("inspect_sources")
        assert rows(connection, STATE) == ["failed"]
        installer.install(database)
        assert scalar(connection, "select pgclarify_private.source_fault(source) from pgclarify_private.source") is None
    finally:
        admin.execute(f"alter role {name}_too rename to {name}".encode())
