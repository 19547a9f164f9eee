"""Many workers on one database: the database CPU time of a call, and how long a user waits during a large batch.

In the first part the endpoint is not the limit. Its main figure is CPU time for a call, which depends less on other
load on the machine than calls a second do. In the second part the endpoint is the limit, as in most installations.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from tests import openai_server

_TOP_K = 20
_QUESTIONS = 100
# The user's questions during the batch. The same number is asked without a batch.
_ASKED = 12
_A_SUBMISSION = 10_000


def measure_throughput(dsn: str, corpus: str, workers: Sequence[int]) -> list[Figure]:
    """Ask new questions with 1, 2, … workers: CPU time of both sides for a call, and calls a second."""
    figures = []
    for round_number, count in enumerate(workers):
        questions = made_up.questions(_QUESTIONS, seed=40 + round_number)
        with ExitStack() as stack:
            endpoint = stack.enter_context(openai_server.spawn(latency=0.02))
            processes = [
                stack.enter_context(product.worker(dsn, endpoint, concurrency=64 // count)) for _ in range(count)
            ]
            connection = stack.enter_context(product.connect(dsn))
            while product.living_workers(connection) < count:
                time.sleep(0.1)
            _load_models(connection, corpus, count, seed=1000 * (1 + round_number))
            size = _database_bytes(connection)
            before = (
                endpoint.stats["calls"],
                sum(map(product.cpu_seconds, processes)),
                product.server_cpu_seconds(connection),
                sum(map(product.main_thread_seconds, processes)),
                product.cpu_seconds_of(endpoint.process_id),
            )
            with step(f"{_QUESTIONS} questions, {count} workers"):
                started = time.perf_counter()
                connection.execute(
                    "select distinct status from pgclarify.clarify_many(%s, corpus => %s, top_k => %s)",
                    [questions, corpus, _TOP_K],
                ).fetchall()
                seconds = time.perf_counter() - started
            calls = endpoint.stats["calls"] - before[0]
            figures += [
                Figure(f"{count} workers: calls a second", calls / seconds),
                Figure(
                    f"{count} workers: bytes a question", (_database_bytes(connection) - size) / _QUESTIONS / 1000, "kB"
                ),
                Figure(
                    f"{count} workers: their CPU time for a call",
                    (sum(map(product.cpu_seconds, processes)) - before[1]) / calls * 1000,
                    "ms",
                ),
                Figure(
                    f"{count} workers: the server's CPU time for a call",
                    (product.server_cpu_seconds(connection) - before[2]) / calls * 1000,
                    "ms",
                ),
                # A worker can use several cores, but all threads but the first one only embed.
                Figure(
                    f"{count} workers: of that in their event loops",
                    (sum(map(product.main_thread_seconds, processes)) - before[3]) / calls * 1000,
                    "ms",
                ),
                Figure(
                    f"{count} workers: the endpoint's CPU time for a call",
                    (product.cpu_seconds_of(endpoint.process_id) - before[4]) / calls * 1000,
                    "ms",
                ),
            ]
    return figures


def measure_wait(dsn: str, corpus: str, batch: int, *, call_seconds: float, at_once: int) -> list[Figure]:
    """Ask one question after the other, first without other load and then during a batch that was queued before."""
    with (
        openai_server.spawn(latency=call_seconds, concurrency=at_once) as endpoint,
        product.worker(dsn, endpoint, concurrency=at_once),
        product.connect(dsn) as connection,
    ):
        product.clarify(connection, made_up.questions(1, seed=70)[0], corpus, _TOP_K)
        quiet = _waits(connection, corpus, seed=71)
        questions = made_up.questions(batch, seed=72)
        with step(f"queueing {batch:,} questions"):
            size = _database_bytes(connection)
            started = time.perf_counter()
            for start in range(0, batch, _A_SUBMISSION):
                connection.execute(
                    "select pgclarify.submit_many('clarify', %s, corpus => %s, options => jsonb_build_object('top_k', %s::integer))",  # noqa: E501
                    [questions[start : start + _A_SUBMISSION], corpus, _TOP_K],
                )
            queueing = time.perf_counter() - started
            queued_bytes = _database_bytes(connection) - size
        # Wait until the worker is busy and the endpoint has a long queue.
        time.sleep(5)
        beside = _waits(connection, corpus, seed=73)
        (left,) = connection.execute("select queued from pgclarify.queue_status").fetchall()
        assert left["queued"] > batch // 2, "the batch ended too early"
    return [
        Figure("a person alone waits", median(quiet), "s"),
        Figure(f"beside {batch:,} queued questions", median(beside), "s"),
        Figure("the second over the first", median(beside) / median(quiet), aim="< 2"),
        Figure("the longest wait over the first", max(beside) / median(quiet)),
        Figure("queueing a question", queueing / batch * 1000, "ms"),
        Figure("a queued question", queued_bytes / batch / 1000, "kB"),
    ]


def _load_models(connection: product.Connection, corpus: str, workers: int, *, seed: int) -> None:
    """Ask new questions, many at once, until every worker has loaded an embedding model."""
    loaded = "select count(*) as workers from pgclarify.worker_status where is_alive and embedding_models <> '{}'"
    while connection.execute(loaded.encode()).fetchall()[0]["workers"] < workers:
        questions = made_up.questions(_QUESTIONS, seed=seed)
        connection.execute(
            "select from pgclarify.clarify_many(%s, corpus => %s, top_k => %s)", [questions, corpus, _TOP_K]
        )
        seed += 1


def _waits(connection: product.Connection, corpus: str, *, seed: int) -> list[float]:
    """Seconds of each of some new questions."""
    waits = []
    with step(f"{_ASKED} questions, one after the other"):
        for question in made_up.questions(_ASKED, seed=seed):
            started = time.perf_counter()
            product.clarify(connection, question, corpus, _TOP_K)
            waits.append(time.perf_counter() - started)
    return waits


def _database_bytes(connection: product.Connection) -> int:
    (row,) = connection.execute("select pg_database_size(current_database()) as bytes").fetchall()
    return int(row["bytes"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--workers", type=int, nargs="*", default=[1, 2, 4], help="first part: without a number it is left out"
    )
    parser.add_argument("--batch", type=int, default=100_000, help="second part: questions; with 0 it is left out")
    # By default so slow that the endpoint is the limit, and not the machine's CPU.
    parser.add_argument("--call-seconds", type=float, default=1.0, help="second part: how long the endpoint takes")
    parser.add_argument("--at-once", type=int, default=8, help="second part: calls that the endpoint takes at once")
    given = parser.parse_args()
    with product.made_up_corpus() as (dsn, corpus):
        figures = measure_throughput(dsn, corpus, given.workers)
        if given.batch:
            figures += measure_wait(dsn, corpus, given.batch, call_seconds=given.call_seconds, at_once=given.at_once)
        show(figures)
