"""Rows of attached tables that cannot be documents are skipped, and do not delay the others."""

from __future__ import annotations

import json

import pytest

from tests.integration.attached_documents import assert_documents_match_rows
from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import ManualWorker
from tests.integration.test_following import COLUMNS, attach, documents, error, worker
from tests.sessions import Connect, Connection, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["worker"]

STATE = "select state from pgclarify_private.source"
ADD = "select pgclarify.add_document('kb', %s, 'Cars.')"
INSERT = "insert into note (id, body) values (%s, %s)"


def wide(length: int) -> str:
    """Characters of three bytes each, that no index can compress."""
    return "".join(chr(20000 + number * 7919 % 20000) for number in range(length))


class TestIds:
    def test_an_id_that_is_too_wide_for_an_index_is_skipped(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute(f"create table note ({COLUMNS.format('text')})".encode())
        for id_, body in (("a", "a"), ("z", "z"), (wide(866), "wide"), (wide(870), "too wide")):
            connection.execute(INSERT, [id_, body])
        attach(connection, "note")

        worker.follow_everything()

        assert [content for _, content in documents(connection)] == ["a", "z", "wide"]
        assert scalar(connection, STATE) == "following"
        assert "2600 bytes" in error(connection)
        worker.index_everything()
        while worker.value("link_passages", max_passages=100):
            pass
        assert_counts_agree(connection)

    def test_a_prefix_counts(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute(f"create table note ({COLUMNS.format('text')})".encode())
        for id_, body in (("a", "a"), (wide(860), "wide")):
            connection.execute(INSERT, [id_, body])
        attach(connection, "note", id_prefix="x" * 30)

        worker.follow_everything()

        assert [content for _, content in documents(connection)] == ["a"]
        assert "2600 bytes" in error(connection)

    def test_by_hand(self, connection: Connection, worker: ManualWorker) -> None:
        assert scalar(connection, ADD, wide(866))
        assert sqlstate_of(connection, ADD, [wide(867)]) == "22023"


class TestCollisions:
    """Ids that other documents of the corpus have already. attach_table reads no ids, so a worker finds them."""

    STATUS = "select error, rows_added, rows_skipped from pgclarify.source_status where relation = %s"

    @pytest.fixture
    def page(self, connection: Connection, worker: ManualWorker) -> str:
        """A table with the same columns, and ids "1", "2" and "3". Table "article" has 1 and 2."""
        connection.execute("insert into article (id, body) values (1, 'Cars.'), (2, 'Vans.')")
        connection.execute(f"create table page ({COLUMNS.format('text')})".encode())
        connection.execute("insert into page (id, body) values ('1', 'Ships.'), ('2', 'Boats.'), ('3', 'Rafts.')")
        return "public.page"

    @pytest.mark.parametrize("is_loaded", [True, False])
    def test_with_rows_of_another_table(
        self, connection: Connection, worker: ManualWorker, page: str, is_loaded: bool
    ) -> None:
        attach(connection)
        if is_loaded:
            worker.follow_everything()
        attach(connection, page)

        worker.follow_everything()

        assert documents(connection) == [("1", "Cars."), ("2", "Vans."), ("3", "Rafts.")]
        assert connection.execute(self.STATUS, ["public.article"]).fetchall() == [(None, 2, 0)]
        ((said, added, skipped),) = connection.execute(self.STATUS, [page]).fetchall()
        assert "public.article" in said
        assert (added, skipped) == (1, 2)
        # What the error says.
        connection.execute("select pgclarify.detach_table('kb', 'page', '{\"documents\": \"remove\"}')")
        attach(connection, page, id_prefix="page/")
        worker.follow_everything()
        assert connection.execute(self.STATUS, [page]).fetchall() == [(None, 3, 0)]
        assert len(documents(connection)) == 5

    def test_a_table_that_takes_the_place_of_a_dropped_one_takes_its_documents_over(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        attach(connection)
        worker.follow_everything()
        connection.execute("drop table article")
        connection.execute(f"create table article ({COLUMNS.format('bigint')})".encode())
        connection.execute("insert into article (id, body) values (1, 'Trucks.')")
        attach(connection)

        worker.follow_everything()

        of_new = "select error from pgclarify.source_status where relation_oid = 'article'::regclass"
        assert documents(connection) == [("1", "Trucks.")]
        assert scalar(connection, of_new) is None


class TestValues:
    @pytest.fixture
    def attached(self, connection: Connection, worker: ManualWorker) -> ManualWorker:
        """Table "article" with a column of JSON, not all of which jsonb takes."""
        connection.execute("alter table article add column more json")
        connection.execute("insert into article (id, body) select n, 'Cars ' || n from generate_series(1, 30) as n")
        attach(connection, metadata=["more"])
        return worker

    @pytest.mark.parametrize("max_rows", [1, 7, 1000])
    def test_they_are_left_out_of_a_load(self, connection: Connection, attached: ManualWorker, max_rows: int) -> None:
        connection.execute("""update article set more = '{"a": "\\u0000"}' where id in (9, 21)""")

        attached.follow_everything(max_rows=max_rows)

        assert scalar(connection, STATE) == "following"
        assert len(documents(connection)) == 28
        assert any(f'"{number}"' in error(connection) for number in (9, 21))
        assert "22P05" in error(connection)
        assert scalar(connection, "select rows_added from pgclarify_private.source") == 28
        connection.execute("""update article set more = '{"a": "b"}' where id = 9""")
        connection.execute("select pgclarify.resync('kb', 'article')")
        attached.follow_everything(max_rows=max_rows)
        assert '"21"' in error(connection)
        connection.execute("""update article set more = '{"a": "b"}'""")
        attached.follow_everything()
        assert_documents_match_rows(connection)
        connection.execute("select pgclarify.resync('kb', 'article')")
        attached.follow_everything(max_rows=max_rows)
        assert scalar(connection, "select error from pgclarify.source_status") is None
        assert_counts_agree(connection)

    def test_the_old_text_of_an_unfit_row_is_removed(self, connection: Connection, attached: ManualWorker) -> None:
        attached.follow_everything()
        attached.index_everything()
        connection.execute("update article set body = 'Trucks ' || id where id < 9")
        connection.execute("""update article set more = '{"a": "\\u0000"}', groups = '{boss}' where id = 5""")

        attached.follow_everything()

        assert scalar(connection, STATE) == "following"
        found = dict(documents(connection))
        assert "5" not in found
        assert found["4"] == "Trucks 4"
        assert len(found) == 29
        assert '"5"' in error(connection)
        attached.index_everything()
        assert_counts_agree(connection)


class TestRemoval:
    @pytest.mark.committed
    def test_removing_a_source_keeps_documents_added_by_hand(
        self, connection: Connection, connect: Connect, worker: ManualWorker
    ) -> None:
        connection.execute("insert into article (id, body) select n, 'Cars.' from generate_series(1, 9) as n")
        attach(connection)
        worker.follow_everything()
        connection.execute("select pgclarify.detach_table('kb', 'article', %s)", [json.dumps({"documents": "remove"})])
        (waiting,) = worker.send("waiting_sources")
        user = connect()
        user.execute("begin")
        user.execute("select pgclarify.add_document('kb', '5', 'Mine.')")

        # The worker locks documents 1 to 4 before it finds 5 locked, and must release those locks.
        batch = {"source_id": waiting["source_id"], "work": "removal", "max_rows": 9, "max_bytes": 10**6}
        assert worker.value("advance_source", **batch) is None

        user.execute("select pgclarify.add_document('kb', '1', 'Mine, too.')")
        user.execute("commit")
        worker.follow_everything()
        assert documents(connection) == [("1", "Mine, too."), ("5", "Mine.")]
        assert_counts_agree(connection)


class TestWhatEachCitationHas:
    def test_a_row_with_an_endless_uri_or_endless_metadata_is_not_indexed(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        connection.execute("create table page (id bigint primary key, body text, url text, extra text)")
        connection.execute(
            "insert into page values (1, 'Cars.', 'http://a', 'b'), (2, 'Trucks.', repeat('x', 10001), 'b'),"
            " (3, 'Ships.', 'http://a', repeat('x', 1000000))"
        )
        options = {"uri": "url", "metadata": ["extra"]}
        connection.execute("select pgclarify.attach_table('kb', 'page', 'id', 'body', %s)", [json.dumps(options)])

        worker.follow_everything()
        worker.index_everything()

        assert connection.execute("select id, has_failed, uri from pgclarify.document order by id").fetchall() == [
            ("1", False, "http://a"), ("2", True, None), ("3", True, "http://a"),
        ]  # fmt: skip
        assert scalar(connection, STATE) == "following"
        assert_counts_agree(connection)
