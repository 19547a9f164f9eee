"""What traces cost a worker: its CPU time for each model call, in runs whose spans are exported, and in others.

One worker has both kinds of runs in turns, so that other work on the machine slows both. The traceparent of a run says
whether its trace is sampled. A run that is not costs as much as without an exporter, but for some microseconds.

python -m benchmarks.speed.traces [--pairs 40]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from tests import openai_server
from tests.collector import collect

TOP_K = 20
_QUESTIONS = 10
_PAIRS = 40
# Spans are exported at the latest after half of this time.
_EXPORT_SECONDS = 1.0


def measure(dsn: str, corpus: str, *, pairs: int = _PAIRS) -> list[Figure]:
    """Ask some questions in each turn, all for the first time."""
    milliseconds: dict[bool, list[float]] = {False: [], True: []}
    with (
        openai_server.spawn(latency=0.2, concurrency=64) as endpoint,
        collect() as collector,
        product.worker(
            dsn, endpoint, concurrency=64, variables={**collector.variables, "OTEL_BSP_SCHEDULE_DELAY": "500"}
        ) as worker,
        product.connect(dsn) as connection,
    ):
        for question in made_up.questions(3, seed=20):
            product.clarify(connection, question, corpus, TOP_K)
        with step(f"{pairs} pairs of {_QUESTIONS} questions"):
            for turn in range(2 * pairs):
                # Without, with, with, without.
                is_traced = turn % 4 in (1, 2)
                asked = made_up.questions(_QUESTIONS, seed=100 + turn)
                milliseconds[is_traced].append(
                    _cpu_milliseconds(connection, corpus, endpoint, worker, asked, is_traced=is_traced)
                )
    calls = sum(span.name.startswith("chat ") for span in collector.spans)
    assert calls >= pairs * _QUESTIONS * TOP_K, "the collector has no span for each call"
    more = [traced - other for other, traced in zip(milliseconds[False], milliseconds[True], strict=True)]
    usual, added = statistics.fmean(milliseconds[False]), statistics.fmean(more)
    error = statistics.stdev(more) / pairs**0.5
    return [
        Figure("CPU time of the worker for a call, without traces", usual, "ms"),
        Figure("CPU time that traces add, for each call", added, "ms"),
        Figure("its standard error", error, "ms"),
        Figure("the added time over that without traces", added / usual, aim="<= 0.03"),
    ]


def _cpu_milliseconds(
    connection: product.Connection,
    corpus: str,
    endpoint: openai_server.SpawnedServer,
    worker: subprocess.Popen[str],
    questions: list[str],
    *,
    is_traced: bool,
) -> float:
    connection.execute(
        "select set_config('pgclarify.traceparent', %s, false)",
        [f"00-{'a' * 32}-{'b' * 16}-{'01' if is_traced else '00'}"],
    )
    calls_before, cpu_before = endpoint.stats["calls"], product.cpu_seconds(worker)
    connection.execute("select from pgclarify.clarify_many(%s, corpus => %s, top_k => %s)", [questions, corpus, TOP_K])
    time.sleep(_EXPORT_SECONDS)
    calls: int = endpoint.stats["calls"] - calls_before
    return 1000 * (product.cpu_seconds(worker) - cpu_before) / calls


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=_PAIRS)
    given = parser.parse_args()
    with product.made_up_corpus() as (dsn, corpus):
        show(measure(dsn, corpus, **vars(given)))
