"""A thousand corpora compared with ten: create, open, drop and list them, and search one while others change.

python -m benchmarks.scale.many_corpora [--corpora 1000]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import psycopg
from pgvector import HalfVector

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step

CORPORA = 1_000
_FEW = 10
_PASSAGES = 10_000
_SEARCHED = "searched"
_REPEATS = 30
_SECONDS = 15.0
_LOCK_NOT_AVAILABLE = "55P03"
_LAST_SPACE = "select max(embedding_space_id) as id from pgclarify_private.embedding_space"


def measure(dsn: str, corpora: int = CORPORA) -> Iterator[Figure]:
    """Measure few corpora and many, then search while others are created and dropped.

    Args:
        dsn: The database. No worker may serve it.
        corpora: The larger number of corpora.
    """
    product.load_made_up(dsn, _SEARCHED, _PASSAGES)
    with product.connect(dsn) as connection:
        _fill(connection, 1, _FEW)
        few = _milliseconds(connection)
        _fill(connection, _FEW, corpora)
        many = _milliseconds(connection)
        for what, milliseconds in many.items():
            yield Figure(f"{what}, {corpora:,} corpora", milliseconds, "ms")
            yield Figure(f"{what}: {corpora:,} corpora over {_FEW}", milliseconds / few[what])
        calm = _searches(connection, lambda made: made >= 2000)
    with _coming_and_going(dsn) as (turned, is_over), product.connect(dsn) as connection:
        busy = _searches(connection, lambda _: is_over.is_set())
    yield Figure("corpora made, opened, dropped and swept meanwhile", turned[0] / _SECONDS, "a second")
    for what, place in (("median", 49), ("99th percentile", 98)):
        before, meanwhile = (statistics.quantiles(one, n=100)[place] for one in (calm, busy))
        yield Figure(f"search while others come and go, {what}", meanwhile, "ms")
        yield Figure(f"search while others come and go over search alone, {what}", meanwhile / before)
    yield Figure("search while others come and go, slowest", max(busy), "ms")


def _fill(connection: product.Connection, present: int, corpora: int) -> None:
    """Create corpora up to a number, each with all its partitions."""
    with step(f"making {corpora - present:,} corpora"):
        for number in range(present, corpora):
            _make(connection, f"other {number}")
        connection.execute("select pgclarify_private.fold_tallies()")
        connection.execute("vacuum analyze")


def _make(connection: product.Connection, name: str) -> None:
    connection.execute("select pgclarify.create_corpus(%s)", [name])
    (space,) = connection.execute(_LAST_SPACE).fetchall()
    connection.execute("select pgclarify_private.open_space(%s, %s)", [space["id"], made_up.DIMENSIONS])


def _sweep(connection: product.Connection) -> None:
    """Drop the remains of dropped corpora, as workers do."""
    while True:
        (row,) = connection.execute("select pgclarify_private.drop_orphan_partition() as dropped").fetchall()
        if row["dropped"] is None:
            return


def _milliseconds(connection: product.Connection) -> dict[str, float]:
    """Medians over some repeats."""
    seconds: dict[str, list[float]] = {}

    def timed(what: str, act: Callable[[], Any]) -> None:
        started = time.perf_counter()
        act()
        seconds.setdefault(what, []).append(time.perf_counter() - started)

    search = _search(connection)
    for repeat in range(_REPEATS):
        name = f"one more, {repeat}"
        timed("making and opening a corpus", lambda name=name: _make(connection, name))  # type: ignore[misc]
        timed(
            "dropping a corpus",
            lambda name=name: connection.execute("select pgclarify.drop_corpus(%s)", [name]),  # type: ignore[misc]
        )
        timed("sweeping what it has left", lambda: _sweep(connection))
        timed("corpus", lambda: connection.execute("select * from pgclarify.corpus").fetchall())
        timed(
            "one corpus",
            lambda: connection.execute("select * from pgclarify.corpus where corpus = %s", [_SEARCHED]).fetchall(),
        )
        timed("hybrid search", search)
    return {what: statistics.median(each) * 1000 for what, each in seconds.items()}


def _search(connection: product.Connection) -> Callable[[], None]:
    """Search the same corpus, with another question each time."""
    (corpus,) = connection.execute("select corpus_id from pgclarify.corpus where corpus = %s", [_SEARCHED]).fetchall()
    vectors = [HalfVector(vector).to_text() for vector in made_up.vectors(100, seed=61)]
    questions = made_up.questions(100, seed=60)
    asked = 0

    def search() -> None:
        nonlocal asked
        rows = connection.execute(
            "select * from pgclarify_private.search(%s, '{}', 'hybrid', %s, %s::text::halfvec, 20)",
            [corpus["corpus_id"], questions[asked % 100], vectors[asked % 100]],
        ).fetchall()
        assert rows
        asked += 1

    return search


def _searches(connection: product.Connection, is_over: Callable[[int], bool]) -> Sequence[float]:
    """Milliseconds of each of a series of searches."""
    search, milliseconds = _search(connection), list[float]()
    while not is_over(len(milliseconds)):
        started = time.perf_counter()
        search()
        milliseconds.append((time.perf_counter() - started) * 1000)
    return milliseconds


@contextmanager
def _coming_and_going(dsn: str) -> Iterator[tuple[list[int], Event]]:
    """Create and drop corpora for some seconds; how many so far, and whether it has ended."""
    turned, is_over = [0], Event()

    def run() -> None:
        deadline = time.monotonic() + _SECONDS
        with product.connect(dsn) as connection:
            while time.monotonic() < deadline:
                _make(connection, "comes and goes")
                connection.execute("select pgclarify.drop_corpus('comes and goes')")
                try:
                    _sweep(connection)
                except psycopg.Error as error:
                    # Another session has locked the table. The next sweep drops it.
                    if error.sqlstate != _LOCK_NOT_AVAILABLE:
                        raise
                turned[0] += 1
        is_over.set()

    thread = Thread(target=run)
    thread.start()
    try:
        yield turned, is_over
    finally:
        thread.join()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=int, default=CORPORA)
    given = parser.parse_args()
    with product.database() as dsn:
        show(list(measure(dsn, given.corpora)))
