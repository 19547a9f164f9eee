"""A fake of the passages for an exploration."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.candidates import Candidate, Found, Neighbors
from pgclarify.data.documents import Passage, bare_text
from pgclarify.data.runs import Run
from pgclarify.database.exploration import ExplorationTables
from pgclarify.operations.retrieval.first_stage import ranked
from tests.fakes.store import FakeStore


class FakeExplorationStore(ExplorationTables):
    """A corpus with its graph, in memory, for the runs of a `FakeStore`.

    Args:
        store: The store of the runs. Candidates are recorded there, and runs that it lost are lost here.
        passages: The passages, with different passage_ids. None for those of the store, without neighbors.
        first: passage_ids that a search finds, best first; None for all passages in the given order.
        neighbors: By passage_id, the passage_ids of its neighbors, nearest first. Ids without a passage are skipped, as
            the real one skips passages that the requester may not read.
        signals: By passage_id, its signal score, in (0, 1). The default is 0.5.
        gone: passage_ids of passages that are deleted before candidates are recorded.

    Attributes:
        searches: The query, method, depth and signal of each search.
        lookups: The passage_ids of each request for neighbors.
    """

    def __init__(
        self,
        store: FakeStore,
        passages: Sequence[Passage] | None = None,
        *,
        first: Sequence[int] | None = None,
        neighbors: Mapping[int, Sequence[int]] | None = None,
        signals: Mapping[int, float] | None = None,
        gone: Collection[int] = (),
    ) -> None:
        self.searches: list[tuple[str, str, int, str | None]] = []
        self.lookups: list[list[int]] = []
        self._store = store
        self._passages = None if passages is None else {passage.passage_id: passage for passage in passages}
        self._first = first
        self._neighbors = neighbors or {}
        self._signals = signals or {}
        self._gone = gone

    async def find_passages(
        self,
        run: Run,
        query: str,
        vector: NDArray[np.float32] | None,
        *,
        method: str,
        depth: int,
        signal: str | None = None,
        are_chosen: bool = False,
        asked_vector: NDArray[np.float32] | None = None,
        are_distinct: bool = True,
    ) -> list[Found]:
        """Return the first ranking."""
        record = await self._store.record(run)
        record.query, record.query_vector, record.asked_vector = query, vector, asked_vector
        if run.operation == "clarify" and query != record.run.question:
            record.relaxed_question = query
        self.searches.append((query, method, depth, signal))
        ranking = self._ranking()
        if are_chosen:
            ranking = [passage for passage in ranking if passage.passage_id not in self._gone]
        if are_distinct:
            ranking = list({bare_text(passage.content): passage for passage in reversed(ranking)}.values())[::-1]
        found = [
            self._found(passage, 1 / rank, "lexical" if method == "lexical" else "dense", signal)
            for rank, passage in enumerate(ranking[:depth], start=1)
        ]
        if are_chosen:
            await self.record_candidates(run, ranked(found))
        return found

    async def find_neighbors(
        self,
        run: Run,
        passages: Sequence[Passage],
        *,
        k: int,
        known: Collection[int],
        query: str,
        vector: NDArray[np.float32] | None,
        signal: str | None = None,
    ) -> Neighbors:
        """Return the edges of a batch."""
        await self._store.record(run)
        self.lookups.append([passage.passage_id for passage in passages])
        edges = {
            passage.passage_id: self._readable(self._neighbors.get(passage.passage_id, ()))[:k] for passage in passages
        }
        new = dict.fromkeys(near for found in edges.values() for near in found if near not in known)
        known_passages = self._passages or {}
        return Neighbors(edges, [self._found(known_passages[one], 0.5, "neighbor", signal) for one in new])

    async def record_candidates(self, run: Run, candidates: Sequence[Candidate]) -> list[int]:
        """Store candidates in the run's record."""
        record = await self._store.record(run)
        kept = [candidate for candidate in candidates if candidate.passage.passage_id not in self._gone]
        record.candidates = sorted([*record.candidates, *kept], key=lambda candidate: candidate.rank)
        return sorted(candidate.rank for candidate in kept)

    async def record_copies(self, run: Run, candidates: Sequence[Candidate]) -> dict[int, datetime | None]:
        """Find no copies: a search here finds all passages that a test has, or one of each text."""
        await self._store.record(run)
        return {}

    def _readable(self, passage_ids: Sequence[int]) -> list[int]:
        return [passage_id for passage_id in passage_ids if passage_id in (self._passages or {})]

    def _ranking(self) -> list[Passage]:
        if self._passages is None:
            return self._store.passages
        return [self._passages[passage_id] for passage_id in (self._passages if self._first is None else self._first)]

    def _found(self, passage: Passage, score: float, origin: str, signal: str | None) -> Found:
        signal_score = None if signal is None else self._signals.get(passage.passage_id, 0.5)
        return Found(passage, score, origin, signal_score)
