"""Settings of the nodes, connections to them, and a node that is down."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.integration.distributed.corpora import SEARCH, distribute, fill, found, ids_of
from tests.integration.manual_worker import MakeWorker, ManualWorker, rows_of, vector_of
from tests.servers import cluster
from tests.sessions import Connection, scalar, sqlstate_of
from tests.workers import CORPUS, DOCUMENTS, load, until, wait, wait_until_searchable, worker

pytestmark = cluster.needed
NODES = "select name, level, finding from pgclarify.finding where kind = 'nodes'"


def test_the_owner_has_to_be_let_in_on_the_nodes(connection: Connection, both: ManualWorker) -> None:
    connection.execute("alter role pgclarify_owner nologin")
    try:
        assert sqlstate_of(connection, "select pgclarify.distribute('here')") == "55000"
        assert sqlstate_of(connection, "select pgclarify.distribute('there', '{\"shards\": 0}')") == "55000"
    finally:
        connection.execute("alter role pgclarify_owner login")
    assert distribute(connection, "here", shards=2)["is_distributed"]


def test_a_corpus_comes_back_without_the_settings_of_searches(connection: Connection, both: ManualWorker) -> None:
    connection.execute("alter role pgclarify_owner reset hnsw.iterative_scan")
    try:
        assert sqlstate_of(connection, "select pgclarify.distribute('here')") == "55000"
        assert not distribute(connection, "there", shards=0)["is_distributed"]
    finally:
        connection.execute("alter role pgclarify_owner set hnsw.iterative_scan = 'strict_order'")


def test_a_corpus_comes_back_from_nodes_that_take_no_shards_any_more(
    connection: Connection, both: ManualWorker
) -> None:
    takes_shards = (
        "select citus_set_node_property(nodename, nodeport, 'shouldhaveshards', %s) from pg_dist_node where groupid > 0"
    )
    connection.execute(takes_shards, [False])
    try:
        for options in ("{}", '{"dry_run": true}'):
            assert sqlstate_of(connection, "select pgclarify.distribute('here', %s)", [options]) == "55000"
        assert distribute(connection, "there", shards=0, dry_run=True)["is_distributed"]
        assert not distribute(connection, "there", shards=0)["is_distributed"]
    finally:
        connection.execute(takes_shards, [True])


@contextmanager
def ef_search(connection: Connection, value: int) -> Iterator[None]:
    """Another hnsw.ef_search of the owner, on the coordinator and, if Citus copies it, on the nodes."""
    setting = "alter role pgclarify_owner set hnsw.ef_search = "
    connection.execute(f"{setting}{value}".encode())
    try:
        yield
    finally:
        connection.execute(f"{setting}100".encode())


def test_the_nodes_have_to_look_at_enough(connection: Connection, both: ManualWorker, cluster_dsn: str) -> None:
    """As many candidates as one server looks at for an index of a shard's size."""
    unfit = "select distinct corpus, ef_search from pgclarify_private.unfit_corpora()"
    assert distribute(connection, "here", shards=4, dry_run=True)["ef_search"] == 100
    with ef_search(connection, 99):
        assert sqlstate_of(connection, "select pgclarify.distribute('here', '{\"dry_run\": true}')") == "55000"
        assert connection.execute(unfit).fetchall() == [("there", 100)]
    # As if each corpus had 200,000 passages in each of 4 shards.
    grown = "insert into pgclarify_private.corpus_tally (corpus_id, passages) select corpus_id, 800000"
    connection.execute(f"{grown} from pgclarify.corpus".encode())
    assert sqlstate_of(connection, "select pgclarify.distribute('here', '{\"shards\": 4}')") == "55000"
    assert connection.execute(unfit).fetchall() == [("there", 136)]
    with ef_search(connection, 136):
        assert connection.execute(unfit).fetchall() == []
        node, *_ = connection.execute("select nodename, nodeport from pg_dist_node where groupid > 0").fetchall()
        with closing(psycopg.connect(cluster_dsn, host=node[0], port=node[1], autocommit=True)) as alone:
            alone.execute("set citus.enable_ddl_propagation = off")
            with ef_search(alone, 135):
                # The coordinator's setting is right.
                assert distribute(connection, "here", shards=4, dry_run=True)["ef_search"] == 136
                assert sqlstate_of(connection, "select pgclarify.distribute('here', '{\"shards\": 4}')") == "55000"
                (found,) = connection.execute(NODES).fetchall()
                assert found[:2] == (f"{node[0]}:{node[1]}", "warning")
                assert "hnsw.ef_search = 136" in found[2]
                assert "there" in found[2]
        connection.execute("alter role pgclarify_owner set hnsw.ef_search = 136")
        assert distribute(connection, "here", shards=4)["is_distributed"]
    # A corpus that grew can be brought back without the new setting.
    assert not distribute(connection, "there", shards=0)["is_distributed"]


