"""How many answers are found at which cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pgclarify.algorithms.metrics.answers import covered_answers
from pgclarify.errors import InputError


def coverage_curve(
    found: Iterable[tuple[int, int, Sequence[str]]], golds: Sequence[Sequence[str]]
) -> list[tuple[int, int, float]]:
    """Compute how many known answers are covered after each call.

    Args:
        found: Steps in order: the calls and tokens so far, and the texts (answers or quotes) that the step added.
        golds: The known answers, at least one, each in all its spellings.

    Returns:
        For each step the calls and tokens so far, and the share of the known answers that one of the texts so far
        contains, 0 to 1; it never decreases.

    Raises:
        InputError: If there are no known answers.

    Source: VERDICT, §5.2 (inference cost), as a curve: `answer_coverage` after each step.
    """
    if not golds:
        raise InputError("no known answers to cover")
    covered = [False] * len(golds)
    curve = []
    for calls, tokens, texts in found:
        covered = [before or now for before, now in zip(covered, covered_answers(golds, texts), strict=True)]
        curve.append((calls, tokens, sum(covered) / len(golds)))
    return curve
