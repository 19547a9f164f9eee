"""Users, indexers, linkers and a rebuild of the graph at the same time: the resulting graph is right."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import psycopg

from tests.integration.counts import assert_counts_agree
from tests.integration.graph_check import check
from tests.integration.linking import add, faults, link
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, run_at_once, scalar

DOCUMENTS = 40
# Two workers may collide. The one that is refused tries again. Users are never turned away.
PASSING = (psycopg.errors.DeadlockDetected, psycopg.errors.LockNotAvailable)


def assert_right(connection: Connection, worker: ManualWorker) -> None:
    """Check that, after all work is done, the graph has no fault, and counts agree."""
    worker.index_everything()
    link(worker)
    worker.send("fold_tallies")
    found = faults(connection)
    # The index is approximate, and after many deletions its recall is a little lower.
    assert found.pop("recall", 1) >= 0.98
    assert found == {}
    assert check(connection)["linked"] == scalar(connection, "select linked from pgclarify.corpus")
    assert_counts_agree(connection)


def test_everything_at_once(connection: Connection, connect: Connect, make_worker: MakeWorker) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    connection.execute("update pgclarify_private.corpus set graph_degree = 5")
    words = [f"word{number}" for number in range(30)]

    def text(chance: random.Random) -> str:
        return "\n\n".join(" ".join(chance.choices(words, k=8)) for _ in range(chance.randint(1, 3)))

    def write(seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - not for secrets
        user = connect()
        for _ in range(40):
            with user.transaction():
                for document_id in sorted(chance.sample(range(DOCUMENTS), 2)):
                    if chance.random() < 0.4:
                        user.execute("select pgclarify.remove_document('insurance', %s)", [str(document_id)])
                    else:
                        add(user, {str(document_id): text(chance)})

    def index(worker: ManualWorker) -> None:
        for _ in range(25):
            with suppress(*PASSING):
                if documents := worker.claim(max_documents=5):
                    worker.store(documents)
                worker.send("fold_tallies")
                worker.send("apply_term_changes")

    def keep(worker: ManualWorker, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - not for secrets
        for _ in range(60):
            with suppress(*PASSING):
                worker.send("link_passages", max_passages=chance.choice([2, 8, 40]))

    def rebuild(user: Connection) -> None:
        for _ in range(6):
            user.execute("select pgclarify.alter_corpus('insurance', jsonb_build_object('graph', 'rebuild'))")

    indexers, linkers, owner = [make_worker(), make_worker()], [make_worker(), make_worker()], connect()
    add(connection, {str(number): text(random.Random(number)) for number in range(DOCUMENTS)})  # noqa: S311
    indexers[0].index_everything()
    # Otherwise passages that are being loaded are not linked for a minute.
    connection.execute("alter table pgclarify_private.pending_link alter added_at set default '-infinity'")
    with ThreadPoolExecutor(8) as pool:
        tasks = [
            *(pool.submit(write, seed) for seed in range(3)),
            *(pool.submit(index, worker) for worker in indexers),
            *(pool.submit(keep, worker, seed) for seed, worker in enumerate(linkers)),
            pool.submit(rebuild, owner),
        ]
        for task in tasks:
            task.result()

    assert_right(connection, make_worker())


def test_dropping_a_corpus_while_it_is_linked(
    connection: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    linker, indexer, sweeper, user = make_worker(), make_worker(), make_worker(), connect()
    for round_ in range(8):
        connection.execute("select pgclarify.create_corpus('insurance')")
        add(connection, {str(number): f"Round {round_}, {number}." for number in range(12)})
        indexer.index_everything()

        states = run_at_once(
            partial(user.execute, "select pgclarify.drop_corpus('insurance')"),
            partial(linker.send, "link_passages", max_passages=100),
            sweeper.sweep,
        )

        # The sweep waits half a second for the lock.
        assert states[:2] == [None, None]
        assert states[2] in {None, "55P03"}
        assert link(linker) == 0
