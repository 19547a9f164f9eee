"""Calls that start while a corpus is being distributed. The test stands in for distribute, which needs a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import pytest

from tests.integration.distributed.corpora import SEARCH
from tests.integration.linking import MANY, add, link
from tests.integration.manual_worker import MakeWorker, ManualWorker, rows_of
from tests.sessions import Connect, Connection, scalar, sqlstate_of
from tests.workers import until

LOCK = "select from pgclarify_private.corpus for update"
# As when distribute has ended: the corpus counts as distributed.
DISTRIBUTED = """
    create or replace function pgclarify_private.is_distributed(corpus_id bigint) returns boolean
    language sql stable security definer set search_path = pg_catalog, pg_temp
    return corpus_id = (select min(corpus.corpus_id) from pgclarify.corpus)
"""
# As if this server were a cluster, and the copies of its tables were distributed.
ONE_SERVER = """
    create or replace function pgclarify_private.check_cluster() returns integer language sql as 'select 1';
    create or replace function pgclarify_private.check_owner(ef_search integer) returns void language sql as '';
    create or replace function pgclarify_private.spread_table(
        relation regclass, colocated_with regclass, shards integer, ef_search integer
    )
    returns void language sql as '';
"""
# What distribute does at its end with 0 shards: copies take the place of the tables of the corpus.
MOVE = "select pgclarify_private.move_corpus(corpus, null) from pgclarify_private.corpus"
CHANGES = (
    "select pgclarify.alter_corpus('insurance', jsonb_build_object('graph', 'rebuild'))",
    "select pgclarify_private.set_embedding_model(caller, 'insurance', 'another-model') from pgclarify_private.caller",
)
Result = TypeVar("Result")


def after_waiting_for_a_move(connection: Connection, session: Connection, call: Callable[[], Result]) -> Result:
    """The result of a call of this session that waits for a table until the corpus is moved."""
    waits = "select exists (select from pg_locks where pid = %s and not granted)"
    with ThreadPoolExecutor() as pool:
        with connection.transaction():
            connection.execute(MOVE.encode())
            waiting = pool.submit(call)
            while not scalar(connection, waits, session.info.backend_pid):
                assert not waiting.done()
        return waiting.result(60)


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """The worker of a corpus with many documents."""
    connection.execute("select pgclarify.create_corpus('insurance')")
    add(connection, MANY)
    worker = make_worker()
    worker.index_everything()
    return worker


def start(connection: Connection, worker: ManualWorker, top_k: int) -> int:
    """Start a run of search that needs no vector. top_k: another one for each run, or the first one would be reused."""
    options = {"top_k": top_k, "method": "lexical"}
    run_id = int(scalar(connection, "select pgclarify.submit('search', 'number', options => %s)", json.dumps(options)))
    worker.start(run_id)
    return run_id


def test_calls_that_waited_for_a_move_find_all_rows_or_fail(
    connection: Connection, connect: Connect, worker: ManualWorker
) -> None:
    """A statement whose snapshot is older than the new tables would find nothing, and a run would keep that."""
    run_id = start(connection, worker, 5)
    rows = worker.retrieve(run_id, question="number")
    worker.finish(run_id)
    session = connect(connection.info.user)
    calls = [
        (SEARCH, [[], "lexical", "number", None, 5, "insurance"]),
        ("select from pgclarify.neighbors('insurance', %s, %s)", [rows[0]["document_id"], rows[0]["passage_id"]]),
        (rows_of("search_result"), [run_id]),
    ]
    for call, parameters in calls:
        waiting = partial(sqlstate_of, session, call, parameters)
        assert after_waiting_for_a_move(connection, session, waiting) == "40001", call
        assert sqlstate_of(session, call, parameters) is None, call
    # It is volatile, so it gets a new snapshot after it has waited.
    asked = "select from pgclarify.search('number', top_k => 5, options => '{\"method\": \"lexical\"}')"
    found = after_waiting_for_a_move(connection, session, partial(session.execute, asked.encode()))
    assert found.rowcount == 5


def test_a_run_that_has_waited_for_a_move_searches_again(connection: Connection, worker: ManualWorker) -> None:
    """The pool of a worker repeats a statement that ends with 40001."""
    run_id = start(connection, worker, 5)
    find = "select from pgclarify_private.find_passages(%s, 1, 'number', null, 'a-model', 'lexical', 5, null)"
    waiting = partial(sqlstate_of, worker.connection, find, [run_id])

    assert after_waiting_for_a_move(connection, worker.connection, waiting) == "40001"
    assert len(worker.retrieve(run_id, question="number")) == 5


@pytest.mark.parametrize("call", CHANGES)
def test_a_call_that_has_waited_for_distribute_is_refused(connection: Connection, connect: Connect, call: str) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    other = connect(connection.info.user)
    with ThreadPoolExecutor() as pool:
        with connection.transaction():
            connection.execute(LOCK)
            waiting = pool.submit(sqlstate_of, other, call)
            with pytest.raises(TimeoutError):
                waiting.result(0.5)
            connection.execute(DISTRIBUTED)
        assert waiting.result(60) == "0A000"


@pytest.mark.parametrize("call", CHANGES)
def test_a_transaction_that_does_not_see_a_move_is_refused(
    connection: Connection, connect: Connect, worker: ManualWorker, call: str
) -> None:
    """It would take a distributed corpus for one that is not."""
    other = connect(connection.info.user)
    with other.transaction():
        other.execute("set transaction isolation level repeatable read")
        other.execute("select from pgclarify.corpus")
        connection.execute(MOVE.encode())
        assert sqlstate_of(other, call) == "40001"
    assert sqlstate_of(other, call) is None


def test_a_question_waits_for_distribute(connection: Connection, connect: Connect, worker: ManualWorker) -> None:
    ask = "select from pgclarify.search('number', options => %s)"
    asker, other = (connect(connection.info.user) for _ in range(2))
    with ThreadPoolExecutor() as pool:
        with connection.transaction():
            connection.execute(LOCK)
            waiting = pool.submit(sqlstate_of, asker, ask, ['{"timeout": "5min"}'])
            pause = "select wait_event = 'PgSleep' from pg_stat_activity where pid = %s"
            until(lambda: waiting.done() or scalar(other, pause, asker.info.backend_pid))
            assert sqlstate_of(other, ask, ['{"timeout": "1s"}']) == "55P03"
            # It would wait for its own lock.
            assert sqlstate_of(connection, ask, ['{"timeout": "5min"}']) == "PC004"
            assert not waiting.done()
        run_id = until(lambda: scalar(connection, "select max(run_id) from pgclarify.run"))
        # The asker itself keeps no lock on the corpus while it waits for the run.
        until(lambda: connection.execute(f"{LOCK} skip locked").rowcount == 1, 20)
        worker.start(run_id)
        worker.finish(run_id)
        assert waiting.result(60) is None


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
def test_a_question_does_not_wait_for_a_lock_of_its_own_savepoint(
    connection: Connection, worker: ManualWorker, isolation: str
) -> None:
    ask = "select from pgclarify.search('number', options => '{\"timeout\": \"20s\"}')"
    with connection.transaction():
        connection.execute(f"set transaction isolation level {isolation}")
        with connection.transaction():
            connection.execute(LOCK)
            assert sqlstate_of(connection, ask) == "PC004"
        assert sqlstate_of(connection, ask) == "PC004"
    assert scalar(connection, "select count(*) from pgclarify.run") == 0


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
def test_a_question_that_waits_for_a_corpus_hears_that_it_was_dropped(
    connection: Connection, connect: Connect, worker: ManualWorker, isolation: str
) -> None:
    asker = connect(connection.info.user)
    asker.execute(f"set default_transaction_isolation = '{isolation}'")
    ask = "select from pgclarify.search('number', corpus => 'insurance', options => '{\"timeout\": \"60s\"}')"
    with ThreadPoolExecutor() as pool:
        with connection.transaction():
            # As distribute does: drop_corpus alone keeps no question waiting.
            connection.execute(LOCK)
            connection.execute("select pgclarify.drop_corpus('insurance')")
            waiting = pool.submit(sqlstate_of, asker, ask)
            with pytest.raises(TimeoutError):
                waiting.result(0.5)
        assert waiting.result(60) == "42704"


def test_a_lock_error_while_it_waits_cancels_the_run(
    connection: Connection, connect: Connect, worker: ManualWorker
) -> None:
    asker = connect(connection.info.user)
    asker.execute("set lock_timeout = '100ms'")
    asker.execute("set pgclarify.progress = on")
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(sqlstate_of, asker, "select from pgclarify.search('number')")
        run_id = until(lambda: waiting.done() or scalar(connection, "select max(run_id) from pgclarify.run"))
        with connection.transaction():
            # The asker reads it every second, to say what it waits for.
            connection.execute("lock table pgclarify_private.completion")
            assert waiting.result(60) == "55P03"
    assert scalar(connection, "select status from pgclarify.run where run_id = %s", run_id) == "cancelled"


def test_the_new_partitions_are_not_scanned_when_they_are_attached(
    connection: Connection, worker: ManualWorker
) -> None:
    """The tables of all corpora are locked then. PostgreSQL names the tables that it does not scan in a message."""
    said: list[str] = []
    connection.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    connection.execute("set client_min_messages = debug1")

    connection.execute(MOVE.encode())

    tables = [message for message in said if "implied by existing constraints" in message]
    assert len(tables) == 2, said
    left = "select count(*) from pg_constraint where conname = 'is_in_partition'"
    assert scalar(connection, left) == 0


def test_the_graph_is_dropped_before_the_tables_of_all_corpora_are_locked(
    connection: Connection, worker: ManualWorker
) -> None:
    link(worker)
    connection.execute(ONE_SERVER.encode())
    connection.execute("""
        create table public.noted (is_locked boolean);
        grant insert on public.noted to public;
        create function public.note() returns trigger language plpgsql as $$
        begin
            insert into public.noted select exists (
                select from pg_locks where pid = pg_backend_pid() and relation = 'pgclarify_private.passage'::regclass
                    and mode = 'AccessExclusiveLock'
            );
            return null;
        end
        $$;
        create trigger note after delete on pgclarify_private.neighborhood_1 execute function public.note();
    """)

    connection.execute("select pgclarify.distribute('insurance')")

    assert connection.execute("table public.noted").fetchall() == [(False,)]


def test_a_distributed_corpus_is_not_linked(connection: Connection, make_worker: MakeWorker) -> None:
    """Its passages cannot be linked any more, and the worker continues with the other corpus."""
    for corpus in ("insurance", "other"):
        connection.execute("select pgclarify.create_corpus(%s)", [corpus])
        add(connection, MANY, corpus)
    worker = make_worker()
    worker.index_everything()
    connection.execute(DISTRIBUTED)

    assert link(worker) == len(MANY)
    spaces = "select count(*) from pgclarify_private.linkable_spaces()"
    assert scalar(connection, spaces) == 0
    assert scalar(connection, "select count(*) from pgclarify_private.pending_link") == len(MANY)
