"""Users and workers change documents in any order and at the same time: counts are right, without deadlocks."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from psycopg.errors import LockNotAvailable

from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, run_at_once, scalar

ADD = "select pgclarify.add_document('insurance', %s, %s)"


@pytest.mark.parametrize("seed", range(4))
def test_counts_agree_after_anything(connection: Connection, make_worker: MakeWorker, seed: int) -> None:
    """Adding, changing, removing, claiming, storing, failing and dying in any order."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    words = ["cars", "trucks", "vans", "insured", "stolen", "towed", "rented", "the", "of", "and", "it's", "don't"]
    for corpus in ("insurance", "rental"):
        connection.execute("select pgclarify.create_corpus(%s)", [corpus])
    workers = [make_worker(), make_worker()]
    claimed: list[tuple[ManualWorker, list[dict[str, Any]]]] = []

    def text() -> str:
        return "\n\n".join(
            " ".join(chance.choices(words, k=chance.randint(1, 12))) for _ in range(chance.randint(1, 3))
        )

    def add() -> None:
        connection.execute(
            "select pgclarify.add_document(%s, %s, %s, title => %s, readers => %s::name[])",
            [
                chance.choice(["insurance", "rental"]),
                str(chance.randint(1, 8)),
                text(),
                chance.choice([None, "Policy"]),
                chance.choice([None, None, "{}", "{boss}"]),
            ],
        )

    def touch() -> None:
        connection.execute(
            "select pgclarify.add_document(corpus.corpus, d.id, d.content, d.title, readers => %s::name[])"
            " from pgclarify.document as d join pgclarify.corpus using (corpus_id)"
            " order by md5(concat_ws(' ', corpus.corpus, d.id, %s::text)) limit 1",
            [chance.choice([None, "{staff}"]), str(chance.random())],
        )

    def remove() -> None:
        connection.execute("select pgclarify.remove_document('insurance', %s)", [str(chance.randint(1, 8))])

    def claim() -> None:
        worker = chance.choice(workers)
        if documents := worker.claim(max_documents=chance.randint(1, 4), lease=chance.choice([60, -1])):
            claimed.append((worker, documents))

    def store() -> None:
        if claimed:
            worker, documents = claimed.pop(chance.randrange(len(claimed)))
            worker.store(documents)

    def give_up() -> None:
        if claimed:
            worker, documents = claimed.pop(chance.randrange(len(claimed)))
            worker.fail(documents[0])

    def die() -> None:
        dead = workers.pop(chance.randrange(2))
        claimed[:] = [claim for claim in claimed if claim[0] is not dead]
        dead.die()
        workers.append(make_worker())

    def tidy() -> None:
        workers[0].send("fold_tallies")
        workers[0].send("apply_term_changes")

    steps: list[Callable[[], None]] = [add] * 8 + [claim, store] * 5 + [touch, remove] * 2 + [give_up, tidy, die]
    workers[0].open_spaces()
    for _ in range(80):
        chance.choice(steps)()

    assert_counts_agree(connection)
    claimed.clear()
    for worker in workers:
        worker.die()
    last = make_worker()
    last.index_everything()
    last.send("fold_tallies")
    assert_counts_agree(connection)
    assert scalar(connection, "select sum(pending) from pgclarify.corpus") == 0
    merged = """
        select bool_and(is_merged) and count(*) = count(distinct (corpus_id, reader))
        from pgclarify_private.corpus_tally
    """
    assert scalar(connection, merged)


