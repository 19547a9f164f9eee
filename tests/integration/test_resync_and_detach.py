"""Comparing attached tables again, detaching them, and what becomes of them with an upgrade."""

from __future__ import annotations

import json

import pytest

from pgclarify import install
from tests.integration.attaching import DETACH, EVERYTHING, READABLE, RESYNC, STATE, TRIGGERS, attach, refusal
from tests.integration.by_hand import Connect, Connection, Hire, MakeRole, scalar, state_of
from tests.integration.test_privileges import listed
from tests.migration.test_objects import rows


class TestResync:
    def test_it_mends_what_is_gone(self, alice: Connection, connection: Connection) -> None:
        source_id = attach(alice)
        whole = alice.execute(TRIGGERS.encode()).fetchall()
        connection.execute(
            "update pgclarify.source set state = 'failed', error = 'x', rows_added = 3, load_cursor = '7'"
        )
        alice.execute(f"drop trigger pgclarify_{source_id}_insert on app.article".encode())
        alice.execute("alter table app.article disable trigger user")
        alice.execute("revoke select (body) on app.article from pgclarify_table_reader")
        alice.execute("revoke usage on schema app from pgclarify_table_reader")

        assert scalar(alice, RESYNC) == source_id

        assert alice.execute(TRIGGERS.encode()).fetchall() == whole
        assert listed(alice, READABLE) == {"id", "body"}
        assert connection.execute(
            "select state, error, rows_added, load_cursor, load_phase from pgclarify.source"
        ).fetchone() == ("loading", None, 0, None, "rows")

    def test_it_takes_no_lock_when_nothing_is_gone(self, alice: Connection, connect: Connect) -> None:
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
        assert rows(connection, "select key from pgclarify.change") == ["7"]

    def test_an_id_of_another_type_is_noted_again(self, alice: Connection, connection: Connection) -> None:
        attach(alice)
        alice.execute("alter table app.article alter id type text")

        alice.execute(RESYNC.encode())
        alice.execute("update app.article set title = 'New' where id = '2'")

        assert rows(connection, "select key from pgclarify.change") == ["2"]

    def test_what_cannot_be_mended_is_an_error(self, alice: Connection) -> None:
        assert state_of(alice, RESYNC) == "42704"
        attach(alice)
        alice.execute("alter table app.article drop column body")
        assert state_of(alice, RESYNC) == "42703"
        alice.execute(DETACH.encode())

        assert state_of(alice, RESYNC) == "55000"

    def test_somebody_with_the_rights_takes_over(
        self, alice: Connection, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        attach(alice)
        heir = connect(make_role("pgclarify_user", alice.info.user, name="heir"))
        connection.execute("update pgclarify.source set attached_by = 'nobody', state = 'failed', error = 'x'")

        heir.execute(RESYNC.encode())

        assert rows(connection, "select attached_by::text from pgclarify.source") == [heir.info.user]


class TestDetaching:
    def test_nothing_is_left_on_the_table(self, alice: Connection, connection: Connection) -> None:
        before = {line for line in rows(connection, EVERYTHING) if not line.startswith("schema")}
        source_id = attach(alice, title="title")
        alice.execute("update app.article set title = 'New'")

        assert scalar(alice, DETACH) == source_id

        after = {line for line in rows(connection, EVERYTHING) if not line.startswith("schema")}
        assert after - before == {f"source {source_id}"}
        assert listed(alice, READABLE) == set()
        assert rows(connection, STATE) == ["detached"]
        assert rows(connection, "select key from pgclarify.change") == []

    @pytest.mark.parametrize(("choice", "state"), [("keep", "detached"), ("remove", "removing"), (None, "detached")])
    def test_documents_stay_or_go(
        self, alice: Connection, connection: Connection, choice: str | None, state: str
    ) -> None:
        attach(alice)
        options = json.dumps({"documents": choice})
        assert state_of(alice, "select pgclarify.detach_table('kb', 'app.article', %s::jsonb)", [options]) is None
        assert rows(connection, STATE) == [state]

    def test_kept_documents_may_go_later(self, alice: Connection, connection: Connection) -> None:
        attach(alice)
        alice.execute(DETACH.encode())

        alice.execute("select pgclarify.detach_table('kb', 'app.article', '{\"documents\": \"remove\"}')")
        alice.execute(DETACH.encode())

        assert rows(connection, STATE) == ["removing"]

    def test_what_another_corpus_needs_stays(self, alice: Connection) -> None:
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
        alice.execute("select pgclarify.add_document('kb', '1', 'Of the table.')")
        connection.execute("update pgclarify.document set source_id = %s", [source_id])
        alice.execute(DETACH.encode())

        assert attach(alice) == source_id

        assert connection.execute("select state, id_prefix from pgclarify.source").fetchall() == [("loading", "")]
        assert listed(alice, READABLE) == {"id", "body"}

    def test_a_dropped_table_goes_by_its_number(self, alice: Connection, connection: Connection) -> None:
        source_id = attach(alice)
        alice.execute("drop table app.article")
        alice.execute("create table app.article (id bigint primary key, body text)")
        assert state_of(alice, DETACH) == "42704"
        (number, name) = alice.execute("select relation_oid, relation from pgclarify.source_status").fetchall()[0]
        assert name == "app.article"
        assert f"detach_table('kb', {number})" in (
            refusal(alice, "select pgclarify.resync('kb', %s::oid::regclass)", number).message_hint or ""
        )

        assert scalar(alice, f"select pgclarify.detach_table('kb', {number})") == source_id

        assert rows(connection, STATE) == ["detached"]

    def test_also_without_the_table(self, alice: Connection, bob: Connection, connection: Connection) -> None:
        attach(alice)
        connection.execute(f"alter table app.article owner to {bob.info.user}".encode())

        alice.execute(DETACH.encode())

        assert alice.execute(TRIGGERS.encode()).fetchall() == []

    def test_a_dropped_corpus_lets_go_of_its_tables(self, alice: Connection, hire: Hire) -> None:
        attach(alice)
        alice.execute("select pgclarify.drop_corpus('kb')")
        alice.execute("update app.article set title = 'New'")
        worker = hire()
        drop = "select pgclarify._drop_orphan_capture()"

        with alice.transaction():
            alice.execute("update app.article set title = 'Newer'")
            assert state_of(worker.connection, drop) == "55P03"
        assert scalar(worker.connection, drop) is not None

        assert scalar(worker.connection, drop) is None
        assert alice.execute(TRIGGERS.encode()).fetchall() == []


def test_an_upgrade_makes_what_notes_changes_anew(database: str, alice: Connection, connection: Connection) -> None:
    source_id = attach(alice)
    definition = scalar(connection, f"select pg_get_functiondef('pgclarify._capture_{source_id}()'::regprocedure)")
    before = alice.execute(TRIGGERS.encode()).fetchall()
    install.install(database)
    assert alice.execute(TRIGGERS.encode()).fetchall() == before
    connection.execute(definition.replace("tg_op = 'INSERT'", "tg_op = 'OTHER'").encode())
    connection.execute("update pgclarify.applied_sql set shipped_hash = 'older'")

    install.install(database)

    assert alice.execute(TRIGGERS.encode()).fetchall() == before
    assert (
        scalar(connection, f"select pg_get_functiondef('pgclarify._capture_{source_id}()'::regprocedure)") == definition
    )


def test_uninstalling_takes_the_triggers_along(alice: Connection, database: str) -> None:
    attach(alice)
    install.uninstall(database)
    alice.execute("update app.article set title = 'New'")
    assert alice.execute(TRIGGERS.encode()).fetchall() == []
