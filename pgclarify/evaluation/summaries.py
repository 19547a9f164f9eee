"""Metrics over all cases, and how much of them is chance of which cases there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.metrics import (
    accuracy,
    average_precision,
    bootstrap_interval,
    f1_of_labels,
    f1_of_means,
    mean,
)
from pgclarify.evaluated import Summary

Row = Mapping[str, float]
_Floats = NDArray[np.float64]
Statistic = Callable[[_Floats], _Floats]

# What summaries of detection are made of; their means say nothing.
_OF_DETECTION = frozenset({"label", "predicted", "probability"})


def _grounding(row: Row) -> list[float] | None:
    names = ("grounded_precision", "grounded_recall")
    return [row[name] for name in names] if all(name in row for name in names) else None


def _detection(row: Row) -> list[float] | None:
    """Label, prediction and probability. Whoever says nothing is wrong, by more than anybody who says something."""
    label = row.get("label")
    if label is None:
        return None
    return [label, row.get("predicted", 1 - label), row.get("probability", -1.0 if label else 2.0)]


def _each(statistic: Callable[[_Floats], float]) -> Statistic:
    def of_all(samples: _Floats) -> _Floats:
        return np.array([statistic(sample) for sample in samples])

    return of_all


# Metrics that no single case has: what makes a row of columns of a case, None if it lacks one, and what is made of all.
TOGETHER: Mapping[str, tuple[Callable[[Row], list[float] | None], Statistic]] = {
    "grounded_f1": (_grounding, f1_of_means),
    "accuracy": (_detection, _each(lambda rows: accuracy(rows[:, 0] > 0, rows[:, 1] > 0))),
    "f1": (_detection, _each(lambda rows: f1_of_labels(rows[:, 0] > 0, rows[:, 1] > 0))),
    "average_precision": (_detection, _each(lambda rows: average_precision(rows[:, 0] > 0, rows[:, 2]))),
}


def summarize(rows: Sequence[Row]) -> dict[str, Summary]:
    """Summarize cases: means, and what is no mean, with bootstrap 95 % intervals over cases.

    Args:
        rows: The metrics of each case, as `score` gives them.

    Returns:
        The mean of each metric over the cases that have it; grounded_f1, the harmonic mean of two means; of detection
        accuracy, f1 and average_precision. A single case has no interval.
    """
    names = [name for name in dict.fromkeys(chain.from_iterable(rows)) if name not in _OF_DETECTION]
    summaries = {name: _summary([row[name] for row in rows if name in row], mean) for name in names}
    for name, (columns, statistic) in TOGETHER.items():
        together = [values for values in map(columns, rows) if values is not None]
        if together:
            summaries[name] = _summary(together, statistic)
    return summaries


def _summary(rows: Sequence[float] | Sequence[Sequence[float]], statistic: Statistic) -> Summary:
    value = float(statistic(np.asarray([rows], dtype=np.float64))[0])
    low, high = bootstrap_interval(rows, statistic) if len(rows) > 1 else (None, None)
    return Summary(value, low, high, len(rows))
