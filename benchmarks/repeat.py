"""What a question costs that has been answered before: milliseconds, and no call."""

from __future__ import annotations

import statistics
import time

from benchmarks import made_up, product
from benchmarks.figures import Figure, show
from tests import openai_server

TOP_K = 20
_REPEATS = 50


def measure(dsn: str, corpus: str) -> list[Figure]:
    """Ask the same question again and again."""
    (question,) = made_up.questions(1, seed=30)
    with (
        openai_server.spawn() as endpoint,
        product.worker(dsn, endpoint, concurrency=64),
        product.connect(dsn) as connection,
    ):
        first = product.clarify(connection, question, corpus, TOP_K)
        calls_before = endpoint.stats["calls"]
        milliseconds = []
        for _ in range(_REPEATS):
            started = time.perf_counter()
            assert product.clarify(connection, question, corpus, TOP_K) == first
            milliseconds.append((time.perf_counter() - started) * 1000)
        calls = endpoint.stats["calls"] - calls_before
    return [
        Figure("a repeated question, median", statistics.median(milliseconds), "ms"),
        Figure("the same, 95th percentile", statistics.quantiles(milliseconds, n=20)[-1], "ms"),
        Figure(f"calls of the model, {_REPEATS} repeats", calls, "calls", aim="0"),
    ]


if __name__ == "__main__":
    with product.made_up_corpus() as (dsn, corpus):
        show(measure(dsn, corpus))
