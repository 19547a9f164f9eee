"""How good a ranking is, if the relevant ids are known. A repeated id counts once, at its first place."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import zip_longest
from typing import TypeVar

from pgclarify.errors import InputError

Id = TypeVar("Id", bound=Hashable)


def recall_at(ranking: Sequence[Id], relevant: Collection[Id], k: int) -> float:
    """Share of the relevant ids that are among the first k different ones.

    Args:
        ranking: Best first.
        relevant: The ids to find, at least one.
        k: The depth, at least 1.

    Raises:
        InputError: If nothing is relevant, or k is below 1.

    Source: SUNAR, §4 ("R@k").
    """
    wanted = set(relevant)
    if not wanted or k < 1:
        raise InputError("a ranking cannot be measured", detail=f"{len(wanted)} ids are relevant, and k is {k}.")
    return len(wanted.intersection(list(dict.fromkeys(ranking))[:k])) / len(wanted)


def pooled(rankings: Sequence[Sequence[Id]]) -> list[Id]:
    """One ranking of several: the first of each, then the second of each, and so on, each id once."""
    nothing = object()
    places = zip_longest(*rankings, fillvalue=nothing)
    return list(dict.fromkeys(one for several in places for one in several if one is not nothing))  # type: ignore[misc]
