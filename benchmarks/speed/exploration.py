"""Exploration of 100 passages of a large corpus, compared with one hybrid search: time in the database.

python -m benchmarks.speed.exploration [--passages 50000]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from pgclarify.data.runs import Run
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.run_tables import RunTables
from pgclarify.database.runs import Runs
from pgclarify.operations.context import RunContext
from pgclarify.operations.retrieval.exploration import Exploration, Query, by_signal, find_first
from pgclarify.operations.retrieval.first_stage import ranked
from tests.fakes.context import context_of

PASSAGES = 50_000
_CORPUS = "made up, linked"
_QUESTIONS = 30
_WARMING = 5
_TOP_K = 10
_BUDGET = 100
_PASSAGES_A_BATCH = 2000


class _Timed:
    """Exploration tables that sum the seconds of their statements."""

    def __init__(self, tables: ExplorationTables) -> None:
        self._tables = tables
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def timed(*arguments: Any, **named: Any) -> Any:
            started = time.perf_counter()
            found = await getattr(self._tables, name)(*arguments, **named)
            self.seconds[name].append(time.perf_counter() - started)
            return found

        return timed


def measure(dsn: str, passages: int = PASSAGES) -> list[Figure]:
    """Store and link a corpus, and ask each question both ways, one after the other.

    Args:
        dsn: The database. No worker may serve it.
        passages: Passages of the corpus: a multiple of made_up.PASSAGES_A_DOCUMENT.
    """
    product.load_made_up(dsn, _CORPUS, passages)
    with product.connect(dsn) as connection:
        with step(f"linking {passages:,} passages"):
            while connection.execute("select pgclarify_private.link_passages(%s) as n", [_PASSAGES_A_BATCH]).fetchall()[
                0
            ]["n"]:
                pass
        connection.execute("vacuum analyze")
        runs = [
            (
                question,
                connection.execute(
                    "select pgclarify.submit_many('clarify', array[%s, %s], %s, jsonb_build_object('top_k', %s::integer)) as ids",  # noqa: E501
                    [question, f"{question} (explored)", _CORPUS, _TOP_K],
                ).fetchall()[0]["ids"],
            )
            for question in made_up.questions(_QUESTIONS + _WARMING, seed=60)
        ]
    return asyncio.run(_ask(dsn, passages, runs, made_up.vectors(len(runs), seed=61)))


async def _ask(
    dsn: str, passages: int, asked: Sequence[tuple[str, Sequence[int]]], vectors: NDArray[np.float32]
) -> list[Figure]:
    entry: dict[str, Any] = {"version": "", "provider": "none", "model": "none", "prompt_version": ""}
    searching: list[float] = []
    exploring: list[float] = []
    statements: defaultdict[str, list[float]] = defaultdict(list)
    new = 0
    async with open_pool(dsn) as pool, Presence.enter(dsn, **entry) as presence:
        runs = Runs(pool, presence.worker_id)
        for (question, (searched, explored)), vector in zip(asked, vectors, strict=True):
            run = await _start(runs, searched)
            started = time.perf_counter()
            tables = ExplorationTables(runs)
            found = await tables.find_passages(run, question, vector, method="hybrid", depth=_TOP_K)
            await tables.record_candidates(run, ranked(found))
            searching.append(time.perf_counter() - started)
            timed = _Timed(ExplorationTables(runs))
            run = await _start(runs, explored)
            context = context_of(run, RunTables(runs, run), passages=cast(ExplorationTables, timed))
            new += await _explore(context, question, vector)
            exploring.append(sum(map(sum, timed.seconds.values())))
            for name, seconds in timed.seconds.items():
                statements[name].append(sum(seconds))
    search, exploration = _median_ms(searching), _median_ms(exploring)
    return [
        Figure(f"hybrid search, top {_TOP_K} of {passages:,} passages", search, "ms"),
        Figure(f"exploring {_BUDGET} of them: all its statements", exploration, "ms"),
        Figure("exploring over searching", exploration / search, aim="≤ 3"),
        *(Figure(f"exploring: {name}", _median_ms(seconds), "ms") for name, seconds in statements.items()),
        Figure("passages explored that the first stage had not found", new / len(asked), "a question"),
    ]


async def _start(runs: Runs, run_id: int) -> Run:
    run = await runs.start(run_id)
    assert isinstance(run, Run)
    return run


async def _explore(context: RunContext, question: str, vector: NDArray[np.float32]) -> int:
    """Explore as `search` does, and return the number of passages that only the graph found."""
    query = Query(question, vector, "hybrid", "both")
    first = await find_first(context, query, depth=_BUDGET)
    explored = await Exploration(context, query, first=first, scorer=by_signal, max_passages=_BUDGET).carry_out()
    assert len(explored) == _BUDGET
    await context.passages.record_candidates(context.run, explored[:_TOP_K])
    found = {one.passage.passage_id for one in first}
    return sum(one.passage.passage_id not in found for one in explored)


def _median_ms(seconds: Sequence[float]) -> float:
    return 1000 * statistics.median(seconds[_WARMING:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    given = parser.parse_args()
    with product.database() as dsn:
        show(measure(dsn, given.passages))