def test_the_setting_of_this_database_goes_first(connection: Connection, both: ManualWorker) -> None:
    of_this = f"alter role pgclarify_owner in database {connection.info.dbname}"
    dry_run = "select pgclarify.distribute('here', '{\"dry_run\": true}')"
    try:
        for setting, other in (("ef_search", "40"), ("iterative_scan", "off")):
            connection.execute(f"{of_this} set hnsw.{setting} = {other}".encode())
            assert sqlstate_of(connection, dry_run) == "55000", setting
            connection.execute(f"{of_this} reset hnsw.{setting}".encode())
        with ef_search(connection, 40):
            assert sqlstate_of(connection, dry_run) == "55000"
            connection.execute(f"{of_this} set hnsw.ef_search = 100".encode())
            assert distribute(connection, "here", dry_run=True)["ef_search"] == 100
    finally:
        connection.execute(f"{of_this} reset all".encode())


def what_a_search_holds(dsn: str, corpus: str, *settings: str) -> tuple[int, set[int]]:
    """Locks of the coordinator's session at the end of a search, and its connections to each node then.

    Afterwards it has one connection to each node, as soon as the backends of the others have exited.
    """
    with closing(psycopg.connect(dsn, autocommit=True)) as session:
        for setting in settings:
            session.execute(f"set {setting}".encode())
        name = f"citus_internal gpid={scalar(session, 'select citus_backend_gpid()')}"
        nodes = session.execute("select nodename, nodeport from pg_dist_node where groupid > 0").fetchall()

        def connections() -> set[int]:
            counts = set()
            for host, port in nodes:
                with closing(psycopg.connect(dsn, host=host, port=port, autocommit=True)) as node:
                    counts.add(scalar(node, "select count(*) from pg_stat_activity where application_name = %s", name))
            return counts

        with session.transaction():
            vector = json.dumps(vector_of("item7 hail"))
            assert session.execute(SEARCH, [[], "hybrid", "item7 hail", vector, 5, corpus]).fetchall()
            locks = scalar(session, "select count(*) from pg_locks where pid = pg_backend_pid()")
            during = connections()
        until(lambda: connections() == {1}, 30)
        return locks, during


def test_locks_and_connections_of_a_search(connection: Connection, make_worker: MakeWorker, cluster_dsn: str) -> None:
    """Locks grow neither with shards nor with corpora. A node gets a connection for each of its shards at most."""
    fill(connection, "few", None)
    fill(connection, "many", None)
    make_worker().index_everything()
    distribute(connection, "few", shards=2)
    at_once = "citus.executor_slow_start_interval = 0"

    (locks, during) = what_a_search_holds(cluster_dsn, "few", at_once)
    assert during == {1}
    distribute(connection, "many", shards=8)
    for number in range(3):
        connection.execute("select pgclarify.create_corpus(%s)", [f"other{number}"])
        distribute(connection, f"other{number}", shards=8)
    assert what_a_search_holds(cluster_dsn, "few", at_once) == (locks, {1})
    # By default, the second connection is opened only for a task that waited for 10 ms.
    assert what_a_search_holds(cluster_dsn, "many", at_once) == (locks, {4})
    most = "citus.max_adaptive_executor_pool_size = 2"
    assert what_a_search_holds(cluster_dsn, "many", at_once, most) == (locks, {2})


