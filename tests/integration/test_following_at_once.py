"""Users change attached tables while workers follow them: no deadlock, and no lost change."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest

from tests.integration.attached_documents import assert_documents_match_rows
from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, run_at_once, scalar, sqlstate_of

ATTACH = "select pgclarify.attach_table('kb', 'article', 'id', 'body', '{\"readers\": \"groups\"}')"
# The error of a worker that gives way. It tries again.
WAITS = {None, "55P03", "40P01", "40001"}


@pytest.fixture
def workers(connection: Connection, make_worker: MakeWorker) -> list[ManualWorker]:
    """Three workers; and corpus "kb" with table "article" of a hundred rows attached to it."""
    connection.execute("select pgclarify.create_corpus('kb')")
    connection.execute("create table article (id bigint primary key, body text, groups text[])")
    connection.execute("insert into article (id, body) select n, 'Cars ' || n from generate_series(1, 100) as n")
    scalar(connection, ATTACH)
    workers = [make_worker() for _ in range(3)]
    workers[0].open_spaces()
    return workers


def follow_some(worker: ManualWorker, rounds: int) -> None:
    """Follow in small batches. Rows that another session has locked are left for later."""
    for _ in range(rounds):
        for waiting in worker.send("waiting_sources"):
            try:
                worker.follow(waiting, max_rows=7, max_bytes=200)
            except psycopg.Error as error:
                assert error.sqlstate in WAITS, error
        worker.send("inspect_sources")


class TestAtOnce:
    def test_nothing_is_lost(self, connection: Connection, connect: Connect, workers: list[ManualWorker]) -> None:
        def write(seed: int) -> None:
            chance = random.Random(seed)  # noqa: S311 - not for secrets
            user = connect()
            for _ in range(60):
                first = chance.randint(1, 120)
                with suppress(psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected), user.transaction():
                    match chance.randint(0, 6):
                        case 0:
                            user.execute("delete from article where id = %s", [first])
                        case 1:
                            user.execute("insert into article values (%s, 'Trucks.')", [first])
                        case 2:
                            user.execute("update article set id = id + 1000 where id = %s", [first])
                        case 3:
                            user.execute(
                                "update article set groups = '{boss}' where id between %s and %s + 9", [first] * 2
                            )
                        case 4:
                            user.execute("update article set body = body || 'x' where id = %s", [first])
                            raise psycopg.Rollback
                        case _:
                            user.execute(
                                "update article set body = body || 'y' where id between %s and %s + 9", [first] * 2
                            )

        def index(worker: ManualWorker) -> None:
            for _ in range(30):
                if found := worker.claim(max_documents=20):
                    worker.store(found)
                worker.send("fold_tallies")
                worker.send("apply_term_changes")

        with ThreadPoolExecutor(6) as pool:
            tasks = [pool.submit(write, seed) for seed in range(3)]
            tasks += [pool.submit(follow_some, worker, 40) for worker in workers[:2]]
            tasks.append(pool.submit(index, workers[2]))
            for task in tasks:
                task.result()

        workers[0].follow_everything()
        assert_documents_match_rows(connection)
        workers[0].index_everything()
        assert_counts_agree(connection)
        assert scalar(connection, "select count(*) from pgclarify_private.change") == 0

    @pytest.mark.parametrize(
        "upheaval",
        [
            "truncate article",
            "alter table article alter id type integer",
            "alter table article add column more text default 'more'",
            "select pgclarify.resync('kb', 'article')",
            "alter table article add column other text; select pgclarify.resync('kb', 'article')",
            "select pgclarify.detach_table('kb', 'article')",
            "select pgclarify.detach_table('kb', 'article', '{\"documents\": \"remove\"}')",
            "drop table article",
            "select pgclarify.drop_corpus('kb')",
        ],
    )
    def test_whatever_the_user_does(
        self, connection: Connection, connect: Connect, workers: list[ManualWorker], upheaval: str
    ) -> None:
        users = [connect(), connect()]
        for user in users:
            # A worker gives up after half a second. On a machine that is stuck for longer, a user would be the
            # deadlock's victim.
            user.execute("set deadlock_timeout = '1min'")

        def turn_over() -> None:
            with users[0].transaction():
                for statement in upheaval.split("; "):
                    users[0].execute(statement.encode())

        def write() -> None:
            for number in range(20):
                users[1].execute("update article set body = body || 'x' where id %% 7 = %s", [number % 7])

        states = run_at_once(
            turn_over,
            write,
            *(lambda worker=worker: follow_some(worker, 10) for worker in workers),
        )

        # A write to a dropped table gets an error.
        assert states[0] is None, states
        assert states[1] in ({None, "42P01"} if upheaval == "drop table article" else {None}), states
        assert states[2:] == [None] * 3, states
        workers[0].send("inspect_sources")
        workers[0].follow_everything()
        assert_documents_match_rows(connection)
        if upheaval == "drop table article":
            assert scalar(connection, "select state from pgclarify_private.source") == "failed"
        elif "detach" in upheaval or "drop_corpus" in upheaval:
            workers[0].sweep()
            kept = 100 if upheaval.endswith("'article')") else 0
            assert scalar(connection, "select count(*) from pgclarify.document") == kept or kept
        else:
            assert scalar(connection, "select state from pgclarify_private.source") == "following"
        while workers[0].value("drop_orphan_capture") is not None:
            pass
        assert scalar(connection, "select count(*) from pgclarify_private.change") == 0
        workers[0].index_everything()
        assert_counts_agree(connection)

    def test_a_worker_that_dies_loses_nothing(
        self, connection: Connection, workers: list[ManualWorker], make_worker: MakeWorker
    ) -> None:
        workers[0].follow_everything()
        connection.execute("update article set body = body || 'x'")
        dying = workers[1]
        with dying.connection.cursor() as cursor:
            cursor.execute("begin")
        (waiting,) = dying.send("waiting_sources")
        taken = dying.value(
            "advance_source", source_id=waiting["source_id"], work="changes", max_rows=50, max_bytes=10**9
        )
        assert taken == 1
        dying.die()

        assert scalar(connection, "select coalesce(sum(cardinality(keys)), 0) from pgclarify_private.change") == 100
        make_worker().follow_everything()
        assert_documents_match_rows(connection)

    def test_a_table_is_read_by_one_at_a_time(self, connection: Connection, workers: list[ManualWorker]) -> None:
        """Otherwise an older reading could overwrite a newer one."""
        workers[0].follow_everything()
        connection.execute("update article set body = 'Trucks.' where id = 1")
        first, second = workers[:2]
        first.connection.execute("begin")
        (waiting,) = first.send("waiting_sources")
        batch = {"source_id": waiting["source_id"], "work": "changes", "max_rows": 10, "max_bytes": 1000}
        assert first.value("advance_source", **batch) == 1
        connection.execute("update article set body = 'Vans.' where id = 1")

        assert second.value("advance_source", **batch) is None

        first.connection.execute("commit")
        assert second.value("advance_source", **batch) == 1
        assert_documents_match_rows(connection)

    def test_an_open_transaction_with_the_same_id_does_not_block_following(
        self, connection: Connection, connect: Connect, workers: list[ManualWorker]
    ) -> None:
        workers[0].follow_everything()
        connection.execute("insert into article values (500, 'Trucks.')")
        hesitant = connect()
        hesitant.execute("begin")
        hesitant.execute("select pgclarify.add_document('kb', '500', 'By hand.')")

        workers[0].follow_everything()
        assert scalar(connection, "select coalesce(sum(cardinality(keys)), 0) from pgclarify_private.change") == 1

        hesitant.execute("commit")
        workers[0].follow_everything()
        assert scalar(connection, "select content from pgclarify.document where id = '500'") == "By hand."
        assert scalar(connection, "select error like '%%\"500\"%%' from pgclarify_private.source")
        assert sqlstate_of(connection, "select pgclarify.remove_document('kb', '500')") is None
