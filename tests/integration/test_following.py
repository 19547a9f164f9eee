"""Following attached tables: documents become equal to the rows. Problems are reported, and stop nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.attached_documents import assert_documents_match_rows
from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connection, scalar
from tests.workers import Worker, until, wait_until_searchable

pytestmark = pytest.mark.rolled_back

DOCUMENTS = "select id, content from pgclarify.document order by id"
STATE = "select state from pgclarify_private.source order by source_id"
COLUMNS = "id {} primary key, body text, title text, url text, groups text[], author text, year integer"
OPTIONS = {"title": "title", "uri": "url", "readers": "groups", "metadata": ["author", "year"]}


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker; and corpus "kb", with table "article" beside it."""
    connection.execute("select pgclarify.create_corpus('kb')")
    connection.execute(f"create table article ({COLUMNS.format('bigint')})".encode())
    worker = make_worker()
    worker.open_spaces()
    return worker


def attach(connection: Connection, relation: str = "article", **options: Any) -> int:
    """Attach a table to corpus "kb"."""
    return int(
        scalar(
            connection,
            "select pgclarify.attach_table('kb', %s, 'id', 'body', %s)",
            relation,
            json.dumps({**OPTIONS, **options}),
        )
    )


def documents(connection: Connection) -> list[tuple[str, str]]:
    return connection.execute(DOCUMENTS).fetchall()


def error(connection: Connection) -> str:
    """The error of the only source, which has one."""
    text = scalar(connection, "select error from pgclarify_private.source")
    assert isinstance(text, str)
    return text


