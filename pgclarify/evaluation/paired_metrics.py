"""Compares the metrics of two evaluations over their common cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.metrics import mean, paired_bootstrap
from pgclarify.evaluation.metric_names import LOWER_IS_BETTER, METRICS, NEITHER_IS_BETTER
from pgclarify.evaluation.summaries import TOGETHER, Row, Statistic

_LEVEL = 0.05
# Enough for good percentiles (Efron and Tibshirani, §14.4); thousands of cases need only seconds.
_SAMPLES = 2_000
# The values of a case on the first side and on the second.
ValuePair = tuple[Mapping[str, float], Mapping[str, float]]

_Floats = NDArray[np.float64]
_LABEL = "label"


class Direction(StrEnum):
    """The meaning of a difference."""

    BETTER = "better"
    WORSE = "worse"
    MORE = "more"
    LESS = "less"
    MAY_BE_CHANCE = "may be chance"


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """A metric on both sides, over the cases with values on both.

    Attributes:
        metric: Its name.
        cases: Number of cases.
        first: Its value on the first side.
        second: Its value on the second side.
        difference: second - first.
        low: Lower end of the paired bootstrap 95 % interval of the difference.
        high: Upper end.
        p_value: How often a difference of this size in either direction occurs by chance; two-sided.
        wins: Number of cases with a better second side, or with a higher value for metrics without a better direction;
            None for a metric that single cases do not have.
        losses: Number of cases with a worse second side, or with a lower value.
        ties: Number of cases with equal values.
    """

    metric: str
    cases: int
    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None

    @property
    def gain(self) -> float:
        """Return the difference, with its sign changed if lower is better: negative if the second side is worse."""
        return -self.difference if self.metric in LOWER_IS_BETTER else self.difference

    @property
    def is_equal(self) -> bool:
        """Return whether every case has the same value on both sides."""
        return self.difference == 0 and not self.wins and not self.losses and self.low == self.high == 0

    @property
    def is_beyond_chance(self) -> bool:
        """Return whether 0 is outside the interval and p < 0.05. With few cases, the interval alone is too narrow."""
        return (self.low > 0 or self.high < 0) and self.p_value < _LEVEL

    @property
    def verdict(self) -> Direction:
        """Return the meaning of the difference."""
        if not self.is_beyond_chance:
            return Direction.MAY_BE_CHANCE
        if self.metric in NEITHER_IS_BETTER:
            return Direction.MORE if self.difference > 0 else Direction.LESS
        return Direction.BETTER if self.gain > 0 else Direction.WORSE


def compare_metrics(pairs: Sequence[ValuePair]) -> Iterable[MetricComparison]:
    """Compare all metrics that both sides have: those of single cases, and those of all cases together.

    The bootstrap samples pairs, so that the difficulty of a case, which affects both sides, adds no noise.

    Args:
        pairs: The values of each case on the first side and on the second, by metric; at least one pair.

    Returns:
        Each metric over the cases with values on both sides, in display order.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §13.3; see `paired_bootstrap`.
    """
    there = {name for first, second in pairs for name in first if name in second}
    together = {name: compared for name in TOGETHER if (compared := _together(name, pairs))}
    names = [name for name in METRICS if name in there or name in together]
    names += sorted(there - set(METRICS) - {_LABEL})
    for name in names:
        yield together.get(name) or _of_cases(name, pairs)


def compare_metric(name: str, pairs: Sequence[ValuePair]) -> MetricComparison | None:
    """Compare one metric as in compare_metrics; None if no case has it on both sides."""
    if name in TOGETHER:
        return _together(name, pairs)
    return _of_cases(name, pairs) if any(name in first and name in second for first, second in pairs) else None


def has_metric(name: str, row: Row) -> bool:
    """Return whether a case has a metric, or the values that a metric of all cases together needs."""
    return TOGETHER[name][0](row) is not None if name in TOGETHER else name in row


def metric_of(name: str, rows: Sequence[Row]) -> float:
    """Return a metric of cases that all have it: its mean, or the metric of all cases together.

    Args:
        name: The name of the metric.
        rows: The values of each case, by metric; at least one case.
    """
    if name not in TOGETHER:
        return fmean(row[name] for row in rows)
    columns, statistic = TOGETHER[name]
    return float(statistic(np.array([[columns(row) for row in rows]], dtype=np.float64))[0])


def _of_cases(name: str, pairs: Sequence[ValuePair]) -> MetricComparison:
    whole = [(first[name], second[name]) for first, second in pairs if name in first and name in second]
    one, other = np.array(whole, dtype=np.float64).T
    more, less = int(np.sum(other > one)), int(np.sum(other < one))
    wins, losses = (less, more) if name in LOWER_IS_BETTER else (more, less)
    return replace(_compared(name, one, other, mean), wins=wins, losses=losses, ties=len(whole) - more - less)


def _together(name: str, pairs: Sequence[ValuePair]) -> MetricComparison | None:
    """Compare a metric that single cases do not have; None if no case has its inputs on both sides."""
    columns, statistic = TOGETHER[name]
    whole = [(first, second) for pair in pairs if (first := columns(pair[0])) and (second := columns(pair[1]))]
    if not whole:
        return None
    one, other = (np.array([pair[side] for pair in whole], dtype=np.float64) for side in (0, 1))
    return _compared(name, one, other, statistic)


def _compared(name: str, one: _Floats, other: _Floats, statistic: Statistic) -> MetricComparison:
    if np.array_equal(one, other):
        value = float(statistic(one[None])[0])
        # All values are equal, so the bootstrap is not needed.
        return MetricComparison(name, len(one), value, value, 0.0, 0.0, 0.0, 1.0)
    first, second = (float(statistic(side[None])[0]) for side in (one, other))
    drawn = paired_bootstrap(one, other, statistic, samples=_SAMPLES)
    return MetricComparison(name, len(one), first, second, drawn.difference, drawn.low, drawn.high, drawn.p)
