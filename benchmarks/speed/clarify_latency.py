"""The time of one `clarify` beyond its two consecutive model calls: relaxation, then verdicts."""

from __future__ import annotations

import statistics
import time

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from tests import openai_server

CALL_SECONDS = 0.2
TOP_K = 20
_QUESTIONS = 40


def measure(dsn: str, corpus: str) -> list[Figure]:
    """Ask one question after another, each for the first time."""
    with (
        openai_server.spawn(latency=CALL_SECONDS) as endpoint,
        product.worker(dsn, endpoint, concurrency=64),
        product.connect(dsn) as connection,
    ):
        for question in made_up.questions(5, seed=10):
            product.clarify(connection, question, corpus, TOP_K)
        calls_before = endpoint.stats["calls"]
        seconds = []
        with step(f"{_QUESTIONS} questions, one after the other"):
            for question in made_up.questions(_QUESTIONS, seed=11):
                started = time.perf_counter()
                product.clarify(connection, question, corpus, TOP_K)
                seconds.append(time.perf_counter() - started)
        calls = (endpoint.stats["calls"] - calls_before) / _QUESTIONS
    least = 2 * CALL_SECONDS
    return [
        Figure("clarify over two calls of 200 ms, median", statistics.median(seconds) / least, aim="<= 1.15"),
        Figure("the same, 95th percentile", statistics.quantiles(seconds, n=20)[-1] / least),
        Figure("calls of the model, each question", calls, "calls", aim=f"{TOP_K + 1}"),
    ]


if __name__ == "__main__":
    with product.made_up_corpus() as (dsn, corpus):
        show(measure(dsn, corpus))
