"""Reading attached tables runs code of their owners. That code reads nothing of others, and its effects do not last."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from pgclarify.database.pool import fetch, open_pool
from pgclarify.database.table_session import TableSession
from pgclarify.errors import DatabaseBusy
from pgclarify.worker.sources import Sources
from tests.integration.attaching import attach, note, refusal
from tests.integration.manual_worker import MakeWorker
from tests.migration.test_objects import rows
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of
from tests.workers import as_role, until

pytestmark = pytest.mark.rolled_back

__all__ = ["note"]

# Code takes this lock when it runs, in the session where it runs. A rollback does not release it.
RAN = 4711
HAS_RUN = f"select count(*) > 0 from pg_locks where locktype = 'advisory' and objid = {RAN}"  # noqa: S608 - a constant
BATCH = {"max_rows": 9, "max_bytes": 1000}
NEXT_KEYS = (
    "select pgclarify_private.next_keys(source, 10, 1000) from pgclarify_private.source"
    " where relation = 'bobs.note'::regclass"
)

Plant = Callable[..., None]


@pytest.fixture
def plant(note: int, bob: Connection, connection: Connection) -> Plant:
    """Lets reading "bobs.note" run code of Bob's, which makes no index on it himself.

    is_overlooked: Let the worker's look at the table miss it, as if the index had been made after that.
    """

    def make(code: str, *, declared: str = "", is_overlooked: bool = False) -> None:
        bob.execute(
            f"create function bobs.work() returns boolean language plpgsql as $work$ declare v_text text; {declared}"
            f" begin perform pg_advisory_lock({RAN}); {code} return true; end $work$;"
            # The role that makes the index runs the code, too.
            " create function bobs.spy() returns boolean language plpgsql immutable as $spy$ begin"
            f" return current_user = '{bob.info.user}' or bobs.work(); end $spy$".encode()
        )
        bob.execute("create index spied on bobs.note (id) where bobs.spy()")
        if is_overlooked:
            connection.execute("alter function bobs.spy() owner to postgres")

    return make


class TestWhatItReads:
    def test_code_of_an_owner_reads_no_table_of_other_owners(
        self, plant: Plant, bob: Connection, connection: Connection
    ) -> None:
        plant("select string_agg(body, ' ') into v_text from app.article; insert into bobs.loot values ('a', v_text);")

        assert sqlstate_of(connection, NEXT_KEYS) == "42501"

        assert scalar(bob, HAS_RUN)
        assert rows(bob, "select said from bobs.loot") == []

    @pytest.mark.parametrize("code", ["perform body from bobs.page;", "perform from pg_class;"])
    def test_code_of_an_owner_reads_its_own_tables_and_public_ones(
        self, plant: Plant, bob: Connection, connection: Connection, code: str
    ) -> None:
        bob.execute("create table bobs.page (id bigint primary key, body text)")
        attach(bob, "bobs.page", "bobs", id_prefix="page/")
        plant(code)

        assert sqlstate_of(connection, NEXT_KEYS) is None
        assert scalar(bob, HAS_RUN)

    @pytest.mark.committed
    def test_through_a_worker_that_looked_too_early(
        self, note: int, bob: Connection, connection: Connection, connect: Connect, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
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
            # The worker gives up after half a second, so on a slow machine several tries may be needed.
            while not scalar(connection, HAS_RUN):
                bob.execute("drop index if exists bobs.spied")
                bob.execute("select pgclarify.resync('bobs', 'bobs.note')")
                worker.follow_everything()
                bob.execute("update bobs.note set body = body || 'x'")
                planting.execute("begin")
                planting.execute("lock table bobs.note in access exclusive mode")
                following = pool.submit(worker.send, "advance_source", source_id=note, work="changes", **BATCH)
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

    def test_the_code_of_an_error_is_none_that_has_a_meaning_for_a_worker(
        self, plant: Plant, connection: Connection
    ) -> None:
        plant("raise exception using errcode = current_setting('test.raised');")

        for raised in ("23514", "40001", "57014", "PC000", "PC006", "08006", "57P01", "P0004"):
            connection.execute("select set_config('test.raised', %s, false)", [raised])
            state = raised if raised in {"23514", "40001", "57014"} else "38000"
            assert sqlstate_of(connection, NEXT_KEYS) == state


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
        self, plant: Plant, bob: Connection, connection: Connection, database: str, make_worker: MakeWorker
    ) -> None:
        hired = make_worker()
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
                    await fetch(pool, "waiting_sources")
                sources = Sources(login, pool)
                await sources.follow()
                for _ in range(9):
                    await fetch(pool, "waiting_sources")
                await sources.close()

        asyncio.run(work())

        assert rows(bob, "select who from bobs.loot") == []
        state = "select state from pgclarify_private.source where relation = 'bobs.note'::regclass"
        assert rows(connection, state) == ["following"]

    @pytest.mark.committed
    def test_session_state_of_foreign_code_is_discarded(
        self, plant: Plant, connection: Connection, database: str, make_role: MakeRole, note: int
    ) -> None:
        plant("", is_overlooked=True)
        login = as_role(database, make_role("pgclarify_worker"))

        async def work() -> None:
            async with open_pool(login) as pool:
                session = TableSession(login, pool)
                for _ in range(2):
                    await session.fetch("advance_source", source_id=note, work="load", max_rows=9, max_bytes=1000)
                assert scalar(connection, HAS_RUN)
                await session.fetch("waiting_sources")
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
                session = TableSession(login, pool, most_seconds=1)
                with pytest.raises(DatabaseBusy):
                    await session.fetch("advance_source", source_id=note, work="load", max_rows=9, max_bytes=1000)
                assert await session.fetch("waiting_sources")
                await session.close()

        asyncio.run(work())

        until(lambda: not scalar(connection, HAS_RUN))
