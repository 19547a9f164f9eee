"""Comparing attached tables again, detaching them, and attached tables after an upgrade."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tests.integration.attaching import (
    ATTACH,
    DETACH,
    EVERYTHING,
    READABLE,
    RESYNC,
    STATE,
    TRIGGERS,
    attach,
    give_document,
    notices,
    refusal,
    table_reader_of,
)
from tests.integration.manual_worker import MakeWorker
from tests.integration.test_privileges import listed
from tests.migration.test_objects import rows
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of
from tests.workers import until

pytestmark = pytest.mark.rolled_back


class TestResync:
    def test_resync_restores_triggers_and_grants(self, alice: Connection, connection: Connection) -> None:
        source_id = attach(alice)
        whole = alice.execute(TRIGGERS.encode()).fetchall()
        connection.execute(
            "update pgclarify_private.source set state = 'failed', error = 'x', rows_added = 3, load_cursor = '7'"
        )
        alice.execute(f"drop trigger pgclarify_{source_id}_insert on app.article".encode())
        alice.execute("alter table app.article disable trigger user")
        reader = table_reader_of(connection)
        alice.execute(f"revoke select (body) on app.article from {reader}".encode())  # noqa: S608 - no query
        alice.execute(f"revoke usage on schema app from {reader}".encode())

        assert scalar(alice, RESYNC) == source_id

        assert alice.execute(TRIGGERS.encode()).fetchall() == whole
        assert listed(alice, READABLE) == {"id", "body"}
        assert connection.execute(
            "select state, error, rows_added, load_cursor, load_phase from pgclarify_private.source"
        ).fetchone() == ("loading", None, 0, None, "rows")

    @pytest.mark.committed
    def test_resync_takes_no_lock_when_nothing_is_missing(self, alice: Connection, connect: Connect) -> None:
        attach(alice)
        writer = connect(alice.info.user)
        with writer.transaction():
            writer.execute("update app.article set title = 'New'")
            alice.execute("set lock_timeout = '1s'")
            alice.execute(RESYNC.encode())

    def test_a_table_that_became_a_partition_gets_other_triggers(
        self, alice: Connection, connection: Connection
    ) -> None:
        source_id = attach(alice)
        alice.execute("create table app.all_articles (like app.article including all) partition by range (id)")
        alice.execute("alter table app.all_articles attach partition app.article for values from (0) to (100)")

        alice.execute(RESYNC.encode())

        assert alice.execute(TRIGGERS.encode()).fetchall() == [
            (f"pgclarify_{source_id}_row", "A"),
            (f"pgclarify_{source_id}_truncate", "A"),
        ]
        alice.execute("insert into app.all_articles (id) values (7)")
        assert rows(connection, "select unnest(keys) from pgclarify_private.change") == ["7"]

    def test_resync_of_a_changed_or_detached_table_is_an_error(self, alice: Connection, connection: Connection) -> None:
        assert sqlstate_of(alice, RESYNC) == "42704"
        give_document(alice, connection, attach(alice))
        alice.execute("alter table app.article drop column body")
        assert sqlstate_of(alice, RESYNC) == "42703"
        alice.execute(DETACH.encode())

        assert sqlstate_of(alice, RESYNC) == "55000"

    def test_somebody_with_the_rights_takes_over(
        self, alice: Connection, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        attach(alice)
        heir = connect(make_role("pgclarify_user", alice.info.user, name="heir"))
        connection.execute("update pgclarify_private.source set attached_by = 'nobody', state = 'failed', error = 'x'")

        heir.execute(RESYNC.encode())

        assert rows(connection, "select attached_by::text from pgclarify_private.source") == [heir.info.user]


class TestDetaching:
    def test_nothing_is_left_on_the_table(self, alice: Connection, connection: Connection) -> None:
        before = {line for line in rows(connection, EVERYTHING) if not line.startswith("schema")}
        source_id = attach(alice, title="title")
        alice.execute("update app.article set title = 'New'")
        alice.execute("alter table app.article rename column body to text")

        assert scalar(alice, DETACH) == source_id

        assert scalar(connection, "select pgclarify_private.drop_idle_table_reader()") is not None
        after = {line for line in rows(connection, EVERYTHING) if not line.startswith("schema")}
        assert after == before
        assert listed(alice, READABLE) == set()
        assert rows(connection, "select unnest(keys) from pgclarify_private.change") == []

    def test_kept_documents_may_go_later(self, alice: Connection, connection: Connection) -> None:
        give_document(alice, connection, attach(alice))
        alice.execute(DETACH.encode())

        alice.execute("select pgclarify.detach_table('kb', 'app.article', '{\"documents\": \"remove\"}')")
        alice.execute(DETACH.encode())

        assert rows(connection, STATE) == ["removing"]

    def test_detaching_keeps_the_grants_of_another_corpus(self, alice: Connection) -> None:
        attach(alice, title="title")
        alice.execute("select pgclarify.create_corpus('other')")
        second = attach(alice, corpus="other")

        alice.execute(DETACH.encode())

        assert listed(alice, READABLE) == {"id", "body"}
        assert {name for name, _ in alice.execute(TRIGGERS.encode()).fetchall()} == {
            f"pgclarify_{second}_{kind}" for kind in ("insert", "update", "delete", "replica", "truncate")
        }

    def test_attached_again_it_is_the_same_source(self, alice: Connection, connection: Connection) -> None:
        source_id = attach(alice, id_prefix="a/")
        give_document(alice, connection, source_id, "a/1")
        alice.execute(DETACH.encode())

        assert attach(alice, id_prefix="a/") == source_id

        assert connection.execute("select state, id_prefix from pgclarify_private.source").fetchall() == [
            ("loading", "a/")
        ]
        assert listed(alice, READABLE) == {"id", "body"}

    def test_documents_that_were_kept_are_not_lost_to_another_prefix(
        self, alice: Connection, connection: Connection
    ) -> None:
        source_id = attach(alice, id_prefix="a/")
        give_document(alice, connection, source_id, "a/1")
        alice.execute(DETACH.encode())

        diagnostic = refusal(alice, ATTACH)
        assert diagnostic.sqlstate == "55000"
        assert '{"id_prefix": "a/"}' in (diagnostic.message_hint or "")
        assert rows(connection, STATE) == ["detached"]
        # The hint has another way, too.
        alice.execute((diagnostic.message_hint or "").split("first: ")[1].rstrip(".").encode())

        assert attach(alice) == source_id

    def test_a_dropped_table_goes_by_its_number(self, alice: Connection, connection: Connection) -> None:
        source_id = attach(alice)
        give_document(alice, connection, source_id)
        alice.execute("drop table app.article")
        alice.execute("create table app.article (id bigint primary key, body text)")
        assert sqlstate_of(alice, DETACH) == "42704"
        (number, name) = alice.execute("select relation_oid, relation from pgclarify.source_status").fetchall()[0]
        assert name == "app.article"
        assert str(number) in (
            refusal(alice, "select pgclarify.resync('kb', %s::oid::regclass)", number).message_hint or ""
        )

        assert scalar(alice, f"select pgclarify.detach_table('kb', {number})") == source_id

        assert rows(connection, STATE) == ["detached"]

    def test_also_without_the_table(self, alice: Connection, bob: Connection, connection: Connection) -> None:
        attach(alice)
        connection.execute(f"alter table app.article owner to {bob.info.user}".encode())
        connection.execute(f"grant usage on schema app to {bob.info.user}".encode())
        told = notices(alice)

        alice.execute(DETACH.encode())

        assert alice.execute(TRIGGERS.encode()).fetchall() == []
        # The new owner gets a hint how to revoke it.
        assert listed(alice, READABLE) == {"id", "body"}
        bob.execute(told[0].hint.removeprefix("Its owner says: ").rstrip(".").encode())
        assert listed(alice, READABLE) == set()

    def test_a_dropped_corpus_takes_back_what_could_be_read(
        self, alice: Connection, bob: Connection, connection: Connection
    ) -> None:
        attach(alice)
        alice.execute("create table app.page (id bigint primary key, body text)")
        attach(alice, "app.page", id_prefix="page/")
        connection.execute(f"alter table app.page owner to {bob.info.user}".encode())
        connection.execute(f"grant usage on schema app to {bob.info.user}".encode())
        readable = READABLE.replace("app.article", "app.page")
        told = notices(alice)

        alice.execute("select pgclarify.drop_corpus('kb')")

        assert listed(connection, READABLE) == set()
        assert listed(connection, readable) == {"id", "body"}
        bob.execute(told[0].hint.removeprefix("Its owner says: ").rstrip(".").encode())
        assert listed(connection, readable) == set()

    @pytest.mark.committed
    def test_a_dropped_corpus_lets_go_of_its_tables(self, alice: Connection, make_worker: MakeWorker) -> None:
        attach(alice)
        alice.execute("select pgclarify.drop_corpus('kb')")
        alice.execute("update app.article set title = 'New'")
        worker = make_worker()
        drop = "select pgclarify_private.drop_orphan_capture()"

        with alice.transaction():
            alice.execute("update app.article set title = 'Newer'")
            assert sqlstate_of(worker.connection, drop) == "55P03"
        assert scalar(worker.connection, drop) is not None

        assert scalar(worker.connection, drop) is None
        assert alice.execute(TRIGGERS.encode()).fetchall() == []


ALL_RIGHTS = """
    select attname::text from pg_attribute
    where attrelid = any('{app.article,app.page}'::regclass[]) and attacl::text ~ 'pgclarify_reads_'
    union all
    select nspname::text from pg_namespace where nspacl::text ~ 'pgclarify_reads_'
