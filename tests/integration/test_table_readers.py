"""The roles that read attached tables: one for each owner, made with its first table and dropped with its last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from pgclarify.install import installer
from tests.integration.attaching import ATTACH, DETACH, RESYNC, STATE, attach, note, table_reader_of
from tests.integration.manual_worker import MakeWorker
from tests.integration.test_privileges import listed
from tests.migration.test_objects import rows
from tests.sessions import Connection, MakeRole, run_at_once, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["note"]

GRANTED = """
    select granted.grantee::regrole::text from pg_attribute cross join lateral aclexplode(attacl) as granted
    where attrelid = 'app.article'::regclass
"""


@pytest.fixture
def elsewhere(alice: Connection, make_database: Callable[[str], str], template: str) -> Iterator[Connection]:
    """A superuser's connection to another database, with a table and a corpus of the same names."""
    with closing(psycopg.connect(make_database(template), autocommit=True)) as other:
        other.execute(f"create schema app authorization {alice.info.user}".encode())
        other.execute("create table app.article (id bigint primary key, body text)")
        other.execute(f"alter table app.article owner to {alice.info.user}".encode())
        other.execute("select pgclarify.create_corpus('kb')")
        yield other


class TestReaders:
    def test_each_owner_has_a_reading_role(self, note: int, alice: Connection, connection: Connection) -> None:
        first, second = table_reader_of(connection), table_reader_of(connection, "bobs.note")
        assert first != second
        may = "select has_column_privilege(%s, %s, 'body', 'select')"
        for role, table, is_allowed in (
            (first, "app.article", True),
            (second, "bobs.note", True),
            (first, "bobs.note", False),
            (second, "app.article", False),
        ):
            assert scalar(connection, may, role, table) is is_allowed

    def test_a_setting_of_the_attaching_role_lets_no_role_become_one(
        self, alice: Connection, connection: Connection
    ) -> None:
        alice.execute("set createrole_self_grant = 'set, inherit'")
        attach(alice)

        members = """
            select member::regrole::text from pg_auth_members
            where roleid = %s::regrole and (set_option or inherit_option)
        """
        assert listed(connection, members, table_reader_of(connection)) == {"pgclarify_owner"}

    @pytest.mark.committed
    def test_two_owners_at_once(self, bob: Connection, alice: Connection, connection: Connection) -> None:
        connection.execute(f"create schema bobs authorization {bob.info.user}".encode())
        bob.execute("create table bobs.note (id bigint primary key, body text)")

        assert run_at_once(lambda: attach(alice), lambda: attach(bob, "bobs.note", "bobs")) == [None, None]

    @pytest.mark.committed
    def test_the_first_table_of_an_owner_does_not_wait_for_that_of_another(
        self, bob: Connection, alice: Connection, connection: Connection
    ) -> None:
        connection.execute(f"create schema bobs authorization {bob.info.user}".encode())
        bob.execute("create table bobs.note (id bigint primary key, body text)")
        alice.execute("begin")
        attach(alice)

        # Idle in its transaction.
        bob.execute("set lock_timeout = '1s'")
        attach(bob, "bobs.note", "bobs")
        alice.execute("commit")

    @pytest.mark.committed
    def test_an_owner_who_rolls_back_leaves_no_reading_role(
        self, alice: Connection, connection: Connection, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
        alice.execute("begin")
        attach(alice)
        reader = table_reader_of(connection)
        # A worker that looks for readers without a table waits for the transaction, and not for long.
        drop = "select pgclarify_private.drop_idle_table_reader()"
        assert sqlstate_of(worker.connection, drop) == "55P03"
        alice.execute("rollback")

        assert worker.value("drop_idle_table_reader") is not None
        assert scalar(connection, "select count(*) from pg_roles where rolname = %s", reader) == 0

    @pytest.mark.committed
    def test_a_table_of_a_role_that_is_not_committed_yet_can_be_attached(
        self, connection: Connection, make_role: MakeRole
    ) -> None:
        connection.execute("select pgclarify.create_corpus('kb')")
        with connection.transaction(force_rollback=True):
            connection.execute("create role not_yet; create table public.late (id bigint primary key, body text)")
            connection.execute("alter table public.late owner to not_yet")
            attach(connection, "public.late")

    def test_the_reading_role_is_dropped_with_the_last_table(
        self, alice: Connection, connection: Connection, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
        alice.execute("create table app.page (id bigint primary key, body text)")
        attach(alice)
        attach(alice, "app.page", id_prefix="page/")
        reader = table_reader_of(connection)
        is_there = "select count(*) from pg_roles where rolname = %s"

        alice.execute(DETACH.encode())
        assert worker.value("drop_idle_table_reader") is None
        with alice.transaction():
            alice.execute("select pgclarify.detach_table('kb', 'app.page')")
        assert worker.value("drop_idle_table_reader") is not None

        assert worker.value("drop_idle_table_reader") is None
        assert scalar(connection, is_there, reader) == 0
        assert attach(alice)
        assert scalar(connection, is_there, reader) == 1

    @pytest.mark.committed
    def test_not_while_a_table_is_being_attached(
        self, alice: Connection, connection: Connection, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
        attach(alice)
        alice.execute(DETACH.encode())
        with alice.transaction():
            attach(alice)
            with pytest.raises(psycopg.errors.LockNotAvailable):
                worker.send("drop_idle_table_reader")
        assert worker.value("drop_idle_table_reader") is None

    @pytest.mark.committed
    def test_a_table_is_attached_while_another_database_drops_the_role(
        self, alice: Connection, connection: Connection, elsewhere: Connection, admin: Connection
    ) -> None:
        attach(alice)
        alice.execute(DETACH.encode())
        reader = table_reader_of(connection)
        with ThreadPoolExecutor(1) as pool:
            with connection.transaction():
                connection.execute("select pgclarify_private.drop_idle_table_reader()")
                attaching = pool.submit(attach, elsewhere)
                waits = "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s"
                while not attaching.done() and not scalar(admin, waits, elsewhere.info.backend_pid):
                    pass
            assert attaching.result()
        assert scalar(elsewhere, "select has_column_privilege(%s, 'app.article', 'body', 'select')", reader)

    @pytest.mark.committed
    def test_a_call_says_that_another_database_is_making_the_role(
        self, alice: Connection, connection: Connection, elsewhere: Connection
    ) -> None:
        elsewhere.execute("alter function pgclarify_private.make_table_reader(oid) set lock_timeout = '100ms'")
        # As without the loopback.
        with connection.transaction():
            connection.execute("select pgclarify_private.make_table_reader(%s::regrole)", [alice.info.user])
            with pytest.raises(psycopg.errors.LockNotAvailable) as refused:
                attach(elsewhere)
        assert refused.value.diag.message_detail
        assert refused.value.diag.message_hint
        assert attach(elsewhere)

    def test_a_role_that_somebody_else_made_is_not_used(
        self, alice: Connection, bob: Connection, connection: Connection, admin: Connection
    ) -> None:
        reader = table_reader_of(connection)
        admin.execute(f"create role {reader}".encode())
        admin.execute(f"grant {reader} to {bob.info.user}".encode())
        try:
            assert sqlstate_of(alice, ATTACH) == "55000"
        finally:
            admin.execute(f"drop role {reader}".encode())
        assert sqlstate_of(alice, ATTACH) is None

    def test_a_table_of_another_owner_is_read_by_that_ones_reader(
        self, note: int, alice: Connection, bob: Connection, connection: Connection, make_worker: MakeWorker
    ) -> None:
        before = table_reader_of(connection)
        connection.execute(f"alter table app.article owner to {bob.info.user}".encode())

        make_worker().send("inspect_sources")

        assert set(rows(connection, STATE)) == {"failed", "loading"}
        connection.execute(RESYNC.encode())
        assert set(rows(connection, STATE)) == {"loading"}
        may = "select has_column_privilege(%s, 'app.article', 'body', 'select')"
        assert scalar(connection, may, table_reader_of(connection))
        assert not scalar(connection, may, before)

    @pytest.mark.parametrize("table", ["app.whole", "app.part"])
    def test_tables_whose_partitions_have_other_owners_are_not_read(
        self, alice: Connection, bob: Connection, connection: Connection, make_worker: MakeWorker, table: str
    ) -> None:
        alice.execute("create table app.whole (id bigint primary key, body text) partition by range (id)")
        alice.execute("create table app.part partition of app.whole for values from (0) to (9)")
        attach(alice, table)
        worker = make_worker()
        worker.open_spaces()
        worker.follow_everything()
        assert rows(connection, STATE) == ["following"]
        connection.execute(f"alter table app.part owner to {bob.info.user}".encode())
        connection.execute("insert into app.whole values (1, 'Cars.')")

        worker.follow_everything()

        assert rows(connection, STATE) == ["failed"]
        assert sqlstate_of(connection, RESYNC.replace("app.article", table)) == "0A000"
        connection.execute("alter table app.part owner to postgres")
        if table == "app.whole":
            # A superuser may do that, too.
            connection.execute(RESYNC.replace("app.article", table).encode())


@pytest.mark.committed
def test_restored_sources_fail_until_they_are_compared_again(
    alice: Connection, note: int, database: str, connection: Connection, make_worker: MakeWorker
) -> None:
    """A restored dump may grant nothing to the roles that read the tables."""
    for table in ("app.article", "bobs.note"):
        connection.execute(f"drop owned by {table_reader_of(connection, table)}".encode())
    connection.execute("update pgclarify_private.applied_sql set shipped_hash = 'older'")

    installer.install(database)
    make_worker().send("inspect_sources")

    assert rows(connection, STATE) == ["failed", "failed"]
    alice.execute(RESYNC.encode())
    assert sorted(rows(connection, STATE)) == ["failed", "loading"]
    assert listed(connection, GRANTED) == {table_reader_of(connection)}


@pytest.mark.committed
def test_a_renamed_owner_gets_another_reader(
    alice: Connection, database: str, connection: Connection, admin: Connection, make_worker: MakeWorker
) -> None:
    """After a restore, a role may have an oid that belonged to another role."""
    attach(alice)
    first, name = table_reader_of(connection), alice.info.user
    alice.close()
    admin.execute(f"alter role {name} rename to {name}_too".encode())
    try:
        assert table_reader_of(connection) != first
        connection.execute(
            "update pgclarify_private.source set attached_by = 'postgres', attached_by_oid = 'postgres'::regrole"
        )
        make_worker().send("inspect_sources")
        assert rows(connection, STATE) == ["failed"]
        installer.install(database)
        connection.execute(RESYNC.encode())
        assert scalar(connection, "select pgclarify_private.source_fault(source) from pgclarify_private.source") is None
    finally:
        admin.execute(f"alter role {name}_too rename to {name}".encode())
