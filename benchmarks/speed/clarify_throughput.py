"""The throughput of `clarify_many`, as a share of the endpoint's: 64 calls at once, 400 ms each, 160 a second.

Also the worker's memory, and its CPU time for each call, which depends less on other load on the machine.

python -m benchmarks.speed.clarify_throughput [--questions 1000] [--at-once 512 --call-seconds 4]
    [--passages-per-call 7]
"""

from __future__ import annotations

import argparse
import time

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from tests import openai_server

CALL_SECONDS = 0.4
AT_ONCE = 64
TOP_K = 20
_QUESTIONS = 200


def measure(
    dsn: str,
    corpus: str,
    *,
    questions: int = _QUESTIONS,
    at_once: int = AT_ONCE,
    call_seconds: float = CALL_SECONDS,
    passages_per_call: int = 1,
) -> list[Figure]:
    """Ask many questions in one call, all for the first time.

    at_once and call_seconds are of the endpoint: the most calls in flight, and the time of each. passages_per_call is
    the option of clarify_many.
    """
    limit = at_once / call_seconds
    with (
        openai_server.spawn(latency=call_seconds, concurrency=at_once) as endpoint,
        product.worker(dsn, endpoint, concurrency=at_once) as worker,
        product.connect(dsn) as connection,
    ):
        for question in made_up.questions(3, seed=20):
            product.clarify(connection, question, corpus, TOP_K)
        calls_before, cpu_before = endpoint.stats["calls"], product.cpu_seconds(worker)
        with step(f"{questions:,} questions at once"):
            started = time.perf_counter()
            rows = connection.execute(
                "select distinct question_ordinal, status from pgclarify.clarify_many(%s, corpus => %s, top_k => %s,"
                " options => jsonb_build_object('passages_per_call', %s::integer))",
                [made_up.questions(questions, seed=21), corpus, TOP_K, passages_per_call],
            ).fetchall()
            seconds = time.perf_counter() - started
        calls = endpoint.stats["calls"] - calls_before
        cpu_seconds = product.cpu_seconds(worker) - cpu_before
        megabytes = product.megabytes(worker)
    assert len(rows) == questions and {row["status"] for row in rows} == {"succeeded"}
    return [
        Figure(f"calls a second over the endpoint's {limit:.0f}", calls / seconds / limit, aim=">= 0.97"),
        Figure("CPU time of the worker for a call", cpu_seconds / calls * 1000, "ms", aim="<= 6"),
        Figure("memory of the worker then", megabytes, "MB", aim="<= 300"),
        Figure(f"{questions} questions, {calls} calls", seconds, "s"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=_QUESTIONS)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--call-seconds", type=float, default=CALL_SECONDS)
    parser.add_argument("--passages-per-call", type=int, default=1)
    given = parser.parse_args()
    with product.made_up_corpus() as (dsn, corpus):
        show(measure(dsn, corpus, **vars(given)))
