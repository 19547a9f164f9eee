"""Attached tables that cannot be followed, and rows that cannot be documents, are reported and stop nothing else."""

from __future__ import annotations

import json

import psycopg
import pytest

from tests.integration.attached_documents import assert_documents_match_rows
from tests.integration.attaching import table_reader_of
from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import ManualWorker
from tests.integration.test_following import COLUMNS, attach, documents, error, worker
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["worker"]

NOT_NOW = "55000"
STATE = "select state from pgclarify_private.source order by source_id"


class TestOthersDocuments:
    def test_by_hand_they_are_not_changed(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        attach(connection)
        worker.follow_everything()

        assert sqlstate_of(connection, "select pgclarify.add_document('kb', '1', 'Vans.')") == NOT_NOW
        assert sqlstate_of(connection, "select pgclarify.remove_document('kb', '1')") == NOT_NOW
        assert documents(connection) == [("1", "Cars.")]

        connection.execute("select pgclarify.detach_table('kb', 'article')")
        assert scalar(connection, "select pgclarify.add_document('kb', '1', 'Vans.')")
        assert scalar(connection, "select pgclarify.remove_document('kb', '1')")
        assert_counts_agree(connection)

    def test_a_document_whose_table_is_detached_meanwhile_is_refused_all_the_same(self, connection: Connection) -> None:
        assert sqlstate_of(connection, "select pgclarify_private.refuse_by_hand(1, 'no longer of a table')") == NOT_NOW

    def test_documents_added_by_hand_are_not_replaced(self, connection: Connection, worker: ManualWorker) -> None:
        attach(connection)
        worker.follow_everything()
        connection.execute("select pgclarify.add_document('kb', '2', 'By hand.')")
        connection.execute("insert into article (id, body) values (1, 'Cars.'), (2, 'Trucks.'), (3, 'Vans.')")

        worker.follow_everything()

        assert documents(connection) == [("1", "Cars."), ("2", "By hand."), ("3", "Vans.")]
        assert scalar(connection, STATE) == "following"
        assert '"2"' in error(connection)
        connection.execute("select pgclarify.resync('kb', 'article')")
        worker.follow_everything()
        assert documents(connection) == [("1", "Cars."), ("2", "By hand."), ("3", "Vans.")]
        assert scalar(connection, STATE) == "following"
        assert '"2"' in error(connection)
        connection.execute("delete from article where id = 2")
        worker.follow_everything()
        assert len(documents(connection)) == 3

        connection.execute("insert into article (id, body) values (2, 'Trucks.')")
        connection.execute("select pgclarify.remove_document('kb', '2')")
        connection.execute("select pgclarify.resync('kb', 'article')")
        worker.follow_everything()
        assert scalar(connection, "select error from pgclarify_private.source") is None
        assert_documents_match_rows(connection)
        assert_counts_agree(connection)

    def test_an_id_that_is_too_long(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute(f"create table note ({COLUMNS.format('text')})".encode())
        connection.execute("insert into note (id, body) values ('', 'a'), ('b', 'b'), (repeat('c', 1001), 'c')")
        attach(connection, "note")

        worker.follow_everything()

        assert documents(connection) == [("b", "b")], error(connection)
        assert scalar(connection, STATE) == "following"
        assert "1000" in error(connection)

    def test_detached_documents_go_or_stay(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute("insert into article (id, body) select n, 'Cars ' || n from generate_series(1, 9) as n")
        attach(connection)
        worker.follow_everything()
        worker.index_everything()

        connection.execute("select pgclarify.detach_table('kb', 'article')")
        connection.execute("delete from article where id = 9")
        worker.follow_everything()
        assert len(documents(connection)) == 9
        attach(connection)
        worker.follow_everything()
        assert_documents_match_rows(connection)
        assert scalar(connection, "select rows_changed from pgclarify_private.source") == 0

        connection.execute("""select pgclarify.detach_table('kb', 'article', '{"documents": "remove"}')""")
        scalar(connection, "select pgclarify.add_document('kb', '3', 'Kept.')")
        worker.follow_everything(max_rows=2)
        assert documents(connection) == [("3", "Kept.")]
        assert scalar(connection, "select count(*) from pgclarify_private.source") == 0
        worker.index_everything()
        assert_counts_agree(connection)


class TestWhatStandsInTheWay:
    @pytest.mark.parametrize(
        ("accident", "remedy"),
        [
            ("drop table article", None),
            ("alter table article drop column body", "alter table article add column body text default 'New.'"),
            ("alter table article drop column id", None),
            (
                "alter table article rename column title to heading",
                "alter table article rename column heading to title",
            ),
            (
                "alter table article alter body type jsonb using to_jsonb(body)",
                "alter table article alter body type text using body::text",
            ),
            ("alter table article enable row level security", "alter table article disable row level security"),
            ("revoke select (body) on article from its_reader", "select"),
            ("alter table article disable trigger user", "alter table article enable trigger user"),
            ("drop function pgclarify_private.capture_1() cascade", "select"),
            (
                "create table whole (like article); alter table article inherit whole",
                "alter table article no inherit whole",
            ),
            (
                "create function mine(integer) returns integer immutable language sql return 1;"
                " alter function mine owner to somebody; create index article_mine on article ((mine(1)))",
                "drop index article_mine",
            ),
        ],
    )
    def test_the_source_has_failed_and_nothing_else(
        self, connection: Connection, worker: ManualWorker, make_role: MakeRole, accident: str, remedy: str | None
    ) -> None:
        somebody = make_role(name="somebody")
        connection.execute("create table other (id integer primary key, body text)")
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        attach(connection)
        scalar(
            connection,
            "select pgclarify.attach_table('kb', 'other', 'id', 'body', %s)",
            json.dumps({"id_prefix": "o/"}),
        )
        worker.follow_everything()
        reader = table_reader_of(connection, "article")

        for statement in accident.split("; "):
            named = statement.replace("somebody", somebody).replace("its_reader", reader)
            connection.execute(named.encode())
        connection.execute("insert into other values (1, 'Vans.')")
        if " article" in accident and accident not in ("drop table article", "alter table article drop column id"):
            # The user's own writes go on.
            connection.execute("insert into article (id) values (2)")
        worker.send("inspect_sources")
        worker.follow_everything()

        states = connection.execute(STATE).fetchall()
        assert states == [("failed",), ("following",)], states
        assert "pgclarify.resync" in scalar(
            connection, "select error from pgclarify_private.source where state = 'failed'"
        )
        assert ("o/1", "Vans.") in documents(connection)
        assert ("1", "Cars.") in documents(connection)
        if remedy:
            connection.execute(remedy.encode())
            connection.execute("select pgclarify.resync('kb', 'article')")
            worker.send("inspect_sources")
            worker.follow_everything()
            assert connection.execute(STATE).fetchall() == [("following",), ("following",)]
            assert_documents_match_rows(connection)

    def test_a_source_fails_when_its_role_may_not_read_the_table_any_more(
        self, connection: Connection, worker: ManualWorker, make_role: MakeRole
    ) -> None:
        alice = make_role("pgclarify_user")
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        attach(connection)
        connection.execute(
            f"grant usage on schema public to {alice}; grant select (id, body) on article to {alice}".encode()
        )
        connection.execute(
            "update pgclarify_private.source set attached_by = rolname, attached_by_oid = oid, field_columns = '{}',"
            " metadata_columns = '{}' from pg_roles where rolname = %s",
            [alice],
        )
        worker.follow_everything()
        assert scalar(connection, STATE) == "following"

        connection.execute(f"revoke select (body) on article from {alice}".encode())  # noqa: S608 - no query
        worker.send("inspect_sources")

        assert scalar(connection, STATE) == "failed"
        assert alice in error(connection)

    @pytest.mark.committed
    @pytest.mark.parametrize("statement", ["alter table article add column more text", "lock table article"])
    def test_a_table_that_is_being_altered_waits(
        self, connection: Connection, connect: Connect, worker: ManualWorker, statement: str
    ) -> None:
        source_id = attach(connection)
        connection.execute("create table other (id integer primary key, body text)")
        scalar(connection, "select pgclarify.attach_table('kb', 'other', 'id', 'body', '{\"id_prefix\": \"o/\"}')")
        worker.follow_everything()
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        connection.execute("insert into other values (1, 'Vans.')")
        hesitant = connect()
        hesitant.execute("begin")
        hesitant.execute(statement.encode())

        worker.follow_everything()
        assert worker.value("advance_source", source_id=source_id, work="changes", max_rows=9, max_bytes=9) is None
        assert documents(connection) == [("o/1", "Vans.")]
        assert connection.execute(STATE).fetchall() == [("following",), ("following",)]

        hesitant.execute("commit")
        worker.follow_everything()
        assert_documents_match_rows(connection)

    def test_a_node_of_a_cluster_that_is_gone_is_waited_for(self, connection: Connection, worker: ManualWorker) -> None:
        attach(connection)
        worker.follow_everything()
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        connection.execute("""
            create function node_is_gone() returns trigger language plpgsql as $$ begin
                raise exception 'the node is gone' using errcode = '08006';
            end $$
        """)
        connection.execute(
            "create trigger gone before insert on pgclarify_private.document execute function node_is_gone()"
        )
        with pytest.raises(psycopg.errors.ConnectionFailure):
            worker.follow_everything()
        assert scalar(connection, STATE) == "following"

        connection.execute("drop trigger gone on pgclarify_private.document")
        worker.follow_everything()
        assert documents(connection) == [("1", "Cars.")]

    @pytest.mark.committed
    @pytest.mark.parametrize(
        "hold",
        [
            "select pgclarify.resync('kb', 'article')",
            "select pgclarify.detach_table('kb', 'article')",
            "select pgclarify.drop_corpus('kb')",
        ],
    )
    def test_a_source_that_somebody_holds_waits(
        self, connection: Connection, connect: Connect, worker: ManualWorker, hold: str
    ) -> None:
        attach(connection)
        worker.follow_everything()
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        worker.connection.execute("set lock_timeout = '2s'")
        hesitant = connect()
        hesitant.execute("begin")
        hesitant.execute(hold.encode())

        worker.follow_everything()
        assert documents(connection) == []

        hesitant.execute("rollback")
        worker.follow_everything()
        assert_documents_match_rows(connection)

    def test_changes_that_nobody_follows_go(self, connection: Connection, worker: ManualWorker) -> None:
        attach(connection)
        worker.follow_everything()
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        connection.execute("update pgclarify_private.source set state = 'failed', error = 'so'")

        worker.follow_everything()

        assert scalar(connection, "select count(*) from pgclarify_private.change") == 0
        assert documents(connection) == []
        connection.execute("select pgclarify.resync('kb', 'article')")
        worker.follow_everything()
        assert_documents_match_rows(connection)

    @pytest.mark.committed
    def test_readers_of_a_table_run_no_code_of_its_owner(
        self, connection: Connection, worker: ManualWorker, make_role: MakeRole
    ) -> None:
        """An index may call a function when a query is planned, with the rights of the reading role."""
        evil = make_role(name="evil")
        connection.execute("""
            create function spy(integer) returns integer immutable language plpgsql as
            $$begin raise warning 'run by %', current_user; return 1; end$$
        """)
        said: list[str | None] = []
        worker.connection.add_notice_handler(lambda diagnostic: said.append(diagnostic.message_primary))
        connection.execute(f"alter function spy owner to {evil}".encode())
        attach(connection)
        worker.follow_everything()
        connection.execute("create index on article ((id + spy(1)))")
        connection.execute("insert into article (id, body) values (1, 'Cars.')")

        worker.follow_everything()

        assert said == []
        assert scalar(connection, STATE) == "failed"
