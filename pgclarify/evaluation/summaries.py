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

# What summaries of detection are made of; their means say nothing.
_OF_DETECTION = frozenset({"label", "predicted", "probability"})


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
    grounded = [
        [row["grounded_precision"], row["grounded_recall"]]
        for row in rows
        if "grounded_precision" in row and "grounded_recall" in row
    ]
    if grounded:
        summaries["grounded_f1"] = _summary(grounded, f1_of_means)
    detected = [_detection(row) for row in rows if "label" in row]
    if detected:
        summaries["accuracy"] = _summary(detected, _each(lambda rows: accuracy(rows[:, 0] > 0, rows[:, 1] > 0)))
        summaries["f1"] = _summary(detected, _each(lambda rows: f1_of_labels(rows[:, 0] > 0, rows[:, 1] > 0)))
        summaries["average_precision"] = _summary(
            detected, _each(lambda rows: average_precision(rows[:, 0] > 0, rows[:, 2]))
        )
    return summaries


def _detection(row: Row) -> list[float]:
    """Label, prediction and probability. Whoever says nothing is wrong, by more than anybody who says something."""
    label = row["label"]
    return [label, row.get("predicted", 1 - label), row.get("probability", -1.0 if label else 2.0)]


def _each(statistic: Callable[[_Floats], float]) -> Callable[[_Floats], _Floats]:
    def of_all(samples: _Floats) -> _Floats:
        return np.array([statistic(sample) for sample in samples])

    return of_all


def _summary(rows: Sequence[float] | Sequence[Sequence[float]], statistic: Callable[[_Floats], _Floats]) -> Summary:
    value = float(statistic(np.asarray([rows], dtype=np.float64))[0])
    low, high = bootstrap_interval(rows, statistic) if len(rows) > 1 else (None, None)
    return Summary(value, low, high, len(rows))
