"""How good a ranking is, if the relevant ids are known. A repeated id counts once, at its first place."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import TypeVar

Id = TypeVar("Id", bound=Hashable)


def recall_at(ranking: Sequence[Id], relevant: Collection[Id], k: int) -> float:
    """Share of the relevant ids that are among the first k different ones.

    Args:
        ranking: Best first.
        relevant: The ids to find, at least one.
        k: The depth, at least 1.

    Source: SUNAR, §4 ("R@k").
    """
    wanted = set(relevant)
    return len(wanted.intersection(list(dict.fromkeys(ranking))[:k])) / len(wanted)
