"""Fuse several rankings into one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

Id = TypeVar("Id", bound=Hashable)

# The paper's value. `hybrid` search in SQL uses the same.
_K = 60


def fuse(*rankings: Sequence[Id]) -> list[Id]:
    """Fuse rankings: an id that several of them rank high comes first.

    Args:
        rankings: Each best first, each id in it at most once.

    Returns:
        Every id once. Ties go to the id that an earlier ranking has first.

    Source: Reciprocal rank fusion, k = 60 (Cormack, Clarke and Büttcher, SIGIR 2009).
    """
    scores: dict[Id, float] = {}
    for ranking in rankings:
        for place, one in enumerate(ranking, start=1):
            scores[one] = scores.get(one, 0.0) + 1 / (_K + place)
    return sorted(scores, key=lambda one: -scores[one])