"""


class TestRightsAtOnce:
    """Two corpora; table "article" is attached to the first. All tables of an owner have one reader."""

    @pytest.fixture
    def second(self, alice: Connection) -> str:
        alice.execute("select pgclarify.create_corpus('second')")
        alice.execute("create table app.page (id bigint primary key, body text)")
        attach(alice)
        return "second"

    def during(self, alice: Connection, late: Connection, first: str, action: Callable[[], Any]) -> None:
        """Begin an action of another session in a transaction that has executed a statement."""
        waits = "select exists (select from pg_locks where pid = %s and not granted)"
        with ThreadPoolExecutor(1) as pool:
            with alice.transaction():
                alice.execute(first.encode())
                done = pool.submit(action)
                until(lambda: done.done() or scalar(alice, waits, late.info.backend_pid))
            done.result()

    @pytest.mark.committed
    @pytest.mark.parametrize("table", ["app.article", "app.page"])
    def test_a_table_can_be_read_that_is_attached_while_another_one_is_detached(
        self, alice: Connection, connection: Connection, connect: Connect, second: str, table: str
    ) -> None:
        late = connect(alice.info.user)
        self.during(alice, late, DETACH, partial(attach, late, table, second))

        assert listed(connection, ALL_RIGHTS) == {"id", "body", "app"}

    @pytest.mark.committed
    @pytest.mark.parametrize("table", ["app.article", "app.page"])
    @pytest.mark.parametrize("first", [DETACH, "select pgclarify.drop_corpus('kb')"])
    def test_rights_are_taken_back_if_two_corpora_leave_tables_at_once(
        self, alice: Connection, connection: Connection, connect: Connect, second: str, table: str, first: str
    ) -> None:
        late = connect(alice.info.user)
        attach(alice, table, second)
        self.during(alice, late, first, partial(late.execute, "select pgclarify.drop_corpus('second')"))

        assert listed(connection, ALL_RIGHTS) == set()

    @pytest.mark.committed
    def test_a_table_is_detached_while_another_owner_attaches_one_in_the_schema(
        self, alice: Connection, bob: Connection, connection: Connection, make_role: MakeRole
    ) -> None:
        group = make_role()
        connection.execute(f"grant {group} to {alice.info.user}, {bob.info.user}".encode())
        connection.execute(f"alter schema app owner to {group}".encode())
        bob.execute("create table app.page (id bigint primary key, body text)")
        attach(bob, "app.page", "bobs")

        self.during(alice, bob, ATTACH, partial(bob.execute, "select pgclarify.detach_table('bobs', 'app.page')"))

        assert listed(connection, ALL_RIGHTS) == {"id", "body", "app"}


@pytest.mark.committed
def test_removing_the_schemas_takes_the_triggers_along(alice: Connection, connection: Connection) -> None:
    attach(alice)
    connection.execute("drop schema pgclarify, pgclarify_private, pgclarify_capture cascade")
    alice.execute("update app.article set title = 'New'")
    assert alice.execute(TRIGGERS.encode()).fetchall() == []