class TestLoading:
    @pytest.mark.parametrize(
        ("kind", "ids"),
        [
            ("smallint", ["-3", "0", "7"]),
            ("bigint", ["-9223372036854775808", "12", "9", "9223372036854775807"]),
            ("uuid", ["00000000-0000-0000-0000-00000000000a", "c0ffee00-0000-4000-8000-000000000000"]),
            ("text", ["", "'; drop", "A", "a", "b/c", "é"]),
            ("varchar(5)", ["a", "abcde"]),
        ],
    )
    def test_rows_become_documents(
        self, connection: Connection, worker: ManualWorker, kind: str, ids: list[str]
    ) -> None:
        connection.execute(f'create table "My Table" ({COLUMNS.format(kind)})'.encode())
        for id_ in ids:
            connection.execute(
                f'insert into "My Table" values (%s::{kind}, %s, %s, %s, %s, %s, 2)'.encode(),  # noqa: S608 - a constant
                [id_, f"Cars {id_}", "T", "http://a", ["boss"], "A"],
            )
        attach(connection, '"My Table"', id_prefix="t/")

        worker.follow_everything(max_rows=2)

        assert [id_ for id_, _ in documents(connection)] == sorted(f"t/{id_}" for id_ in ids)
        assert connection.execute(
            "select distinct title, uri, metadata, readers::text from pgclarify.document"
        ).fetchall() == [("T", "http://a", {"author": "A", "year": 2}, "{boss}")]
        assert scalar(connection, STATE) == "following"
        assert scalar(connection, "select rows_added from pgclarify_private.source") == len(ids)
        assert_documents_match_rows(connection)
        worker.index_everything()
        assert_counts_agree(connection)

    def test_more_readers_than_each_passage_can_have_are_an_error(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        connection.execute(
            "insert into article (id, body, groups) values (1, 'Cars.', array_fill('a'::text, array[1001]))"
        )
        attach(connection)

        worker.follow_everything()

        assert scalar(connection, "select error from pgclarify_private.document") is not None
        assert worker.claim() == []

    def test_rows_with_null_blank_or_too_long_text_are_no_documents(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        connection.execute("""
            insert into article (id, body)
            values (1, null), (2, ''), (3, e' \\t\\n'), (4, 'Cars.'), (5, repeat('é', 10000000)),
                (6, repeat('x', 10000001))
        """)
        attach(connection)

        worker.follow_everything()

        assert connection.execute(
            "select id, length(content), error is not null from pgclarify.document order by id"
        ).fetchall() == [("4", 5, False), ("5", 10_000_000, False), ("6", 0, True)]
        assert scalar(connection, "select (documents, pending, failed) = (3, 2, 1) from pgclarify.corpus")

        connection.execute("update article set body = 'Cars.' where id in (2, 6)")
        connection.execute("update article set body = ' ' where id = 5")
        connection.execute("update article set body = repeat('x', 10000001) where id = 4")
        worker.index_everything()
        worker.follow_everything()

        assert connection.execute("select id, error is not null from pgclarify.document order by id").fetchall() == [
            ("2", False),
            ("4", True),
            ("6", False),
        ]
        worker.index_everything()
        assert scalar(connection, "select (documents, pending, failed) = (3, 0, 1) from pgclarify.corpus")
        # Text that the row no longer has is not found.
        assert connection.execute("select distinct document_id from pgclarify.passage order by 1").fetchall() == [
            ("2",),
            ("6",),
        ]
        assert_counts_agree(connection)

    def test_a_batch_has_so_many_bytes(self, connection: Connection, worker: ManualWorker) -> None:
        source_id = attach(connection)
        connection.execute("insert into article (id, body) select n, repeat('x', 1000) from generate_series(1, 9) as n")
        connection.execute("delete from pgclarify_private.change")

        def load(max_bytes: int) -> int:
            return int(
                worker.value("advance_source", source_id=source_id, work="load", max_rows=100, max_bytes=max_bytes)
            )

        assert [load(1), load(2500), load(2500), load(10**9)] == [1, 3, 3, 2]
        connection.execute("update article set body = repeat('y', 1000)")
        worker.send("advance_source", source_id=source_id, work="changes", max_rows=100, max_bytes=2500)
        assert scalar(connection, "select coalesce(sum(cardinality(keys)), 0) from pgclarify_private.change") == 6
        worker.follow_everything()
        assert_documents_match_rows(connection)

    def test_names_that_are_no_roles_admit_nobody(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute(
            "insert into article (id, body, groups) values (1, 'a', '{}'), (2, 'b', null),"
            " (3, 'c', array[repeat('x', 64), null, '']), (4, 'd', array['boss', repeat('x', 64)])"
        )
        attach(connection)

        worker.follow_everything()

        assert connection.execute("select id, readers::text from pgclarify.document order by id").fetchall() == [
            ("1", "{}"),
            ("2", None),
            ("3", "{}"),
            ("4", "{boss}"),
        ]

    def test_resync_mends_and_counts(self, connection: Connection, worker: ManualWorker) -> None:
        attach(connection)
        connection.execute("insert into article (id, body) select n, 'Cars ' || n from generate_series(1, 20) as n")
        worker.follow_everything()
        connection.execute("set session_replication_role = replica")
        connection.execute("alter table article disable trigger user")
        connection.execute("insert into article (id, body) values (21, 'Trucks.'), (22, 'Vans.')")
        connection.execute("update article set body = 'Towed.' where id <= 3")
        connection.execute("delete from article where id = 4")
        connection.execute("set session_replication_role = origin")
        worker.follow_everything()
        assert len(documents(connection)) == 20

        connection.execute("select pgclarify.resync('kb', 'article')")
        worker.follow_everything(max_rows=3)

        assert_documents_match_rows(connection)
        assert connection.execute(
            "select rows_added, rows_changed, rows_removed from pgclarify_private.source"
        ).fetchall() == [(2, 3, 1)]
        connection.execute("select pgclarify.resync('kb', 'article')")
        worker.follow_everything()
        assert connection.execute(
            "select rows_added, rows_changed, rows_removed from pgclarify_private.source"
        ).fetchall() == [(0, 0, 0)]


class TestChanges:
    def test_many_changes_of_a_row_are_one(self, connection: Connection, worker: ManualWorker) -> None:
        attach(connection)
        worker.follow_everything()
        for number in range(5):
            connection.execute(
                "insert into article (id, body) values (1, 'Cars 0')"
                " on conflict (id) do update set body = 'Cars ' || %s::integer",
                [number],
            )
        revision = scalar(connection, "select revision from pgclarify.corpus")

        worker.follow_everything()
        worker.index_everything()

        assert documents(connection) == [("1", "Cars 4")]
        assert scalar(connection, "select revision from pgclarify.corpus") == revision + 1

    def test_a_batch_may_end_in_a_statement_that_repeats_an_earlier_one(
        self, connection: Connection, worker: ManualWorker
    ) -> None:
        source_id = attach(connection)
        connection.execute("insert into article (id, body) values (1, 'Cars.'), (2, 'Cars.')")
        worker.follow_everything()
        for body in ("Vans.", "Buses."):
            connection.execute("update article set body = %s", [body])

        # Both rows of the first statement, and one of the second.
        worker.send("advance_source", source_id=source_id, work="changes", max_rows=3, max_bytes=10**9)

        assert documents(connection) == [("1", "Buses."), ("2", "Buses.")]
        assert scalar(connection, "select count(*) from pgclarify_private.change") == 0

    def test_a_batch_moves_the_revision(self, connection: Connection, worker: ManualWorker) -> None:
        attach(connection)
        connection.execute("insert into article (id, body) select n, 'Cars ' || n from generate_series(1, 9) as n")
        worker.follow_everything()
        worker.index_everything()
        revision = scalar(connection, "select revision from pgclarify.corpus")

        connection.execute("update article set groups = '{boss}' where id < 5")
        connection.execute("delete from article where id > 7")
        worker.follow_everything()
        moved = scalar(connection, "select revision from pgclarify.corpus")
        assert moved > revision

        connection.execute("update article set year = 3, url = 'http://b'")
        worker.follow_everything()
        assert scalar(connection, "select revision from pgclarify.corpus") == moved
        assert_documents_match_rows(connection)
        assert_counts_agree(connection)

    @pytest.mark.parametrize("kind", ["integer", "text"])
    def test_an_id_of_another_type(self, connection: Connection, worker: ManualWorker, kind: str) -> None:
        connection.execute("insert into article (id, body) values (1, 'Cars.'), (2, 'Vans.')")
        attach(connection)
        worker.follow_everything()
        expression = "'x' || id" if kind == "text" else "id + 5"
        connection.execute(f"alter table article alter id type {kind} using {expression}".encode())
        connection.execute("insert into article (id, body) values ('77', 'Trucks.')")

        worker.follow_everything()

        assert scalar(connection, STATE) == "following"
        assert_documents_match_rows(connection)
        connection.execute("update article set body = 'Towed.'")
        assert scalar(connection, "select coalesce(sum(cardinality(keys)), 0) from pgclarify_private.change") == 3
        worker.follow_everything()
        assert_documents_match_rows(connection)

    def test_a_table_with_partitions(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute(
            "create table log (id bigint, body text, day integer, primary key (id, day)) partition by list (day)"
        )
        connection.execute("create table log_1 partition of log for values in (1)")
        connection.execute("create table log_2 partition of log for values in (2)")
        connection.execute("insert into log select n, 'Cars ' || n, 1 + n % 2 from generate_series(1, 9) as n")
        scalar(connection, "select pgclarify.attach_table('kb', 'log', 'id', 'body')")
        worker.follow_everything(max_rows=2)
        assert len(documents(connection)) == 9
        assert_documents_match_rows(connection)

        connection.execute("update log set day = 3 - day where id < 4")
        connection.execute("delete from log_1 where id = 5")
        connection.execute("insert into log_2 values (50, 'Vans.', 2)")
        worker.follow_everything()
        assert_documents_match_rows(connection)

        connection.execute("create table log_3 (id bigint not null, body text, day integer not null)")
        connection.execute("insert into log_3 values (60, 'Towed.', 3)")
        connection.execute("alter table log attach partition log_3 for values in (3)")
        worker.send("inspect_sources")
        worker.follow_everything()
        assert ("60", "Towed.") in documents(connection)
        connection.execute("truncate log_3")
        worker.send("inspect_sources")
        worker.follow_everything()
        assert_documents_match_rows(connection)
        connection.execute("alter table log detach partition log_2")
        worker.send("inspect_sources")
        worker.follow_everything()
        assert_documents_match_rows(connection)
        connection.execute("insert into log_2 values (70, 'Vans.', 2)")
        worker.follow_everything()
        assert_documents_match_rows(connection)

    def test_a_repeated_id_fails_the_source(self, connection: Connection, worker: ManualWorker) -> None:
        connection.execute(
            "create table log (id bigint, body text, day integer, primary key (id, day)) partition by list (day)"
        )
        connection.execute("create table log_1 partition of log for values in (1)")
        connection.execute("create table log_2 partition of log for values in (2)")
        connection.execute("insert into log select n, 'Cars ' || n, 1 from generate_series(1, 4) as n")
        connection.execute("insert into log values (2, 'Vans.', 2)")
        scalar(connection, "select pgclarify.attach_table('kb', 'log', 'id', 'body')")

        worker.follow_everything(max_rows=2)

        assert scalar(connection, STATE) == "failed"
        assert '"2"' in error(connection)


@pytest.mark.committed
class TestWorker:
    def test_a_worker_follows_attached_tables_without_a_call(
        self, database: str, connection: Connection, make_worker: MakeWorker, run_worker: Callable[..., Worker]
    ) -> None:
        # What a worker looks for several times a minute is there when it starts: a table that was dropped while it was
        # followed, and triggers of a corpus that was dropped.
        connection.execute("select pgclarify.create_corpus('kb'), pgclarify.create_corpus('old')")
        for relation in ("article", "lost", "note"):
            connection.execute(f"create table {relation} ({COLUMNS.format('bigint')})".encode())
        attach(connection, "lost")
        make_worker().follow_everything()
        scalar(connection, "select pgclarify.attach_table('old', 'note', 'id', 'body')")
        connection.execute("select pgclarify.drop_corpus('old'); drop table lost")
        connection.execute("insert into article (id, body) values (1, 'Cars are insured.')")
        attach(connection)
        run_worker(database)
        wait_until_searchable(connection, "kb")

        connection.execute("insert into article (id, body) values (2, 'Trucks are not.')")
        until(lambda: scalar(connection, "select pending = 0 and passages = 2 from pgclarify.corpus"))
        connection.execute("delete from article where id = 1")
        until(lambda: documents(connection) == [("2", "Trucks are not.")])
        connection.execute("select pgclarify.detach_table('kb', 'article', '{\"documents\": \"remove\"}')")
        until(lambda: documents(connection) == [])
        until(lambda: scalar(connection, STATE) == "failed")
        until(lambda: scalar(connection, "select count(*) = 0 from pg_trigger where tgname like 'pgclarify%%'"))
