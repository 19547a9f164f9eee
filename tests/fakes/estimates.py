"""A fake of the stores that an estimate reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.candidates import Found
from pgclarify.data.estimates import Prospect
from pgclarify.data.model_calls import Completion, CompletionKey
from pgclarify.data.runs import Run
from pgclarify.database.estimates import EstimateTables
from tests.fakes.exploration import FakeExplorationStore
from tests.fakes.store import FakeStore


class FakeEstimateStore(EstimateTables):
    """A corpus and a ledger, in memory, for the estimates of a `FakeStore`.

    Args:
        store: The store of the runs, and of the ledger.
        passages: The passages that searches find.

    Attributes:
        searches: The queries of each search, in order.
        prospects: The results of estimates, by run_id.
    """

    def __init__(self, store: FakeStore, passages: FakeExplorationStore) -> None:
        self.searches: list[list[str]] = []
        self.prospects: dict[int, Prospect] = {}
        self._store = store
        self._passages = passages

    async def find_for_each(
        self,
        run: Run,
        queries: Sequence[str],
        vectors: NDArray[np.float32] | None,
        *,
        method: str,
        depth: int,
    ) -> list[list[Found]]:
        """Return the first ranking, once for each query."""
        self.searches.append(list(queries))
        every = [None] * len(queries) if vectors is None else list(vectors)
        return [
            await self._passages.find_passages(run, query, vector, method=method, depth=depth)
            for query, vector in zip(queries, every, strict=True)
        ]

    async def known_completions(
        self, run: Run, keys: Sequence[CompletionKey], shown: Sequence[Sequence[str]]
    ) -> list[Completion | None]:
        """Look keys up among the rows of the ledger."""
        await self._store.record(run)
        known = {row.request.key: row.completion for row in self._store.table.rows.values()}
        return [known.get(key) for key in keys]

    async def record_estimate(self, run: Run, prospect: Prospect) -> None:
        """Store the result."""
        await self._store.record(run)
        self.prospects[run.run_id] = prospect
