"""How many different answers a model gives to one question: the more, the less its evidence is worth.

docs/methods/answer-uncertainty.md says what is the paper's and what is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

# The ends of the open interval (0, 1), as far as a float64 tells them apart from 0 and 1.
_LEAST = float(np.finfo(np.float64).tiny)
_GREATEST = float(np.nextafter(1, 0))

# How much of (0, 1) is left for scores that are no probabilities, at each end.
_TAIL = 0.01


def semantic_sets(entails: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Group answers that mean the same: each entails the other, or a chain of such pairs joins them.

    Two-way entailment as a judge tells it is no equivalence relation: it may hold between the first and the second
    answer and between the second and the third, and not between the first and the third. So the sets are the connected
    components of its graph, which is the smallest equivalence relation that contains it: what the judge called the same
    is never taken apart, whatever else it said, and the order of the answers has no influence. A judge that contradicts
    itself is heard where it says "the same": one pair wrongly called so joins two sets, and the penalty is too small.

    Args:
        entails: bool, shape (n_answers, n_answers); entails[i, j]: answer i entails answer j. The diagonal is not read:
            every answer entails itself.

    Returns:
        ac_1 ... ac_s: indices in [0, n_answers), ascending within a set; sets by falling size, then by lowest member.
        Every index is in exactly one. No answers, no sets.

    Raises:
        ValueError: If entails is not a square matrix of booleans.

    Source: SUNAR, §3.2, Equation 3; Kuhn et al., 2023, Algorithm 1. The closure is ours: Kuhn et al. compare an answer
    with one member of each set, so that the sets hang on the order of the answers; SUNAR leaves it open.
    """
    if entails.ndim != 2 or entails.shape[0] != entails.shape[1] or entails.dtype != np.bool_:
        raise ValueError(f"entails is not a square matrix of booleans, but {entails.dtype} of shape {entails.shape}")
    is_same = entails & entails.T
    left = dict.fromkeys(range(len(entails)))
    sets = []
    while left:
        first = next(iter(left))
        del left[first]
        members = [first]
        # Grows while it is walked through.
        for member in members:
            for other in np.flatnonzero(is_same[member]).tolist():
                if other in left:
                    del left[other]
                    members.append(other)
        sets.append(tuple(sorted(members)))
    return sorted(sets, key=lambda members: (-len(members), members[0]))


def penalize(scores: ArrayLike, n_sets: int) -> NDArray[np.float64]:
    """Divide the scores of a batch by the number of different answers that were drawn from it.

    Args:
        scores: sc_1 ... sc_n, shape (n_passages,), each in (0, 1), both ends excluded. A logit is not: dividing a
            negative one would promote it. `to_unit_interval` makes it one.
        n_sets: s, the number of semantic sets, at least 1.

    Returns:
        float64, shape (n_passages,), each in (0, 1): sc_i / s.

    Raises:
        ValueError: If a score is not in (0, 1), or n_sets is below 1.

    Source: SUNAR, §3.2, LLM_SCORE, and Algorithm 1, line 9.
    """
    array = np.asarray(scores, dtype=np.float64)
    if n_sets < 1:
        raise ValueError(f"n_sets must be at least 1, not {n_sets}")
    # Written so that what is not a number is refused, too.
    wrong = array[~((array > 0) & (array < 1))]
    if wrong.size:
        raise ValueError(f"scores must be between 0 and 1, both excluded: {wrong[0]} is not")
    return array / n_sets


def to_unit_interval(logits: ArrayLike) -> NDArray[np.float64]:
    """Map scores of any size to (0, 1) by the logistic function, keeping their order.

    Args:
        logits: Any shape, any real numbers, infinities included.

    Returns:
        float64, shape of logits: 1 / (1 + exp(-logit)). Never 0 nor 1: where float64 ends (below -708, above 36), the
        nearest number inside, so that beyond it all are equal.

    Raises:
        ValueError: If one is not a number.
    """
    array = np.asarray(logits, dtype=np.float64)
    if np.isnan(array).any():
        raise ValueError("a logit is not a number")
    # exp(-logaddexp(0, -x)) is the logistic function without overflow.
    return np.clip(np.exp(-np.logaddexp(0, -array)), _LEAST, _GREATEST)


def relevance_to_unit_interval(scores: ArrayLike) -> NDArray[np.float64]:
    """Map scores, which may be probabilities or logits, to (0, 1), and keep their order.

    One function for all numbers: were it decided by those that come together, scores of two batches would not compare.
    Inside of [0, 1] it is nearly the identity; all below shares the lowest hundredth, all above the highest one.

    Args:
        scores: Any shape, any finite numbers.

    Returns:
        float64, shape of scores: 0.01 + 0.98 x for x in [0, 1], 0.01 exp(x) below and 1 - 0.01 exp(1 - x) above. Never
        0 nor 1: where float64 ends (below -703, above 33), the nearest number inside, so that beyond it all are equal.

    Raises:
        ValueError: If one is not finite.
    """
    array = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("a score is not finite")
    inside = _TAIL + (1 - 2 * _TAIL) * np.clip(array, 0, 1)
    below, above = _TAIL * np.exp(np.minimum(array, 0)), 1 - _TAIL * np.exp(1 - np.maximum(array, 1))
    return np.clip(np.where(array < 0, below, np.where(array > 1, above, inside)), _LEAST, _GREATEST)


def confidence(sets: Sequence[Sequence[int]], answer: int) -> float:
    """Tell which share of all drawn answers means the same as one of them.

    Args:
        sets: What `semantic_sets` returned.
        answer: The index of an answer.

    Returns:
        The size of its set divided by that of all sets, in (0, 1].

    Raises:
        ValueError: If the answer is in no set.
    """
    for members in sets:
        if answer in members:
            return len(members) / sum(len(each) for each in sets)
    raise ValueError(f"answer {answer} is in no set")
