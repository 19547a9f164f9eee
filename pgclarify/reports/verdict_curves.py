"""The coverage of verdicts after so many calls or tokens, before they were consolidated into readings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pgclarify.algorithms.metrics import coverage_curve

_MOST_STEPS = 60
# Points of cost and coverage, from zero; coverage never decreases.
Curve: TypeAlias = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class VerdictCurves:
    """The mean share of known answers that is covered, over all cases with known answers.

    Attributes:
        calls: Against calls per question; empty if there were no calls.
        tokens: Against tokens per question, input and output; empty if there were none.
    """

    calls: Curve
    tokens: Curve


def verdict_curves(cases: Iterable[tuple[Mapping[str, Any], Sequence[Any]]]) -> VerdictCurves | None:
    """Compute the coverage of verdicts over their cost.

    A case that found nothing, or failed, counts as not covered at any cost. If several people know answers, the
    best-covered person counts at each step, as in answer_coverage.

    Args:
        cases: For each case the known answers, as in column eval_case.gold; and the calls and tokens so far with the
            answer of each verdict, as in note answers_by_call.

    Returns:
        None if no case has known answers.
    """
    calls, tokens = [], []
    for gold, steps in cases:
        people = _known_to_people(gold)
        if not people:
            continue
        given = [(used, read, [answer] if answer else []) for used, read, answer in steps]
        covered = [max(shares) for shares in zip(*(_shares(given, golds) for golds in people), strict=True)]
        calls.append([(float(used), share) for (used, _, _), share in zip(given, covered, strict=True)])
        tokens.append([(float(read), share) for (_, read, _), share in zip(given, covered, strict=True)])
    return VerdictCurves(_mean(calls), _mean(tokens)) if calls else None


def _known_to_people(gold: Mapping[str, Any]) -> list[list[Sequence[str]]]:
    """The answers that people know, a list for each person, as metric answer_coverage needs them."""
    of_readings = [one.get("answers", ()) for one in gold.get("interpretations", ())]
    people = [of_readings] if any(of_readings) else gold.get("answer_sets", ())
    known = [[names for names in golds if names] for golds in people]
    return [golds for golds in known if golds]


def _shares(given: Sequence[tuple[int, int, Sequence[str]]], golds: Sequence[Sequence[str]]) -> list[float]:
    return [share for _, _, share in coverage_curve(given, golds)]


def _mean(curves: Sequence[Curve]) -> Curve:
    ends = sorted({x for curve in curves for x, _ in curve})
    if not ends or not ends[-1]:
        return ()
    places = range(len(ends)) if len(ends) <= _MOST_STEPS else np.linspace(0, len(ends) - 1, _MOST_STEPS).round()
    steps = [ends[int(place)] for place in places]
    return [(x, float(np.mean([_at(curve, x) for curve in curves]))) for x in (0.0, *steps)]


def _at(curve: Curve, x: float) -> float:
    place = bisect_right(curve, x, key=lambda point: point[0])
    return curve[place - 1][1] if place else 0.0
