"""Following attached tables: documents become what the rows are; what stands in the way is said, and stops nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.by_hand import Connect, Connection, HandWorker, Hire, MakeRole, scalar, state_of
from tests.integration.counts import assert_counts_agree
from tests.integration.in_step import assert_in_step

NOT_NOW = "55000"
DOCUMENTS = "select id, content from pgclarify.document order by id"
STATE = "select state from pgclarify.source order by source_id"
COLUMNS = "id {} primary key, body text, title text, url text, groups text[], author text, year integer"
OPTIONS = {"title": "title", "uri": "url", "readers": "groups", "metadata": ["author", "year"]}


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    """A worker; and corpus "kb", with table "article" beside it."""
    connection.execute("select pgclarify.create_corpus('kb')")
    connection.execute(f"create table article ({COLUMNS.format('bigint')})".encode())
    worker = hire()
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
    text = scalar(connection, "select error from pgclarify.source")
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
    def test_rows_become_documents(self, connection: Connection, worker: HandWorker, kind: str, ids: list[str]) -> None:
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
        assert scalar(connection, "select rows_added from pgclarify.source") == len(ids)
        assert_in_step(connection)
        worker.index_everything()
        assert_counts_agree(connection)

    def test_only_the_columns_that_are_named(self, connection: Connection, worker: HandWorker) -> None:
        connection.execute("insert into article values (1, 'Cars.', 'T', 'http://a', '{boss}', 'A', 2)")
        scalar(connection, "select pgclarify.attach_table('kb', 'article', 'id', 'body')")

        worker.follow_everything()

        assert connection.execute("select title, uri, metadata, readers from pgclarify.document").fetchall() == [
            (None, None, {}, None)
        ]

    def test_what_cannot_be_a_document_is_none(self, connection: Connection, worker: HandWorker) -> None:
        connection.execute("""
            insert into article (id, body)
            values (1, null), (2, ''), (3, e' \\t\\n'), (4, 'Cars.'), (5, repeat('x', 10000000)),
                (6, repeat('x', 10000001))
        """)
        connection.execute(
            "insert into article (id, body) values (7, repeat('é', 10000000)), (8, repeat('x', 50000000))"
        )
        attach(connection)

        worker.follow_everything()

        assert connection.execute(
            "select id, length(content), error is not null from pgclarify.document order by id"
        ).fetchall() == [
            ("4", 5, False),
            ("5", 10_000_000, False),
            ("6", 0, True),
            ("7", 10_000_000, False),
            ("8", 0, True),
        ]
        assert scalar(connection, "select (documents, pending, failed) = (5, 3, 2) from pgclarify.corpus_status")

        connection.execute("update article set body = 'Cars.' where id in (2, 6)")
        connection.execute("update article set body = ' ' where id in (5, 7)")
        connection.execute("update article set body = repeat('x', 10000001) where id = 4")
        worker.index_everything()
        worker.follow_everything()

        assert connection.execute("select id, error is not null from pgclarify.document order by id").fetchall() == [
            ("2", False),
            ("4", True),
            ("6", False),
            ("8", True),
        ]
        worker.index_everything()
        assert scalar(connection, "select (documents, pending, failed) = (4, 0, 2) from pgclarify.corpus_status")
        # What the row says no more is not found.
        assert connection.execute("select distinct document_id from pgclarify.passage order by 1").fetchall() == [
            ("2",),
            ("6",),
        ]
        assert_counts_agree(connection)

    def test_a_batch_has_so_many_bytes(self, connection: Connection, worker: HandWorker) -> None:
        source_id = attach(connection)
        connection.execute("insert into article (id, body) select n, repeat('x', 1000) from generate_series(1, 9) as n")
        connection.execute("delete from pgclarify.change")

        def load(max_bytes: int) -> int:
            return int(worker.send("load_source", source_id=source_id, max_rows=100, max_bytes=max_bytes)[0]["done"])

        assert [load(1), load(2500), load(2500), load(10**9)] == [1, 3, 3, 2]
        connection.execute("update article set body = repeat('y', 1000)")
        taken = worker.send("follow_changes", source_id=source_id, max_rows=100, max_bytes=2500)[0]["done"]
        assert taken == 3
        assert scalar(connection, "select count(*) from pgclarify.change") == 6
        worker.follow_everything()
        assert_in_step(connection)

    def test_names_that_are_no_roles_admit_nobody(self, connection: Connection, worker: HandWorker) -> None:
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

    def test_resync_mends_and_counts(self, connection: Connection, worker: HandWorker) -> None:
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

        assert_in_step(connection)
        assert connection.execute("select rows_added, rows_changed, rows_removed from pgclarify.source").fetchall() == [
            (2, 3, 1)
        ]
        connection.execute("select pgclarify.resync('kb', 'article')")
        worker.follow_everything()
        assert connection.execute("select rows_added, rows_changed, rows_removed from pgclarify.source").fetchall() == [
            (0, 0, 0)
        ]


class TestChanges:
    def test_documents_follow_rows(self, connection: Connection, worker: HandWorker) -> None:
        attach(connection)
        worker.follow_everything()

        connection.execute("insert into article (id, body) select n, 'Cars ' || n from generate_series(1, 9) as n")
        worker.follow_everything()
        worker.index_everything()
        assert_in_step(connection)
        connection.execute("update article set body = 'Trucks ' || id where id < 5")
        connection.execute("update article set id = 100 where id = 6")
        connection.execute("update article set groups = '{boss}' where id = 7")
        connection.execute("delete from article where id = 8")
        worker.follow_everything()
        assert_in_step(connection)
        worker.index_everything()
        assert_counts_agree(connection)

        connection.execute("truncate article")
        worker.follow_everything()
        assert documents(connection) == []
        worker.index_everything()
        assert_counts_agree(connection)

    def test_a_rolled_back_change_leaves_nothing(self, connection: Connection, worker: HandWorker) -> None:
        attach(connection)
        worker.follow_everything()
        connection.execute("begin")
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        connection.execute("rollback")

        assert worker.send("list_waiting_sources") == []
        worker.follow_everything()
        assert documents(connection) == []

    def test_many_changes_of_a_row_are_one(self, connection: Connection, worker: HandWorker) -> None:
        attach(connection)
        worker.follow_everything()
        for number in range(5):
            connection.execute(
                "insert into article (id, body) values (1, 'Cars 0')"
                " on conflict (id) do update set body = 'Cars ' || %s::integer",
                [number],
            )
        revision = scalar(connection, "select revision from pgclarify.corpus_status")

        worker.follow_everything()
        worker.index_everything()

        assert documents(connection) == [("1", "Cars 4")]
        assert scalar(connection, "select revision from pgclarify.corpus_status") == revision + 1

    def test_a_batch_moves_the_revision_once(self, connection: Connection, worker: HandWorker) -> None:
        attach(connection)
        connection.execute("insert into article (id, body) select n, 'Cars ' || n from generate_series(1, 9) as n")
        worker.follow_everything()
        worker.index_everything()
        revision = scalar(connection, "select revision from pgclarify.corpus_status")

        connection.execute("update article set groups = '{boss}' where id < 5")
        connection.execute("delete from article where id > 7")
        worker.follow_everything()
        assert scalar(connection, "select revision from pgclarify.corpus_status") == revision + 1

        connection.execute("update article set year = 3, url = 'http://b'")
        worker.follow_everything()
        assert scalar(connection, "select revision from pgclarify.corpus_status") == revision + 1
        assert_in_step(connection)
        assert_counts_agree(connection)

    @pytest.mark.parametrize("kind", ["integer", "text"])
    def test_an_id_of_another_type(self, connection: Connection, worker: HandWorker, kind: str) -> None:
        connection.execute("insert into article (id, body) values (1, 'Cars.'), (2, 'Vans.')")
        attach(connection)
        worker.follow_everything()
        expression = "'x' || id" if kind == "text" else "id + 5"
        connection.execute(f"alter table article alter id type {kind} using {expression}".encode())
        connection.execute("insert into article (id, body) values ('77', 'Trucks.')")

        worker.follow_everything()

        assert scalar(connection, STATE) == "following"
        assert_in_step(connection)
        connection.execute("update article set body = 'Towed.'")
        assert scalar(connection, "select count(key) from pgclarify.change") == 3
        worker.follow_everything()
        assert_in_step(connection)

    def test_a_table_with_partitions(self, connection: Connection, worker: HandWorker) -> None:
        connection.execute(
            "create table log (id bigint, body text, day integer, primary key (id, day)) partition by list (day)"
        )
        connection.execute("create table log_1 partition of log for values in (1)")
        connection.execute("create table log_2 partition of log for values in (2)")
        connection.execute("insert into log select n, 'Cars ' || n, 1 + n % 2 from generate_series(1, 9) as n")
        scalar(connection, "select pgclarify.attach_table('kb', 'log', 'id', 'body')")
        worker.follow_everything(max_rows=2)
        assert len(documents(connection)) == 9
        assert_in_step(connection)

        connection.execute("update log set day = 3 - day where id < 4")
        connection.execute("delete from log_1 where id = 5")
        connection.execute("insert into log_2 values (50, 'Vans.', 2)")
        worker.follow_everything()
        assert_in_step(connection)

        connection.execute("create table log_3 (id bigint not null, body text, day integer not null)")
        connection.execute("insert into log_3 values (60, 'Towed.', 3)")
        connection.execute("alter table log attach partition log_3 for values in (3)")
        worker.send("inspect_sources")
        worker.follow_everything()
        assert ("60", "Towed.") in documents(connection)
        connection.execute("truncate log_3")
        worker.send("inspect_sources")
        worker.follow_everything()
        assert_in_step(connection)
        connection.execute("alter table log detach partition log_2")
        worker.send("inspect_sources")
        worker.follow_everything()
        assert_in_step(connection)
        connection.execute("insert into log_2 values (70, 'Vans.', 2)")
        worker.follow_everything()
        assert_in_step(connection)

    def test_one_id_twice(self, connection: Connection, worker: HandWorker) -> None:
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


class TestOthersDocuments:
    def test_by_hand_they_are_not_changed(self, connection: Connection, worker: HandWorker) -> None:
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        attach(connection)
        worker.follow_everything()

        assert state_of(connection, "select pgclarify.add_document('kb', '1', 'Vans.')") == NOT_NOW
        assert state_of(connection, "select pgclarify.remove_document('kb', '1')") == NOT_NOW
        assert documents(connection) == [("1", "Cars.")]

        connection.execute("select pgclarify.detach_table('kb', 'article')")
        assert scalar(connection, "select pgclarify.add_document('kb', '1', 'Vans.')")
        assert scalar(connection, "select pgclarify.remove_document('kb', '1')")
        assert_counts_agree(connection)

    def test_what_is_somebody_elses_is_left_alone(self, connection: Connection, worker: HandWorker) -> None:
        attach(connection)
        worker.follow_everything()
        connection.execute("select pgclarify.add_document('kb', '2', 'By hand.')")
        connection.execute("insert into article (id, body) values (1, 'Cars.'), (2, 'Trucks.'), (3, 'Vans.')")

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
        assert scalar(connection, "select error from pgclarify.source") is None
        assert_in_step(connection)
        assert_counts_agree(connection)

    def test_an_id_that_is_too_long(self, connection: Connection, worker: HandWorker) -> None:
        connection.execute(f"create table note ({COLUMNS.format('text')})".encode())
        connection.execute("insert into note (id, body) values ('', 'a'), ('b', 'b'), (repeat('c', 1001), 'c')")
        attach(connection, "note")

        worker.follow_everything()

        assert documents(connection) == [("b", "b")], error(connection)
        assert scalar(connection, STATE) == "following"
        assert "1000" in error(connection)

    def test_detached_documents_go_or_stay(self, connection: Connection, worker: HandWorker) -> None:
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
        assert_in_step(connection)
        assert scalar(connection, "select rows_changed from pgclarify.source") == 0

        connection.execute("""select pgclarify.detach_table('kb', 'article', '{"documents": "remove"}')""")
        scalar(connection, "select pgclarify.add_document('kb', '3', 'Kept.')")
        worker.follow_everything(max_rows=2)
        assert documents(connection) == [("3", "Kept.")]
        assert scalar(connection, "select count(*) from pgclarify.source") == 0
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
            ("revoke select (body) on article from pgclarify_owner", "select"),
            ("alter table article disable trigger user", "alter table article enable trigger user"),
            ("drop function pgclarify._capture_1() cascade", "select"),
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
        self, connection: Connection, worker: HandWorker, make_role: MakeRole, accident: str, remedy: str | None
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

        for statement in accident.split("; "):
            connection.execute(statement.replace("somebody", somebody).encode())
        connection.execute("insert into other values (1, 'Vans.')")
        if " article" in accident and accident not in ("drop table article", "alter table article drop column id"):
            # The user's own writes go on.
            connection.execute("insert into article (id) values (2)")
        worker.send("inspect_sources")
        worker.follow_everything()

        states = connection.execute(STATE).fetchall()
        assert states == [("failed",), ("following",)], states
        assert "pgclarify.resync" in scalar(connection, "select error from pgclarify.source where state = 'failed'")
        assert ("o/1", "Vans.") in documents(connection)
        assert ("1", "Cars.") in documents(connection)
        if remedy:
            connection.execute(remedy.encode())
            connection.execute("select pgclarify.resync('kb', 'article')")
            worker.send("inspect_sources")
            worker.follow_everything()
            assert connection.execute(STATE).fetchall() == [("following",), ("following",)]
            assert_in_step(connection)

    def test_who_attached_it_may_read_it_no_more(
        self, connection: Connection, worker: HandWorker, make_role: MakeRole
    ) -> None:
        alice = make_role("pgclarify_user")
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        attach(connection)
        connection.execute(
            f"grant usage on schema public to {alice}; grant select (id, body) on article to {alice}".encode()
        )
        connection.execute(
            "update pgclarify.source set attached_by = %s, title_column = null, uri_column = null,"
            " metadata_columns = '{}', readers_column = null",
            [alice],
        )
        worker.follow_everything()
        assert scalar(connection, STATE) == "following"

        connection.execute(f"revoke select (body) on article from {alice}".encode())  # noqa: S608 - no query
        worker.send("inspect_sources")

        assert scalar(connection, STATE) == "failed"
        assert alice in error(connection)

    @pytest.mark.parametrize("statement", ["alter table article add column more text", "lock table article"])
    def test_a_table_that_is_being_altered_waits(
        self, connection: Connection, connect: Connect, worker: HandWorker, statement: str
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
        assert worker.send("follow_changes", source_id=source_id, max_rows=9, max_bytes=9) == [{"done": None}]
        assert documents(connection) == [("o/1", "Vans.")]
        assert connection.execute(STATE).fetchall() == [("following",), ("following",)]

        hesitant.execute("commit")
        worker.follow_everything()
        assert_in_step(connection)

    @pytest.mark.parametrize(
        "hold",
        [
            "select pgclarify.resync('kb', 'article')",
            "select pgclarify.detach_table('kb', 'article')",
            "select pgclarify.drop_corpus('kb')",
        ],
    )
    def test_a_source_that_somebody_holds_waits(
        self, connection: Connection, connect: Connect, worker: HandWorker, hold: str
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
        assert_in_step(connection)

    def test_changes_that_nobody_follows_go(self, connection: Connection, worker: HandWorker) -> None:
        attach(connection)
        worker.follow_everything()
        connection.execute("insert into article (id, body) values (1, 'Cars.')")
        connection.execute("update pgclarify.source set state = 'failed', error = 'so'")

        worker.follow_everything()

        assert scalar(connection, "select count(*) from pgclarify.change") == 0
        assert documents(connection) == []
        connection.execute("select pgclarify.resync('kb', 'article')")
        worker.follow_everything()
        assert_in_step(connection)

    def test_readers_of_a_table_run_no_code_of_its_owner(
        self, connection: Connection, worker: HandWorker, make_role: MakeRole
    ) -> None:
        """An index may call a function when a query is planned: as whoever reads."""
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