@contextmanager
def searching(dsn: str, corpus: str) -> Iterator[list[list[tuple[Any, ...]]]]:
    """Search again and again in another session. Yields what each search found; an error is raised at the end."""
    is_over = threading.Event()
    results: list[list[tuple[Any, ...]]] = []

    def search() -> None:
        with closing(psycopg.connect(dsn, autocommit=True)) as session:
            while not is_over.is_set():
                results.append(found(session, corpus, [], "hybrid", "item7 hail"))

    with ThreadPoolExecutor(1) as pool:
        searches = pool.submit(search)
        try:
            yield results
        finally:
            is_over.set()
            searches.result()


def test_a_node_joins_while_a_session_searches(
    connection: Connection, make_worker: MakeWorker, cluster_dsn: str
) -> None:
    ((host, port),) = connection.execute(
        "select nodename, nodeport from pg_dist_node where groupid > 0 order by nodeid desc limit 1"
    ).fetchall()
    connection.execute("select citus_remove_node(%s, %s)", [host, port])
    try:
        fill(connection, "growing", None)
        make_worker().index_everything()
        distribute(connection, "growing", shards=4)
        shards = "select count(*), count(distinct nodeport) from citus_shards where table_name::text ~ 'passage_[0-9]'"
        assert connection.execute(shards).fetchone() == (4, 1)
        before = found(connection, "growing", [], "hybrid", "item7 hail")
        with searching(cluster_dsn, "growing") as results:
            until(lambda: results)
            connection.execute("select citus_add_node(%s, %s)", [host, port])
            connection.execute("select rebalance_table_shards()")
            so_far = len(results)
            until(lambda: len(results) > so_far + 1)
    finally:
        connection.execute("select citus_add_node(%s, %s)", [host, port])
    assert connection.execute(shards).fetchone() == (4, 2)
    assert all(result == before for result in results)


@contextmanager
def unreachable_node(connection: Connection) -> Iterator[int]:
    """One node at a port where no server listens, as if it were down. Yields its id."""
    ((node, host, port),) = connection.execute(
        "select nodeid, nodename, nodeport from pg_dist_node where groupid > 0 limit 1"
    ).fetchall()
    move = "select citus_update_node(%s, %s, %s)"
    connection.execute(move, [node, host, 1])
    try:
        yield node
    finally:
        connection.execute(move, [node, host, port])
        # Until then Citus drops no table of the node.
        until(lambda: scalar(connection, "select bool_and(metadatasynced) from pg_dist_node"))


def test_a_run_waits_for_a_node_that_is_down(database: str, connection: Connection, tmp_path: Path) -> None:
    """A worker puts the run back until the node is there again. It finds what it found before."""

    def start(top_k: int) -> int:
        asked = "select pgclarify.submit('search', 'hail damage', %s, %s)"
        return int(scalar(connection, asked, CORPUS, json.dumps({"top_k": top_k})))

    def rows(run_id: int) -> list[tuple[Any, ...]]:
        found = connection.execute(rows_of("search_result").encode(), [run_id]).fetchall()
        return [(row[0], row[2], row[5], row[6]) for row in found]

    with worker(database, None, tmp_path) as running:
        load(connection)
        wait_until_searchable(connection)
        distribute(connection, CORPUS, shards=4)
        before = start(6)
        assert wait(connection, [before]) == ["succeeded"]
        with unreachable_node(connection):
            vector = json.dumps([0.1] * 384)
            assert sqlstate_of(connection, SEARCH, [[], "hybrid", "hail", vector, 5, CORPUS]) == "08006"
            # The settings of the nodes are right, so the doctor names the node alone, and why it does not answer.
            ((node, level, finding),) = connection.execute(NODES).fetchall()
            assert (node.partition(":")[2], level) == ("1", "problem")
            assert CORPUS in finding
            # Another number of passages, since an equal run would get the result of the first one.
            run_id = start(5)
            tried = "select attempt >= 3 from pgclarify.run where run_id = %s"
            until(lambda: scalar(connection, tried, run_id))
            status = scalar(connection, "select status from pgclarify.run where run_id = %s", run_id)
            assert status in ("queued", "running")
        assert wait(connection, [run_id]) == ["succeeded"]
        assert running.process.is_alive()
    assert rows(run_id) == rows(before)[:5]


