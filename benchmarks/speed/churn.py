"""Load documents, delete documents and build the graph at the same time, then check the result.

python -m benchmarks.speed.churn [--seconds 60] [--documents 3000]
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

import numpy as np
import psycopg
from numpy.typing import NDArray

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from tests.integration.counts import assert_counts_agree
from tests.integration.graph_check import check
from tests.integration.linking import add, link
from tests.integration.manual_worker import ManualWorker
from tests.sessions import Connection

SECONDS = 60.0
DOCUMENTS = 3000
_CORPUS = "insurance"
_KINDS = 5000
_TOPICS = 25
_LOADERS = 2
_DELETERS = 3
_DOCUMENTS_A_LOAD = 20
_SECONDS_BETWEEN_BUILDS = 5.0
_PASSAGES_A_BATCH = 2000
# Errors after which a worker tries again.
_PASSING = (psycopg.errors.DeadlockDetected, psycopg.errors.LockNotAvailable)


def measure(seconds: float = SECONDS, documents: int = DOCUMENTS) -> list[Figure]:
    """Run two loaders, three deleters, a linker and a loop that rebuilds the graph; then check the graph.

    Args:
        seconds: How long they run.
        documents: How many ids they add, change and remove.
    """
    vectors = _vectors().tolist()
    done: Counter[str] = Counter({"tried again": 0})

    def contents(chance: random.Random) -> str:
        return "\n\n".join(f"Passage of kind {chance.randrange(len(vectors))}." for _ in range(chance.randint(1, 4)))

    def index(worker: ManualWorker) -> int:
        claimed = worker.claim(max_documents=_DOCUMENTS_A_LOAD)
        if claimed:
            given = {
                content: vectors[int(content.split()[-1].rstrip("."))]
                for document in claimed
                for content in document["content"].split("\n\n")
            }
            worker.store(claimed, given)
        return len(claimed)

    def load(user: Connection, worker: ManualWorker, chance: random.Random) -> None:
        ids = chance.sample(range(documents), _DOCUMENTS_A_LOAD)
        with user.transaction():
            add(user, {str(number): contents(chance) for number in sorted(ids)}, _CORPUS)
        done["documents added or changed"] += len(ids)
        index(worker)

    def delete(user: Connection, chance: random.Random) -> None:
        with user.transaction():
            for number in sorted(chance.sample(range(documents), chance.randint(1, 5))):
                (removed,) = user.execute(
                    "select pgclarify.remove_document(%s, %s)", [_CORPUS, str(number)]
                ).fetchone() or (False,)
                done["documents removed"] += removed

    def keep(worker: ManualWorker) -> None:
        done["passages linked or unlinked"] += worker.value("link_passages", max_passages=_PASSAGES_A_BATCH)

    def build(user: Connection) -> None:
        user.execute("select pgclarify.alter_corpus(%s, jsonb_build_object('graph', 'rebuild'))", [_CORPUS])
        done["builds begun"] += 1
        time.sleep(min(_SECONDS_BETWEEN_BUILDS, seconds))

    with product.database() as dsn:

        def connect() -> Connection:
            return psycopg.connect(dsn, autocommit=True)

        def again_and_again(action: Callable[[], None], until: float) -> None:
            while time.monotonic() < until:
                try:
                    action()
                except _PASSING:
                    done["tried again"] += 1

        with closing(connect()) as connection:
            connection.execute("select pgclarify.create_corpus(%s)", [_CORPUS])
            workers = [ManualWorker(connect()) for _ in range(_LOADERS + 1)]
            workers[0].open_spaces(made_up.DIMENSIONS)
            actions = [
                *(
                    partial(load, connect(), worker, random.Random(seed))  # noqa: S311 - not for secrets
                    for seed, worker in enumerate(workers[1:])
                ),
                *(partial(delete, connect(), random.Random(100 + seed)) for seed in range(_DELETERS)),  # noqa: S311
                partial(keep, workers[0]),
                partial(build, connect()),
            ]
            with step(f"loading, deleting and linking at once for {seconds:.0f} s"):
                until = time.monotonic() + seconds
                with ThreadPoolExecutor(len(actions)) as pool:
                    for task in [pool.submit(again_and_again, action, until) for action in actions]:
                        task.result()
            with step("working off what is left"):
                while index(workers[0]):
                    pass
                workers[0].send("apply_term_changes")
                link(workers[0], _PASSAGES_A_BATCH)
                workers[0].send("fold_tallies")
            found = check(connection, _CORPUS, sample=500)
            with step("comparing what is counted with what is there"):
                assert_counts_agree(connection)
    return [
        *(Figure(name, count, "times") for name, count in sorted(done.items())),
        *(
            Figure(f"afterwards, {name}", found[name], unit, aim)
            for name, unit, aim in (
                ("passages", "passages", ""),
                ("linked", "passages", ""),
                ("unlinked", "passages", "0"),
                ("pending", "passages", "0"),
                ("self_edges", "edges", "0"),
                ("dangling", "edges", "0"),
                ("gaps", "lists", "0"),
                ("unordered", "lists", "0"),
                ("recall", "", "≥ 0.98"),
            )
        ),
    ]


def _vectors() -> NDArray[np.float32]:
    """Vectors in few groups, so that even few passages have neighbors: float32, rows of unit length."""
    generator = np.random.default_rng(60)
    drawn = generator.standard_normal((_TOPICS, made_up.DIMENSIONS), dtype=np.float32)[np.arange(_KINDS) % _TOPICS]
    drawn += generator.standard_normal(drawn.shape, dtype=np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long to run")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="how many ids are added, changed and removed")
    arguments = parser.parse_args()
    show(measure(arguments.seconds, arguments.documents))
