"""How well a list of answers fits the known ones: one-to-one, each known answer in any of its spellings.

Source: AmbigQA (Min et al., 2020), F1 of answers, as AmbigPrompt §4.3 uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.benchmark.ambignq import normalized

Matches = Callable[[str, str], bool]


@dataclass(frozen=True)
class Fit:
    """How well a list of answers fits.

    Attributes:
        f1: Harmonic mean of the other two, from 0 to 1.
        precision: Share of what was given that is known; 0 if nothing was given.
        recall: Share of what is known that was given.
    """

    f1: float
    precision: float
    recall: float


def is_same(answer: str, known: str) -> bool:
    """Exact match, after the normalization of SQuAD."""
    return normalized(answer) == normalized(known)


def covers(answer: str, known: str) -> bool:
    """Whether a known answer stands in an answer, word for word."""
    return f" {normalized(known)} " in f" {normalized(answer)} "


def answer_set_fit(
    predicted: Sequence[str], gold_sets: Sequence[Sequence[Sequence[str]]], matches: Matches = is_same
) -> Fit:
    """Compare a list of answers with the known ones.

    Args:
        predicted: What was given; what is the same after normalization counts once.
        gold_sets: The known answers as several people know them, at least one set of at least one answer, each a list
            of its spellings. The set counts that fits best.
        matches: Whether an answer is a known one.
    """
    distinct = list({normalized(answer): answer for answer in reversed(predicted)}.values())
    return max((_fit(distinct, golds, matches) for golds in gold_sets), key=lambda fit: fit.f1)


def _fit(predicted: Sequence[str], golds: Sequence[Sequence[str]], matches: Matches) -> Fit:
    fits = [[any(matches(answer, name) for name in names) for names in golds] for answer in predicted]
    hits = _matched(fits, len(golds))
    precision = hits / len(predicted) if predicted else 0.0
    recall = hits / len(golds)
    return Fit(2 * hits / (len(predicted) + len(golds)), precision, recall)


def _matched(fits: Sequence[Sequence[bool]], of: int) -> int:
    """Most pairs that can be made, each side once, by augmenting paths."""
    owner: list[int | None] = [None] * of

    def place(index: int, seen: set[int]) -> bool:
        for other, fit in enumerate(fits[index]):
            if not fit or other in seen:
                continue
            seen.add(other)
            before = owner[other]
            if before is None or place(before, seen):
                owner[other] = index
                return True
        return False

    return sum(place(index, set()) for index in range(len(fits)))
