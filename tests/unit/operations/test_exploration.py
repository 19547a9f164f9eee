"""The loop around the explorer: the scored passages, their batches, their leads, and the number of statements."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.runs import Run
from pgclarify.operations.retrieval.exploration import (
    Exploration,
    Query,
    by_signal,
    find_first,
    make_query,
)
from tests.fakes import FakeEmbedder, FakeExplorationStore, FakeStore
from tests.fakes.context import context_of
from tests.unit.algorithms.naive_sunar import algorithm_1, by_score

PASSAGES = [Passage(f"document {number}", number, f"passage {number}") for number in range(1, 41)]
QUERY = Query("a question", np.ones(256, dtype=np.float32), "dense", "lexical")


class World:
    """A run, its passages, and the record of exploring them."""

    def __init__(
        self,
        first: Sequence[int],
        neighbors: Mapping[int, Sequence[int]] | None = None,
        signals: Mapping[int, float] | None = None,
        passages: Sequence[Passage] = PASSAGES,
    ) -> None:
        self.store = FakeStore()
        self.run: Run = self.store.add_run("a question", operation="search")
        self.exploration = FakeExplorationStore(self.store, passages, first=first, neighbors=neighbors, signals=signals)
        self.context = context_of(self.run, self.store, passages=self.exploration)

    async def explore(
        self,
        query: Query = QUERY,
        *,
        max_passages: int = 100,
        batch_size: int = 2,
        **options: object,
    ) -> list[Candidate]:
        first = await find_first(self.context, query, depth=max_passages)
        return await Exploration(
            self.context,
            query,
            first=first,
            scorer=by_signal,
            max_passages=max_passages,
            batch_size=batch_size,
            k=10,
            **options,  # type: ignore[arg-type]
        ).carry_out()

    def stages(self) -> list[tuple[str, int | None, int | None]]:
        return [(stage.name, stage.batch, stage.rows) for stage in self.context.trace.stages]


async def test_neighbors_are_looked_up_when_they_are_needed() -> None:
    """Neighbors are looked up before the turn of the neighbors, and not after the last batch."""
    chain = {number: [number + 1] for number in range(1, 40)}
    world = World([1, 2, 20, 21, 30, 31], neighbors=chain)

    explored = await world.explore(max_passages=11)

    assert len(explored) == 11
    assert world.exploration.lookups == [[1, 2], [3, 20, 21], [4, 22, 30, 31]]
    assert world.stages() == [
        ("retrieval", None, 6),
        ("reranking", 1, 2),
        ("neighbors", 1, 1),
        ("reranking", 2, 1),
        ("reranking", 3, 2),
        ("neighbors", 3, 2),
        ("reranking", 4, 2),
        ("reranking", 5, 2),
        # The first ranking has no passages left.
        ("neighbors", 5, 3),
        ("reranking", 6, 2),
    ]
    by_id = {one.passage.passage_id: one.batch for one in explored}
    assert by_id == {1: 1, 2: 1, 3: 2, 20: 3, 21: 3, 4: 4, 22: 4, 30: 5, 31: 5, 5: 6, 23: 6}


async def test_exploration_gives_the_results_of_the_algorithm() -> None:
    """Late lookups do not change the result."""
    chance = random.Random(5)  # noqa: S311 - not for secrets
    for _ in range(200):
        numbers = list(range(1, 41))
        neighbors = {number: chance.sample(numbers, chance.randint(0, 8)) for number in numbers}
        signals = {number: chance.choice([0.2, 0.4, 0.6, 0.8]) for number in numbers}
        first = chance.sample(numbers, chance.randint(1, 12))
        max_passages, batch_size = chance.randint(1, 30), chance.randint(1, 5)
        world = World(first, neighbors=neighbors, signals=signals)

        explored = await world.explore(max_passages=max_passages, batch_size=batch_size)

        batches = algorithm_1(first[:max_passages], neighbors, signals, budget=max_passages, batch=batch_size)
        expected = [(one.passage, one.score) for one in by_score(batches)]
        assert [(one.passage.passage_id, one.score) for one in explored] == expected


async def test_a_neighbor_with_the_text_of_another_passage_is_scored_only_if_copies_are_wanted() -> None:
    copied = [*PASSAGES[:4], replace(PASSAGES[4], content="# A heading\n\npassage 1")]
    for are_distinct, expected in ((True, [1, 2, 4]), (False, [1, 2, 4, 5])):
        world = World([1, 2], neighbors={1: [4, 5], 2: [5]}, passages=copied)
        explored = await world.explore(are_distinct=are_distinct)
        assert sorted(one.passage.passage_id for one in explored) == expected


async def test_scores_of_a_batch_can_be_changed() -> None:
    """The changed scores decide which passages lead to the next batch."""
    world = World([1, 2, 3, 4], neighbors={1: [11], 3: [13]}, signals={1: 0.9, 2: 0.9, 3: 0.5, 4: 0.5})
    seen: list[tuple[list[int], list[float]]] = []

    async def rescore(passages: Sequence[Passage], scores: Sequence[float]) -> list[float]:
        seen.append(([passage.passage_id for passage in passages], list(scores)))
        return [score / 3 if len(seen) == 1 else score for score in scores]

    explored = await world.explore(rescore=rescore, step_ordinal=2)

    assert seen[0] == ([1, 2], [0.9, 0.9])
    assert {one.passage.passage_id: one.score for one in explored} == pytest.approx(
        {1: 0.3, 2: 0.3, 11: 0.5, 3: 0.5, 4: 0.5, 13: 0.5}
    )
    assert {one.step_ordinal for one in explored} == {2}
    assert {stage.step_ordinal for stage in world.context.trace.stages if stage.batch} == {2}


async def test_a_share_of_the_lead_s_score_is_taken_before_it_was_changed() -> None:
    """Otherwise the scores before a penalty, which a step falls back to, would contain it."""
    world = World([1], neighbors={1: [11]}, signals={1: 0.9, 11: 0.5})
    seen: list[float] = []

    async def rescore(_: Sequence[Passage], scores: Sequence[float]) -> list[float]:
        seen.extend(scores)
        return [score / 5 for score in scores]

    await world.explore(replace(QUERY, signal="both"), rescore=rescore)

    assert seen == pytest.approx([0.9, 0.8 * 0.5 + 0.2 * 0.9])


@pytest.mark.parametrize(("method", "signal"), [("dense", "lexical"), ("lexical", "dense"), ("hybrid", "both")])
async def test_passages_are_scored_by_the_signal_that_the_search_does_not_use(method: str, signal: str) -> None:
    query = await make_query(FakeEmbedder(), "a question", method, is_scored_by_signal=True)
    assert (query.signal, query.vector is None) == (signal, False)
    # A search for words needs no vector.
    plain = await make_query(FakeEmbedder(), "a question", method, is_scored_by_signal=False)
    assert (plain.signal, plain.vector is None) == (None, method == "lexical")
