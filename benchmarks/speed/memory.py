"""The worker's memory while it loads a large corpus. It should not grow with the corpus.

python -m benchmarks.speed.memory [--passages N] [--backend torch]
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Iterator
from itertools import islice

from benchmarks import made_up, product
from benchmarks.data_sets import MODEL
from benchmarks.figures import Figure, show, step
from benchmarks.speed.ingest import add, wait_until_searchable, worker_of
from pgclarify.config import EmbeddingBackend
from pgclarify.data.vocabulary import Document

_PASSAGES = 100_000
_CORPUS = "memory"
_PARTS = (0.1, 0.5, 1.0)
_WORDS = 12
_SECONDS = 0.5


def measure(passages: int = _PASSAGES, backend: EmbeddingBackend = EmbeddingBackend.AUTO) -> list[Figure]:
    """Add documents of one sentence, then measure the worker's process while it makes them searchable."""
    with product.database() as dsn, product.connect(dsn) as connection:
        connection.execute("select pgclarify.create_corpus(%s, %s)", [_CORPUS, MODEL])
        with step(f"adding {passages:,} documents"):
            add(connection, _CORPUS, islice(_sentences(), passages))
        started = time.perf_counter()
        with step("making them searchable"), worker_of(dsn, backend) as process_id:
            megabytes = _watch(connection, process_id, passages)
            seconds = time.perf_counter() - started
            assert wait_until_searchable(connection, _CORPUS) == passages
    first, *_, last = megabytes.values()
    return [
        *(Figure(f"worker, after {part:.0%} of {passages:,}", taken, "MB") for part, taken in megabytes.items()),
        Figure("worker, all over the first tenth", last / first, aim="about 1"),
        Figure(f"one-sentence passages, {backend}", passages / seconds, "passages/s"),
    ]


def _watch(connection: product.Connection, process_id: int, passages: int) -> dict[float, float]:
    """Resident memory of a process in MB, measured after each part of the passages is searchable."""
    megabytes: dict[float, float] = {}
    while len(megabytes) < len(_PARTS):
        (status,) = connection.execute(
            "select embedded, failed from pgclarify.corpus where corpus = %s", [_CORPUS]
        ).fetchall()
        assert not status["failed"], status
        now = _megabytes(process_id)
        for part in _PARTS:
            if part not in megabytes and status["embedded"] >= part * passages:
                megabytes[part] = now
        time.sleep(_SECONDS)
    return megabytes


def _megabytes(process_id: int) -> float:
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(process_id)], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1024


def _sentences() -> Iterator[Document]:
    for number, phrase in enumerate(made_up.phrases(_WORDS, seed=7)):
        yield Document(str(number), f"{phrase.capitalize()}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=_PASSAGES)
    parser.add_argument("--backend", type=EmbeddingBackend, choices=list(EmbeddingBackend), default="auto")
    given = parser.parse_args()
    show(measure(given.passages, given.backend))
