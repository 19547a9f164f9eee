"""The exploration gives the same result as a simple version of the paper's algorithm, on random worlds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import settings

from pgclarify.algorithms.exploration import Explorer
from tests.unit.algorithms.naive_sunar import Scored, algorithm_1, by_score

# 2,400; a quarter of that with the quick profile.
WORLDS = 60 * settings().max_examples
# The number of tests that share the worlds, so that a failure names few seeds.
SHARES = 10


@dataclass(frozen=True)
class World:
    """A first ranking, a graph and a scorer. Passages and scores are few, so that pools overlap and many scores tie."""

    initial: Sequence[int]
    graph: Mapping[int, Sequence[int]]
    score: Mapping[int, float]
    budget: int
    batch: int

    @staticmethod
    def drawn(seed: int) -> World:
        draw = random.Random(seed)  # noqa: S311
        passages = range(draw.randint(1, 24))
        scores = (0.0, 0.25, 0.5, 1.0) if draw.random() < 0.5 else [draw.random() for _ in range(50)]
        return World(
            # Some passages are in it twice, some not at all.
            initial=draw.choices(passages, k=draw.randint(0, 24)),
            # A passage may be its own neighbor, and may have the same neighbor twice.
            graph={one: draw.choices(passages, k=draw.randint(0, 5)) for one in passages if draw.random() < 0.9},
            score={one: draw.choice(scores) for one in passages},
            budget=draw.randint(1, 26),
            batch=draw.randint(1, 7),
        )


@pytest.mark.parametrize("share", range(SHARES))
def test_exploring_is_the_papers_algorithm(share: int) -> None:
    assert WORLDS >= 600
    for seed in range(share, WORLDS, SHARES):
        world = World.drawn(seed)
        expected = algorithm_1(world.initial, world.graph, world.score, budget=world.budget, batch=world.batch)
        ranked = by_score(expected)
        assert explored(world) == (expected, ranked), f"world {seed}: {world}"


def explored(world: World) -> tuple[list[list[Scored]], list[Scored]]:
    """The batches of an `Explorer`, and its result."""
    explorer = Explorer(world.initial, budget=world.budget, batch_size=world.batch)
    batches: list[list[int]] = []
    while batch := explorer.next_batch():
        batches.append(batch)
        explorer.observe(
            {one: world.score[one] for one in batch}, {one: world.graph[one] for one in batch if one in world.graph}
        )
    results = [Scored(one.id, one.score, one.iteration, explorer.led_by(one.id)) for one in explorer.results()]
    of = {one.passage: one for one in results}
    return [[of[one] for one in batch] for batch in batches], results
