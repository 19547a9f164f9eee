"""A corpus that is spread over the nodes of a Citus cluster does what another one does, or says what it does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import psycopg
import pytest

from pgclarify.install.installer import install
from tests.integration.distributed.corpora import (
    DOCUMENTS,
    ON_NODES,
    QUESTIONS,
    RESTRICTED,
    SEARCH,
    TABLES,
    assert_same,
    distribute,
    fill,
    found,
    ids_of,
)
from tests.integration.linking import link
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.servers import cluster
from tests.sessions import Connect, Connection, scalar, sqlstate_of

pytestmark = cluster.needed
Result = TypeVar("Result")


def test_a_distributed_corpus_gives_the_same_results(connection: Connection, both: ManualWorker, reader: str) -> None:
    assert_same(connection, reader)


def test_a_distributed_corpus_follows_every_change(connection: Connection, both: ManualWorker, reader: str) -> None:
    for corpus in ("here", "there"):
        for statement in (
            "select pgclarify.add_document(%s, 'd1', '# hail damage 1\n\nNew words on hail.\n\nMore of 1.')",
            "select pgclarify.add_document(%s, 'new', 'Basement window, item7.')",
            "select pgclarify.remove_document(%s, 'd2')",
            # Other readers: from all to one, from one to all.
            f"select pgclarify.add_document(%s, 'd4', $${DOCUMENTS['d4']}$$, readers => array['{reader}']::name[])",
            f"select pgclarify.add_document(%s, 'd0', $${DOCUMENTS['d0']}$$)",
        ):
            connection.execute(statement.encode(), [corpus])
    both.index_everything()

    assert_same(connection, reader)
    counts = connection.execute("select documents, passages, pending, embedded from pgclarify.corpus").fetchall()
    assert counts[0] == counts[1]


def test_a_corpus_is_distributed_before_it_is_filled(
    connection: Connection, make_worker: MakeWorker, reader: str
) -> None:
    for corpus in ("here", "there"):
        connection.execute("select pgclarify.create_corpus(%s)", [corpus])
    assert distribute(connection, "there", shards=2)["is_distributed"]
    for corpus in ("here", "there"):
        for document_id, content in DOCUMENTS.items():
            connection.execute(
                "select pgclarify.add_document(%s, %s, %s, readers => %s::name[])",
                [corpus, document_id, content, [reader] if document_id in RESTRICTED else None],
            )
    make_worker().index_everything()

    assert_same(connection, reader)


def test_a_session_that_copies_no_ddl_to_the_nodes(connection: Connection, both: ManualWorker, reader: str) -> None:
    """A user may set this. Tables of a distributed corpus are made, renamed and dropped on the nodes all the same."""
    setting = "citus.enable_ddl_propagation"
    for session in (connection, both.connection):
        session.execute(f"set {setting} = off".encode())

    assert not distribute(connection, "there", shards=0)["is_distributed"]
    assert scalar(connection, ON_NODES, TABLES) == 0
    # LOCK TABLE of Citus sets it to on.
    connection.execute(f"set {setting} = off".encode())
    assert distribute(connection, "there", shards=2)["is_distributed"]
    assert_same(connection, reader)
    # A worker makes the table of vectors.
    connection.execute("select pgclarify.create_corpus('empty')")
    distribute(connection, "empty", shards=2)
    connection.execute("select pgclarify.add_document('empty', 'd1', 'Boats.')")
    both.index_everything()
    assert [row[0] for row in found(connection, "empty", [], "hybrid", "boats", 1)] == ["d1"]
    for corpus in ("empty", "there"):
        connection.execute("select pgclarify.drop_corpus(%s)", [corpus])
    both.sweep()
    assert scalar(connection, ON_NODES, TABLES) == 0
    assert {scalar(session, f"show {setting}") for session in (connection, both.connection)} == {"off"}


def test_words_that_are_common_are_scored_on_the_shards(connection: Connection, make_worker: MakeWorker) -> None:
    for corpus in ("here", "there"):
        connection.execute("select pgclarify.create_corpus(%s)", [corpus])
        for document_id, content in DOCUMENTS.items():
            connection.execute("select pgclarify.add_document(%s, %s, %s)", [corpus, document_id, content])
    make_worker().index_everything()
    # As if each term were in many more passages.
    connection.execute("update pgclarify_private.term set passages = passages + 10000")
    distribute(connection, "there", shards=4)

    for question in ("common", "common words", "common hail words"):
        expected = found(connection, "here", [], "lexical", question)
        assert expected
        assert found(connection, "there", [], "lexical", question) == expected


def test_the_page_distributes(connection: Connection, make_worker: MakeWorker, reader: str) -> None:
    fill(connection, "insurance", reader)
    make_worker().index_everything()
    for statement in cluster.DISTRIBUTE.splitlines():
        assert scalar(connection, statement)["passages"] == len(DOCUMENTS) * 3
    assert found(connection, "insurance", [reader], "hybrid", QUESTIONS[0])


def test_a_dry_run_moves_nothing(connection: Connection, both: ManualWorker) -> None:
    said = distribute(connection, "here", dry_run=True)

    assert said["is_distributed"] is False
    assert said["passages"] == 30 * 3
    assert said["bytes"] > 0
    assert not scalar(
        connection,
        "select pgclarify_private.is_distributed(corpus_id) from pgclarify.corpus where corpus = 'here'",
    )
    # A corpus that is distributed already is not changed.
    for options in ({"shards": 8}, {"shards": 8, "dry_run": True}):
        said = distribute(connection, "there", **options)
        assert (said["is_distributed"], said["shards"]) == (True, 4)
    shards = "select count(*) from citus_shards where table_name::text ~ 'passage_[0-9]+$'"
    assert scalar(connection, shards) == 4


@pytest.mark.parametrize("is_undone", [False, True])
def test_moving_a_corpus_locks_the_corpus_and_tables_only_at_the_end(
    connection: Connection, connect: Connect, make_worker: MakeWorker, is_undone: bool
) -> None:
    """As docs/citus.md says. The corpus is locked for the whole copy, and tables only when it is complete."""
    for corpus in ("here", "other"):
        connection.execute("select pgclarify.create_corpus(%s)", [corpus])
        connection.execute("select pgclarify.add_document(%s, 'd1', 'Rental cars.')", [corpus])
    worker = make_worker()
    worker.index_everything()
    if is_undone:
        distribute(connection, "here", shards=2)
    user = connect(connection.info.user)
    for session in (user, worker.connection):
        session.execute("set lock_timeout = '1s'")
    copy = "select pgclarify_private.copy_table(%s, %s, null, %s, 100) from pgclarify.corpus where corpus = 'here'"
    passages = scalar(
        connection, "select pgclarify_private.partition_name('passage', min(corpus_id)) from pgclarify.corpus"
    )
    with connection.transaction(force_rollback=True):
        connection.execute("select from pgclarify_private.corpus where name = 'here' for update")
        connection.execute(copy, [passages, "pgclarify_private.passage", None if is_undone else 2])

        assert [row[0] for row in found(user, "here", [], "hybrid", "cars", 1)] == ["d1"]
        user.execute("select count(*) from pgclarify.passage")
        user.execute("select pgclarify.create_corpus('another')")
        worker.index_everything()
        assert sqlstate_of(user, "select pgclarify.add_document('here', 'd2', 'Boats.')") == "55P03"
    with connection.transaction(force_rollback=True):
        distribute(connection, "here", shards=0 if is_undone else 2)

        waiting = ["select pgclarify.create_corpus('third')", "select pgclarify.add_document('here', 'd2', 'Boats.')"]
        if not is_undone:
            waiting.append("select count(*) from pgclarify.passage")
        for statement in waiting:
            assert sqlstate_of(user, statement) == "55P03", statement
        user.execute("select pgclarify.add_document('other', 'd2', 'Boats.')")
        worker.index_everything()
        assert {row[0] for row in found(user, "other", [], "hybrid", "boats")} == {"d1", "d2"}
    # It was broken off, so nothing has changed.
    assert distribute(connection, "here", dry_run=True)["is_distributed"] == is_undone
    assert [row[0] for row in found(user, "here", [], "hybrid", "cars", 1)] == ["d1"]


def test_a_distributed_corpus_refuses_graphs(connection: Connection, both: ManualWorker) -> None:
    for statement in (
        "select pgclarify.alter_corpus('there', jsonb_build_object('graph', 'rebuild'))",
        "select pgclarify_private.set_embedding_model(caller, 'there', 'another') from pgclarify_private.caller",
    ):
        assert sqlstate_of(connection, statement) == "0A000", statement
    assert scalar(connection, "select linked from pgclarify.corpus where corpus = 'there'") == 0
    # Neighbors are computed when they are requested.
    first = {
        corpus: scalar(
            connection,
            "select passage_id from pgclarify.corpus cross join lateral pgclarify_private.search("
            " corpus_id, array[current_user]::name[], 'lexical', 'item1', null, 1) where corpus = %s",
            corpus,
        )
        for corpus in ("here", "there")
    }
    seen = [
        connection.execute(
            "select document_id, round(similarity::numeric, 4) from pgclarify.neighbors(%s, 'd1', %s, 5)",
            [corpus, passage_id],
        ).fetchall()
        for corpus, passage_id in first.items()
    ]
    assert len(seen[1]) == 5


def test_a_transaction_that_sees_no_later_passages_moves_nothing(connection: Connection, both: ManualWorker) -> None:
    with pytest.raises(psycopg.errors.FeatureNotSupported), connection.transaction():
        connection.execute("set transaction isolation level repeatable read")
        connection.execute("select pgclarify.distribute('there', '{\"shards\": 0}')")


def test_a_corpus_comes_back(connection: Connection, both: ManualWorker, reader: str) -> None:
    """It is then like one that was never distributed: tables, indexes, graph, and what may be done with it."""
    for dry_run in (True, False, False):
        said = distribute(connection, "there", shards=0, dry_run=dry_run)
        assert said["passages"] == 30 * 3
        assert said["bytes"] > 0
        assert said["is_distributed"] == dry_run
    both.index_everything()

    assert_same(connection, reader)
    assert scalar(connection, "select count(*) from citus_tables") == 0
    assert scalar(connection, ON_NODES, TABLES) == 0
    here, there = (described(connection, corpus) for corpus in ("here", "there"))
    assert here == there
    for statement in (
        "select pgclarify.add_document('there', 'new', 'Boats.')",
        "select pgclarify.alter_corpus('there', jsonb_build_object('graph', 'rebuild'))",
    ):
        connection.execute(statement.encode())
    both.index_everything()
    linked = "select linked = embedded from pgclarify.corpus where corpus = 'there'"
    link(both)
    assert scalar(connection, linked)
    assert distribute(connection, "there", shards=2)["shards"] == 2


def test_a_search_that_waits_while_a_corpus_comes_back(
    connection: Connection, connect: Connect, both: ManualWorker
) -> None:
    """Its snapshot is older than the tables here, in which it would find nothing."""
    user = connect(connection.info.user)
    search = "select document_id from pgclarify.search('item7 hail', 'there', 5, '{\"method\": \"lexical\"}')"
    expected = user.execute(search.encode()).fetchall()
    stable: list[Any] = [[], "lexical", "item7 hail", None, 5, "there"]

    def after_undo(call: Callable[[], Result]) -> Result:
        distribute(connection, "there", shards=2)
        with ThreadPoolExecutor() as pool:
            with connection.transaction():
                distribute(connection, "there", shards=0)
                waiting = pool.submit(call)
                waits = "select exists (select from pg_locks where pid = %s and not granted)"
                while not scalar(connection, waits, user.info.backend_pid):
                    assert not waiting.done()
            return waiting.result(60)

    assert after_undo(lambda: user.execute(search.encode()).fetchall()) == expected
    assert after_undo(lambda: sqlstate_of(user, SEARCH, stable)) == "40001"
    assert user.execute(SEARCH.encode(), stable).rowcount == 5


@pytest.mark.parametrize("is_undone", [False, True])
def test_a_call_is_cancelled_while_it_waits_for_a_lock(
    connection: Connection, connect: Connect, both: ManualWorker, reader: str, is_undone: bool
) -> None:
    """It waits after the copies were made, in a subtransaction. A cancel in one has stopped Citus with PANIC before."""
    corpus = "there" if is_undone else "here"
    user, owner = connect(connection.info.user), connect(connection.info.user)
    waits = "select exists (select from pg_locks where pid = %s and not granted)"
    with ThreadPoolExecutor() as pool, user.transaction():
        if is_undone:
            found(user, corpus, [], "hybrid", QUESTIONS[0])
        else:
            user.execute("select count(*) from pgclarify.passage")
        moving = pool.submit(distribute, owner, corpus, shards=0 if is_undone else 2)
        while not scalar(connection, waits, owner.info.backend_pid):
            assert not moving.done()
        connection.execute("select pg_cancel_backend(%s::integer)", [owner.info.backend_pid])
        with pytest.raises(psycopg.errors.QueryCanceled):
            moving.result(60)
    # No session was lost, as it would be after a restart.
    assert distribute(owner, corpus, dry_run=True)["is_distributed"] == is_undone
    assert scalar(connection, "select count(*) from pg_class where relname ~ '^passage_.*_copy$'") == 0
    assert_same(user, reader)
    assert distribute(owner, corpus, shards=0 if is_undone else 2)["is_distributed"] != is_undone
    assert_same(user, reader)


def described(connection: Connection, corpus: str) -> list[tuple[Any, ...]]:
    """The tables, columns, constraints and indexes of a corpus, without its ids."""
    corpus_id, space_id = ids_of(connection, corpus)
    rows = connection.execute(
        """
        select relname, relrowsecurity, relispartition, obj_description(pg_class.oid),
            pg_get_expr(relpartbound, pg_class.oid),
            array(select pg_get_constraintdef(oid) from pg_constraint where conrelid = pg_class.oid order by 1),
            array(
                select concat_ws(
                    ' ', attname, format_type(atttypid, atttypmod), pg_get_expr(adbin, adrelid), attstattarget
                )
                from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
                where attrelid = pg_class.oid and attnum > 0 order by attnum
            ),
            array(
                select pg_get_indexdef(indexrelid) || (select relispartition from pg_class where oid = indexrelid)
                from pg_index where indrelid = pg_class.oid order by 1
            )
        from pg_class where oid in (%s::regclass, %s::regclass) order by relname
        """,
        [f"pgclarify_private.passage_{corpus_id}", f"pgclarify_private.passage_embedding_{space_id}"],
    ).fetchall()
    ids = r"(?:(?<=_)|(?<=_id )|(?<=\('))\d+"
    return [tuple(re.sub(ids, "N", str(each)) for each in row) for row in rows]


def test_nodes_keep_no_statistics_of_text(connection: Connection, both: ManualWorker) -> None:
    """They would stay after an erasure."""
    connection.execute("select run_command_on_workers('analyze')")

    columns = "select count(*) from pg_stats where tablename ~ '^passage_' and attname in "
    assert scalar(connection, ON_NODES, columns + "('document_id', 'ordinal')") > 0
    # halfvec is the expression of the index over vectors.
    assert scalar(connection, ON_NODES, columns + "('heading', 'content', 'lexemes', 'vector', 'halfvec')") == 0


def test_a_dropped_one_leaves_nothing_on_the_nodes(connection: Connection, both: ManualWorker) -> None:
    connection.execute("select pgclarify.drop_corpus('there')")
    assert len(both.sweep()) == 3

    assert scalar(connection, ON_NODES, TABLES) == 0
    assert scalar(connection, "select count(*) from pgclarify.corpus") == 1


def test_an_install_leaves_it_as_it_is(connection: Connection, both: ManualWorker, database: str, reader: str) -> None:
    applied = "select xmin from pgclarify_private.applied_sql"
    install(database)
    before = scalar(connection, applied)
    install(database)

    assert scalar(connection, applied) == before
    assert_same(connection, reader)


def test_tables_on_the_nodes_are_closed_to_readers(
    connection: Connection, both: ManualWorker, connect: Connect, reader: str
) -> None:
    """The tables of a distributed corpus are closed to all but the owner, on the nodes, too."""
    session = connect(reader)
    names = connection.execute("select table_name::text from citus_tables").fetchall()
    assert len(names) == 2
    for (name,) in names:
        assert sqlstate_of(session, "table " + name) == "42501"
    assert scalar(session, "select count(*) from pgclarify.document") > 0
