"""The throughput of `clarify_many`, as a share of the endpoint's: 64 calls at once, 400 ms each, 160 a second.

Also the worker's memory, and its CPU time for each call, which depends less on other load on the machine.
"""

from __future__ import annotations

import time

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from tests import openai_server

CALL_SECONDS = 0.4
AT_ONCE = 64
TOP_K = 20
_QUESTIONS = 200


def measure(dsn: str, corpus: str) -> list[Figure]:
    """Ask many questions in one call, all for the first time."""
    questions = made_up.questions(_QUESTIONS, seed=21)
    with (
        openai_server.spawn(latency=CALL_SECONDS, concurrency=AT_ONCE) as endpoint,
        product.worker(dsn, endpoint, concurrency=AT_ONCE) as worker,
        product.connect(dsn) as connection,
    ):
        for question in made_up.questions(3, seed=20):
            product.clarify(connection, question, corpus, TOP_K)
        calls_before, cpu_before = endpoint.stats["calls"], product.cpu_seconds(worker)
        with step(f"{_QUESTIONS} questions at once"):
            started = time.perf_counter()
            rows = connection.execute(
                "select distinct question_ordinal, status from pgclarify.clarify_many(%s, corpus => %s, top_k => %s)",
                [questions, corpus, TOP_K],
            ).fetchall()
            seconds = time.perf_counter() - started
        calls = endpoint.stats["calls"] - calls_before
        cpu_seconds = product.cpu_seconds(worker) - cpu_before
        megabytes = product.megabytes(worker)
    assert len(rows) == _QUESTIONS and {row["status"] for row in rows} == {"succeeded"}
    return [
        Figure("calls a second over the endpoint's 160", calls / seconds * CALL_SECONDS / AT_ONCE, aim=">= 0.95"),
        Figure("CPU time of the worker for a call", cpu_seconds / calls * 1000, "ms", aim="<= 4"),
        Figure("memory of the worker then", megabytes, "MB", aim="<= 450"),
        Figure(f"{_QUESTIONS} questions, {calls} calls", seconds, "s"),
    ]


if __name__ == "__main__":
    with product.made_up_corpus() as (dsn, corpus):
        show(measure(dsn, corpus))
