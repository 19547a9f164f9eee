"""How good a ranking is, if the relevant ids are known.

An id that a ranking repeats (two passages of one document) counts once, at its first place.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TypeVar

from pgclarify.errors import InputError

Id = TypeVar("Id", bound=Hashable)


def recall_at(ranking: Sequence[Id], relevant: Collection[Id], k: int) -> float:
    """Share of the relevant ids that are among the first k.

    Args:
        ranking: Best first.
        relevant: The ids to find, at least one; of a Mapping of grades, those with a grade above 0.
        k: The depth, at least 1.

    Returns:
        0 to 1.

    Raises:
        InputError: If nothing is relevant, or k is below 1.

    Source: SUNAR, §4 ("R@k").
    """
    grades = _grades(relevant, k)
    return sum(one in grades for one in _first(ranking, k)) / len(grades)


def ndcg_at(ranking: Sequence[Id], relevant: Collection[Id] | Mapping[Id, float], k: int) -> float:
    """Discounted cumulative gain of the first k, as a share of the best possible one.

    Args:
        ranking: Best first.
        relevant: The ids to find, at least one: each counts 1. A Mapping gives grades, from 0.
        k: The depth, at least 1.

    Returns:
        0 to 1. The gain is the grade (as in trec_eval), the discount log2(1 + rank).

    Raises:
        InputError: If nothing is relevant, a grade is negative, or k is below 1.

    Source: Järvelin and Kekäläinen (TOIS 2002), as SUNAR §4 and AT-CoT §4.3 use it.
    """
    grades = _grades(relevant, k)
    best = sorted(grades.values(), reverse=True)[:k]
    return _discounted([grades.get(one, 0.0) for one in _first(ranking, k)]) / _discounted(best)


def reciprocal_rank_at(ranking: Sequence[Id], relevant: Collection[Id], k: int) -> float:
    """One divided by the rank of the first relevant id among the first k; 0 if there is none.

    Args:
        ranking: Best first.
        relevant: The ids to find, at least one; of a Mapping of grades, those with a grade above 0.
        k: The depth, at least 1.

    Returns:
        0 to 1. Its mean over questions is MRR@k.

    Raises:
        InputError: If nothing is relevant, or k is below 1.

    Source: AT-CoT, §4.3 ("MRR@10").
    """
    grades = _grades(relevant, k)
    return next((1 / rank for rank, one in enumerate(_first(ranking, k), start=1) if one in grades), 0.0)


def mrecall_at(found: Sequence[Collection[int]], answers: int, k: int) -> bool:
    """Whether the first k passages contain all answers or, if there are more than k answers, k of them.

    Args:
        found: For each passage, best first, the numbers of the answers that it contains, from 0.
        answers: How many answers there are, at least 1.
        k: The depth, at least 1.

    Raises:
        InputError: If there is no answer, or k is below 1.

    Source: Min et al., Joint Passage Ranking for Diverse Multi-Answer Retrieval (EMNLP 2021), §2.2 ("MRecall@k").
    """
    if answers < 1 or k < 1:
        raise InputError("mrecall needs an answer, and a depth of at least 1", detail=f"{answers=}, {k=}.")
    return len(frozenset().union(*found[:k])) >= min(answers, k)


def pooled(rankings: Sequence[Sequence[Id]]) -> list[Id]:
    """Merge several rankings into one: all first places, then all second places, and so on.

    Args:
        rankings: Each best first. At equal places, the id of the earlier ranking comes first.

    Returns:
        Each id once, at its first place.
    """
    places = range(max(map(len, rankings), default=0))
    return list(dict.fromkeys(one[place] for place in places for one in rankings if place < len(one)))


def _grades(relevant: Collection[Id] | Mapping[Id, float], k: int) -> dict[Id, float]:
    if k < 1:
        raise InputError("the depth must be at least 1", detail=f"It is {k}.")
    grades = dict(relevant) if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1.0)
    if any(grade < 0 for grade in grades.values()):
        raise InputError("a grade of relevance is negative")
    grades = {one: grade for one, grade in grades.items() if grade > 0}
    if not grades:
        raise InputError("there is nothing relevant to find")
    return grades


def _first(ranking: Sequence[Id], k: int) -> list[Id]:
    return list(dict.fromkeys(ranking))[:k]


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains, start=1))
