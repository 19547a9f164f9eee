"""The cost of a question that was answered before: milliseconds in the client and in the server, without a call."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from benchmarks import made_up, product
from benchmarks.figures import Figure, show
from tests import openai_server

TOP_K = 20
_REPEATS = 50
_SESSIONS = 10
_ASK = "select * from pgclarify.clarify(%s, corpus => %s, top_k => %s)"
_EXPLAIN = f"explain (analyze, timing off, summary on, format json) {_ASK}"
_INSERT = "insert into public.noted values (1)"

_Result = TypeVar("_Result")


def measure(dsn: str, corpus: str) -> list[Figure]:
    """Ask the same question many times: in one session, and in new sessions."""
    (question,) = made_up.questions(1, seed=30)
    asked = [question, corpus, TOP_K]
    with (
        openai_server.spawn() as endpoint,
        product.worker(dsn, endpoint, concurrency=64),
        product.connect(dsn) as connection,
    ):
        first = product.clarify(connection, question, corpus, TOP_K)
        connection.execute("create table public.noted (number integer)")
        calls_before = endpoint.stats["calls"]
        in_client, in_server, inserts, cpu_seconds = [], [], [], 0.0
        for _ in range(_REPEATS):
            cpu_before = _cpu_seconds(connection)
            milliseconds, rows = _timed(lambda: product.clarify(connection, question, corpus, TOP_K))
            assert rows == first
            cpu_seconds += _cpu_seconds(connection) - cpu_before
            in_client.append(milliseconds)
            (plan,) = connection.execute(_EXPLAIN, asked).fetchall()
            in_server.append(plan["QUERY PLAN"][0]["Execution Time"])
            inserts.append(_timed(lambda: connection.execute(_INSERT))[0])
        in_new_sessions = []
        for _ in range(_SESSIONS):
            with product.connect(dsn) as session:
                in_new_sessions.append(_timed(lambda: product.clarify(session, question, corpus, TOP_K))[0])
        calls = endpoint.stats["calls"] - calls_before
    server = statistics.median(in_server)
    return [
        Figure("a repeated question, median, from a client", statistics.median(in_client), "ms"),
        Figure("the same, 95th percentile", statistics.quantiles(in_client, n=20)[-1], "ms"),
        Figure(f"the same in the server, {len(first)} readings", server, "ms", aim="<= 2"),
        Figure("the same over an insert of one row and its commit", server / statistics.median(inserts)),
        Figure("CPU of the server's process for one", cpu_seconds / _REPEATS * 1000, "ms"),
        Figure("the first one of a new session, from a client", statistics.median(in_new_sessions), "ms"),
        Figure(f"calls of the model, {_REPEATS} repeats", calls, "calls", aim="0"),
    ]


def _timed(function: Callable[[], _Result]) -> tuple[float, _Result]:
    """Time a function: its milliseconds, and its result."""
    started = time.perf_counter()
    result = function()
    return (time.perf_counter() - started) * 1000, result


def _cpu_seconds(connection: product.Connection) -> float:
    """CPU seconds so far of the server process of a connection. Linux only; the server must run on this machine."""
    nanoseconds = Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()[0]
    return int(nanoseconds) / 1e9


if __name__ == "__main__":
    with product.made_up_corpus() as (dsn, corpus):
        show(measure(dsn, corpus))