def documents_elsewhere(connection: Connection, corpus: str, node: int) -> list[str]:
    """The documents of a distributed corpus whose passages are on other nodes."""
    corpus_id, _ = ids_of(connection, corpus)
    rows = connection.execute(
        "select document.id from pgclarify_private.document"
        " inner join pg_dist_placement as placement"
        " on placement.shardid = get_shard_id_for_distribution_column(%s::regclass, document.id)"
        " inner join pg_dist_node as node using (groupid)"
        " where document.corpus_id = %s and node.nodeid <> %s",
        [f"pgclarify_private.passage_{corpus_id}", corpus_id, node],
    ).fetchall()
    return [document_id for (document_id,) in rows]


def test_other_questions_do_not_wait_for_a_node_that_is_down(
    database: str, connection: Connection, tmp_path: Path
) -> None:
    """Those of another corpus, of documents on other nodes, and of what was clarified before."""

    def start(operation: str, corpus: str, **options: Any) -> int:
        asked = "select pgclarify.submit(%s, 'hail damage', %s, %s)"
        return int(scalar(connection, asked, operation, corpus, json.dumps(options)))

    with worker(database, None, tmp_path):
        for corpus in ("here", CORPUS):
            load(connection, corpus)
            wait_until_searchable(connection, corpus)
        distribute(connection, CORPUS, shards=4)
        before = start("clarify", CORPUS)
        assert wait(connection, [before]) == ["succeeded"]
        with unreachable_node(connection) as node:
            elsewhere = documents_elsewhere(connection, CORPUS, node)
            assert 0 < len(elsewhere) < len(DOCUMENTS)
            waiting = start("search", CORPUS)
            others = [
                start("clarify", CORPUS),
                start("search", CORPUS, document_ids=elsewhere),
                start("clarify", CORPUS, document_ids=elsewhere),
                start("clarify", "here"),
            ]
            assert wait(connection, others) == ["succeeded"] * len(others)
            assert scalar(connection, "select count(*) > 0 from pgclarify.result(%s)", others[0])
            found = connection.execute(rows_of("search_result").encode(), [others[1]]).fetchall()
            assert {row[2] for row in found} <= set(elsewhere)
            assert found
            # A document is stored in the corpus that does not need the node, and waits in the other one.
            for corpus in (CORPUS, "here"):
                connection.execute("select pgclarify.add_document(%s, 'new', 'Hail on a new car.')", [corpus])
            wait_until_searchable(connection, "here")
            assert scalar(connection, "select pending from pgclarify.corpus where corpus = %s", CORPUS) == 1
            assert scalar(connection, "select finished_at is null from pgclarify.run where run_id = %s", waiting)
        assert wait(connection, [waiting]) == ["succeeded"]
        wait_until_searchable(connection)


def test_no_model_is_paid_while_a_node_is_down(connection: Connection, both: ManualWorker) -> None:
    """Not even if the only document of a claim is on the other node."""
    for number in range(8):
        scalar(connection, "select pgclarify.add_document('there', %s, 'Hail on a new car.')", f"new {number}")
    with unreachable_node(connection):
        for number in range(8):
            (claimed,) = both.claim(max_documents=1)
            assert claimed["document_id"] == f"new {number}"
            with pytest.raises(psycopg.OperationalError):
                both.send(
                    "passage_hashes",
                    corpus_id=claimed["corpus_id"],
                    document_ids=[claimed["document_id"]],
                )
