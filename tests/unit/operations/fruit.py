"""A corpus of fruit with its graph and verdicts, and guided runs on it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.candidates import Found
from pgclarify.data.documents import Passage
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Reading
from pgclarify.errors import CompletionError
from pgclarify.operations.retrieval.reranking import Rerankers
from tests.fakes import FakeExplorationStore, FakeStore, RunRecord, scripts
from tests.unit.operations.rental_cars import clarify_with

QUESTION = "which fruit"


def content(passage_id: int) -> str:
    return f"Passage {passage_id} speaks of fruit."


def text(passage_id: int, copies: Mapping[int, int]) -> str:
    return f"# Copy {passage_id}\n\n{content(copies[passage_id])}" if passage_id in copies else content(passage_id)


def reading(fruit: str, passage_id: int) -> Reading:
    return Reading(f"What does {fruit} taste like?", fruit, content(passage_id))


class Rankings(FakeExplorationStore):
    """Ranks by query, if a test sets that."""

    by_query: Mapping[str, Sequence[int]] = {}

    async def find_passages(
        self,
        run: Run,
        query: str,
        vector: NDArray[np.float32] | None,
        *,
        depth: int,
        **options: Any,
    ) -> list[Found]:
        assert not options["are_chosen"]
        found = await super().find_passages(run, query, vector, depth=1000, **options)
        order = list(self.by_query.get(query, [one.passage.passage_id for one in found]))
        named = [one for one in found if one.passage.passage_id in order]
        return sorted(named, key=lambda one: order.index(one.passage.passage_id))[:depth]


class Orchard:
    """Passages from 1 on, verdicts on them, and one guided run.

    Args:
        passages: How many there are.
        fruit: By passage, the fruit that its reading is about, an error, or a raw reply; an abstention on all others.
        first: What a search finds, best first; None for all passages.
        neighbors: By passage, its neighbors.
        by_query: First rankings of particular queries.
        relaxation: As of ScriptedCompleter.
        gate: Holds back the calls about `gated`; 0 among them is the relaxation.
        gated: Passages.
        gone: Passages that are gone when candidates are recorded.
        copies: By passage, the one whose text it has under a heading of its own.
        settings: Of the run, besides `retrieval`.
    """

    def __init__(
        self,
        passages: int,
        fruit: Mapping[int, str | CompletionError | list[Reading | str | CompletionError | None]],
        *,
        first: Sequence[int] | None = None,
        neighbors: Mapping[int, Sequence[int]] | None = None,
        by_query: Mapping[str, Sequence[int]] | None = None,
        relaxation: str | CompletionError | None = None,
        gate: asyncio.Event | None = None,
        gated: Collection[int] = (),
        gone: Collection[int] = (),
        copies: Mapping[int, int] | None = None,
        **settings: object,
    ) -> None:
        self.store = FakeStore()
        self.exploration = Rankings(
            self.store,
            [Passage(f"document {number}", number, text(number, copies or {})) for number in range(1, passages + 1)],
            first=first,
            neighbors=neighbors,
            gone=gone,
        )
        self.exploration.by_query = by_query or {}
        self.verifier = scripts.verifier(
            {
                content(number): reading(named, number) if isinstance(named, str) else named
                for number, named in fruit.items()
            },
            relaxation=relaxation,
            gate=gate,
            gated=None if gate is None else [content(number) if number else "" for number in gated],
        )
        # The passages do not contain any fruit, so their quotes are not checked.
        self.run = self.store.add_run(QUESTION, settings={"retrieval": "adaptive", "verify": "none", **settings})

    @property
    def record(self) -> RunRecord:
        return self.store.runs[self.run.run_id]

    @property
    def batches(self) -> list[list[int]]:
        """The passages of each batch, in the order of choice."""
        candidates = self.record.candidates
        numbers = sorted({candidate.batch for candidate in candidates})
        return [[one.passage.passage_id for one in candidates if one.batch == number] for number in numbers]

    @property
    def answers(self) -> set[str]:
        return {found.answer for found in self.record.interpretations}

    async def carry_out(self, *, rerankers: Rerankers | None = None) -> RunRecord:
        async with asyncio.timeout(60):
            await clarify_with(
                self.store,
                self.run,
                self.verifier,
                exploration=self.exploration,
                rerankers=rerankers,
            )
        return self.record
