"""Algorithm 1 of SUNAR as it is printed, without lines 6-9: slow and simple, and without code of `Explorer`.

Where the paper is silent, it does what docs/methods/neighborhood-aware-retrieval.md says. Every pool is worked out
anew from what was scored so far, so that nothing that is kept up to date can go wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Scored:
    """A passage of R+."""

    passage: int
    score: float
    iteration: int
    led_by: int | None


def algorithm_1(
    initial: Sequence[int], graph: Mapping[int, Sequence[int]], score: Mapping[int, float], *, budget: int, batch: int
) -> list[list[Scored]]:
    """Score passages by the paper's loop.

    Args:
        initial: R, best first.
        graph: G, the neighbors of each passage, nearest first.
        score: What SCORE gives each passage.
        budget: c.
        batch: b.

    Returns:
        The batches B in their order; one that would be empty is not in it.
    """
    batches: list[list[Scored]] = []
    ranked: list[Scored] = []  # line 1: R+
    is_frontiers_turn = False  # line 2: C is R
    iteration = 0
    while len(ranked) < budget:  # line 19
        # Lines 13-15: R and N without scored passages.
        seen = {one.passage for one in ranked}
        rest = [passage for passage in dict.fromkeys(initial) if passage not in seen]
        leads = _leads(ranked, graph)
        frontier = sorted(leads, key=lambda passage: leads[passage][:4])
        if not rest and not frontier:
            break
        pool = frontier if is_frontiers_turn else rest  # lines 3 and 18
        taken = pool[: min(batch, budget - len(ranked))]  # line 5
        scored = [
            Scored(passage, score[passage], iteration, leads[passage][4] if is_frontiers_turn else None)
            for passage in taken
        ]
        ranked += scored  # line 10
        batches += [scored] if scored else []
        is_frontiers_turn = not is_frontiers_turn  # line 18
        iteration += 1
    return batches


def by_score(batches: Sequence[Sequence[Scored]]) -> list[Scored]:
    """R+ in its final order: by score; among equals, later iterations first, then the order of scoring."""
    return sorted((one for batch in batches for one in batch), key=lambda one: (-one.score, -one.iteration))


def _leads(ranked: Sequence[Scored], graph: Mapping[int, Sequence[int]]) -> dict[int, tuple[float, int, int, int, int]]:
    """N: for each passage, the best of the passages that have it as a neighbor: the least of these tuples.

    Minus its score; its batch; the place that it names the passage in; how many were scored before it; its id.
    """
    seen = {one.passage for one in ranked}
    leads: dict[int, tuple[float, int, int, int, int]] = {}
    for position, one in enumerate(ranked):
        for place, neighbor in enumerate(graph.get(one.passage, ())):
            lead = (-one.score, one.iteration, place, position, one.passage)
            if neighbor not in seen and (neighbor not in leads or lead < leads[neighbor]):
                leads[neighbor] = lead
    return leads
