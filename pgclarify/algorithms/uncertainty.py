"""How many different answers a model gives to one question: the more answers, the weaker the evidence.

docs/methods/investigation.md says which parts come from the paper and which are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Floats: TypeAlias = NDArray[np.float64]

# The ends of the open interval (0, 1): the nearest float64 numbers to 0 and 1.
_LEAST = float(np.finfo(np.float64).tiny)
_GREATEST = float(np.nextafter(1, 0))

# The share of (0, 1) at each end for scores that are not probabilities.
_TAIL = 0.01


def semantic_sets(entails: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Group answers that mean the same: each entails the other, or a chain of such pairs joins them.

    A judge's two-way entailment is not transitive: the first answer may equal the second, and the second the third,
    while the first does not equal the third. So the sets are the connected components of its graph, the smallest
    equivalence relation that contains it. Two answers that the judge called the same always share a set, and the order
    of the answers has no influence. If the judge contradicts itself, "the same" wins: one wrong pair joins two sets,
    and the penalty is then too small.

    Args:
        entails: bool, shape (n_answers, n_answers); entails[i, j]: answer i entails answer j. The diagonal is not read:
            every answer entails itself.

    Returns:
        ac_1 ... ac_s: indices in [0, n_answers), ascending within a set; sets by falling size, then by lowest member.
        Every index is in exactly one set. Without answers there are no sets.

    Source: SUNAR, §3.2, Equation 3; Kuhn et al., 2023, Algorithm 1. The closure is ours: Kuhn et al. compare an answer
    with one member of each set, so that the sets depend on the order of the answers; SUNAR leaves this open.
    """
    is_same = entails & entails.T
    sets = []
    assigned: set[int] = set()
    for first in range(len(entails)):
        if first in assigned:
            continue
        assigned.add(first)
        members = [first]
        # The list grows during the loop.
        for member in members:
            same = np.flatnonzero(is_same[member])
            for other in same.tolist():
                if other not in assigned:
                    assigned.add(other)
                    members.append(other)
        members.sort()
        sets.append(tuple(members))
    # The sort is stable, so that sets of one size stay in the order of their lowest members.
    return sorted(sets, key=len, reverse=True)


def to_unit_interval(logits: ArrayLike) -> _Floats:
    """Map scores of any size to (0, 1) by the logistic function, keeping their order.

    Args:
        logits: Any shape, any real numbers, infinities included.

    Returns:
        float64, shape of logits: 1 / (1 + exp(-logit)). Never 0 or 1: below -708 and above 36, where float64 ends, it
        is the nearest number inside (0, 1), so all such logits are equal.
    """
    array = np.asarray(logits, dtype=np.float64)
    # exp(-logaddexp(0, -x)) is the logistic function without overflow.
    exponents = -np.logaddexp(0, -array)
    return _inside(np.exp(exponents))


def relevance_to_unit_interval(scores: ArrayLike) -> _Floats:
    """Map scores, which may be probabilities or logits, to (0, 1), and keep their order.

    One function maps all numbers. If it depended on the other scores of a batch, two batches could not be compared. In
    [0, 1] it is nearly the identity; numbers below share the lowest hundredth, numbers above the highest one.

    Args:
        scores: Any shape, any finite numbers.

    Returns:
        float64, shape of scores: 0.01 + 0.98 x for x in [0, 1], 0.01 exp(x) below and 1 - 0.01 exp(1 - x) above. Never
        0 or 1: below -703 and above 33, where float64 ends, it is the nearest number inside (0, 1), so all such scores
        are equal.
    """
    array = np.asarray(scores, dtype=np.float64)
    probabilities = np.clip(array, 0, 1)
    mapped = _TAIL + (1 - 2 * _TAIL) * probabilities
    # Without these limits, exp would overflow for numbers that are not in the tail.
    distance_below = np.minimum(array, 0)
    distance_above = 1 - np.maximum(array, 1)
    lower_tail = _TAIL * np.exp(distance_below)
    upper_tail = 1 - _TAIL * np.exp(distance_above)
    mapped = np.where(array < 0, lower_tail, mapped)
    mapped = np.where(array > 1, upper_tail, mapped)
    return _inside(mapped)


def _inside(numbers: _Floats) -> _Floats:
    """Move 0 and 1, which come from rounding, into the open interval (0, 1)."""
    return np.clip(numbers, _LEAST, _GREATEST)


def confidence(sets: Sequence[Sequence[int]], answer: int) -> float:
    """Return the share of all drawn answers that mean the same as one of them.

    Args:
        sets: What `semantic_sets` returned.
        answer: The index of an answer.

    Returns:
        The size of its set divided by that of all sets, in (0, 1].
    """
    (same,) = (members for members in sets if answer in members)
    return len(same) / sum(map(len, sets))