class TestAtOnce:
    def test_workers_and_users_do_not_deadlock(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker
    ) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        words = [f"word{number}" for number in range(60)]

        def text(chance: random.Random) -> str:
            # A passage that an edit keeps, and one that it replaces.
            return f"Cars are insured.\n\n{' '.join(chance.choices(words, k=40))}"

        def write(seed: int) -> None:
            chance = random.Random(seed)  # noqa: S311 - not for secrets
            user = connect()
            for _ in range(40):
                document_id = str(chance.randint(1, 12))
                if chance.random() < 0.25:
                    user.execute("select pgclarify.remove_document('insurance', %s)", [document_id])
                else:
                    user.execute(ADD, [document_id, text(chance)])

        def work(worker: ManualWorker) -> None:
            for _ in range(25):
                if documents := worker.claim(max_documents=5):
                    worker.store(documents)
                worker.send("fold_tallies")
                worker.send("apply_term_changes")

        workers = [make_worker(), make_worker(), make_worker()]
        workers[0].open_spaces()
        with ThreadPoolExecutor(6) as pool:
            tasks = [pool.submit(write, seed) for seed in range(3)] + [pool.submit(work, each) for each in workers]
            for task in tasks:
                task.result()

        workers[0].index_everything()
        assert_counts_agree(connection)

    def test_the_same_document_from_many_sides(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker
    ) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        users = [connect() for _ in range(6)]

        with ThreadPoolExecutor(6) as pool:
            added = list(pool.map(lambda user: scalar(user, ADD, "1", "Cars."), users))

        assert sorted(added) == [False] * 5 + [True]
        assert scalar(connection, "select (documents, pending) = (1, 1) from pgclarify.corpus")
        make_worker().index_everything()
        assert_counts_agree(connection)

    def test_an_open_transaction_holds_up_nobody_else(
        self, connection: Connection, make_worker: MakeWorker, connect: Connect
    ) -> None:
        """An uncommitted removal of a document blocks neither writers nor workers on other documents."""
        connection.execute("select pgclarify.create_corpus('insurance')")
        worker = make_worker()
        scalar(connection, ADD, "1", "Cars are insured.")
        worker.index_everything()
        hesitant = connect()
        hesitant.execute("begin")
        hesitant.execute("select pgclarify.remove_document('insurance', '1')")
        hesitant.execute(ADD, ["2", "Cars are towed."])

        connection.execute("set lock_timeout = '2s'")
        worker.connection.execute("set lock_timeout = '2s'")
        scalar(connection, ADD, "3", "Cars are rented.")
        worker.index_everything()
        worker.send("fold_tallies")
        assert scalar(connection, "select (documents, pending) = (2, 0) from pgclarify.corpus")

        hesitant.execute("commit")
        worker.index_everything()
        assert_counts_agree(connection)

    @pytest.mark.parametrize("ending", ["commit", "rollback"])
    @pytest.mark.parametrize(
        "change",
        [
            "select pgclarify.add_document('insurance', '1', 'Cars are towed.')",
            "select pgclarify.add_document('insurance', '1', 'Cars are insured.', uri => 'a')",
            "select pgclarify.remove_document('insurance', '1')",
        ],
    )
    def test_a_worker_does_not_wait_for_who_changes_what_it_indexes(
        self, connection: Connection, make_worker: MakeWorker, connect: Connect, change: str, ending: str
    ) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        worker = make_worker()
        worker.open_spaces()
        worker.connection.execute("set lock_timeout = '2s'")
        scalar(connection, ADD, "1", "Cars are insured.")
        scalar(connection, ADD, "2", "Cars are rented.")
        claimed = worker.claim()
        hesitant = connect()
        hesitant.execute("begin")
        hesitant.execute(change.encode())

        assert worker.store(claimed) == 1
        worker.fail(claimed[0])
        worker.release()
        # Not even tried while it cannot be stored.
        assert worker.claim() == []

        hesitant.execute(ending.encode())
        assert worker.release() == 0
        worker.index_everything()
        assert scalar(connection, "select (pending, failed) = (0, 0) from pgclarify.corpus")
        assert_counts_agree(connection)

    @pytest.mark.parametrize(
        ("change", "stored"),
        [
            ("select pgclarify.add_document('insurance', '1', 'Cars are insured.', uri => 'b')", 1),
            ("select pgclarify.add_document('insurance', '1', 'Cars are towed.')", 0),
            ("select pgclarify.remove_document('insurance', '1')", 0),
            ("select pgclarify.drop_corpus('insurance')", 0),
        ],
    )
    def test_a_single_document_waits_for_who_changes_it(
        self, connection: Connection, make_worker: MakeWorker, connect: Connect, change: str, stored: int
    ) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        worker = make_worker()
        worker.open_spaces()
        scalar(connection, ADD, "1", "Cars are insured.")
        claimed = worker.claim()
        hesitant = connect()
        waits = "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s"

        with ThreadPoolExecutor(1) as pool:
            with hesitant.transaction():
                hesitant.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.', uri => 'a')")
                storing = pool.submit(worker.store, claimed)
                while not storing.done() and not scalar(connection, waits, worker.connection.info.backend_pid):
                    pass
                hesitant.execute(change.encode())
            assert storing.result() == stored

    def test_documents_of_a_locked_corpus_stay_with_their_worker(
        self, connection: Connection, make_worker: MakeWorker, connect: Connect
    ) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        worker = make_worker()
        worker.open_spaces()
        scalar(connection, ADD, "1", "Cars are insured.")
        claimed = worker.claim()
        other = connect()
        with other.transaction():
            other.execute("select from pgclarify_private.corpus for update")
            with pytest.raises(LockNotAvailable):
                worker.store(claimed)
        assert worker.store(claimed) == 1

    def test_dropping_a_corpus_while_it_is_used(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker
    ) -> None:
        """Statements after the drop get an error. There is no deadlock, and no row remains."""
        users = [connect() for _ in range(4)]
        indexer, folder, runner, sweeper = make_worker(), make_worker(), make_worker(), make_worker()

        def carry_out(run_id: int) -> None:
            if run := runner.start(run_id):
                runner.retrieve(run_id, run["attempt"], "cars")

        for round_ in range(15):
            connection.execute("select pgclarify.create_corpus('insurance')")
            if round_ % 3:
                indexer.open_spaces()
            for number in range(4):
                scalar(connection, ADD, str(number), "Cars are insured.")
            if round_ % 2:
                indexer.index_everything()
            documents = indexer.claim()
            run_id = scalar(
                connection, "select pgclarify.submit('clarify', 'cars', 'insurance', '{\"method\": \"lexical\"}')"
            )

            states = run_at_once(
                partial(users[0].execute, "select pgclarify.drop_corpus('insurance')"),
                partial(users[1].execute, "select pgclarify.remove_document('insurance', '1')"),
                partial(users[2].execute, ADD, ["2", "Trucks."]),
                partial(users[3].execute, "select pgclarify.submit('clarify', 'trucks', 'insurance')"),
                partial(folder.send, "fold_tallies"),
                partial(folder.send, "apply_term_changes"),
                partial(indexer.store, documents) if documents else indexer.open_spaces,
                partial(carry_out, run_id),
                sweeper.sweep,
            )

            # The corpus was not found, or vanished before or during the statement. Indexer, runner and sweeper do not
            # wait.
            assert set(states[:-3]) <= {None, "42704", "23503", "42P01"}, states
            assert set(states[-3:]) <= {None, "42704", "23503", "42P01", "55P03"}, states
            assert states[0] is None
            started = "select from pgclarify_private.start_run(%s, 1) where attempt is not null"
            assert connection.execute(started, [run_id]).fetchall() == []
            assert scalar(connection, "select count(*) from pgclarify.corpus") == 0

        sweeper.sweep()
        assert scalar(connection, "select count(corpus_id) from pgclarify.run") == 0
        for table in (
            "pgclarify.document",
            "pgclarify_private.embedding_space",
            "pgclarify_private.pending_document",
            "pgclarify_private.term",
            "pgclarify_private.term_change",
            "pgclarify_private.corpus_tally",
        ):
            assert scalar(connection, f"select count(*) from {table}") == 0  # noqa: S608
        assert (
            scalar(
                connection,
                "select count(*) from pg_class where relnamespace = 'pgclarify_private'::regnamespace"
                " and relispartition",
            )
            == 0
        )
