"""Metrics over all cases, with the uncertainty from the choice of cases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.metrics import (
    accuracies,
    average_precisions,
    bootstrap_interval,
    bootstrap_means,
    f1_of_means,
    f1s_of_labels,
    ratio_of_sums,
)
from pgclarify.evaluated import Summary

Row = Mapping[str, float]
_Floats = NDArray[np.float64]
Statistic = Callable[[_Floats], _Floats]

# Inputs of the summaries of detection. Their own means say nothing.
_OF_DETECTION = frozenset({"label", "predicted", "probability"})


def _grounding(row: Row) -> list[float] | None:
    names = ("grounded_precision", "grounded_recall")
    return [row[name] for name in names] if all(name in row for name in names) else None


def _correctness(row: Row) -> list[float] | None:
    """Return the number of relevant, answerable and right readings, and of relevant and answerable ones."""
    if not row.get("relevant_answerable"):
        return None
    return [row["interpretations"] * row[name] for name in ("relevant_answerable_right", "relevant_answerable")]


def _detection(row: Row) -> list[float] | None:
    """Return label, prediction and probability. A missing prediction counts as wrong, and ranks last."""
    label = row.get("label")
    if label is None:
        return None
    return [label, row.get("predicted", 1 - label), row.get("probability", -1.0 if label else 2.0)]


# Metrics that single cases do not have: a function that returns the inputs of a case (None if it lacks one), and the
# statistic over all cases.
TOGETHER: Mapping[str, tuple[Callable[[Row], list[float] | None], Statistic]] = {
    "grounded_f1": (_grounding, f1_of_means),
    "answer_correctness": (_correctness, ratio_of_sums),
    "accuracy": (_detection, lambda samples: accuracies(samples[..., 0] > 0, samples[..., 1] > 0)),
    "f1": (_detection, lambda samples: f1s_of_labels(samples[..., 0] > 0, samples[..., 1] > 0)),
    "average_precision": (_detection, lambda samples: average_precisions(samples[..., 0] > 0, samples[..., 2])),
}


def summarize(rows: Sequence[Row]) -> dict[str, Summary]:
    """Summarize cases: means and other statistics, with bootstrap 95 % intervals over cases.

    Args:
        rows: The metrics of each case, as `score` gives them.

    Returns:
        The mean of each metric over the cases that have it; grounded_f1, the harmonic mean of two means;
        answer_correctness, over all relevant and answerable readings; for detection accuracy, f1 and average_precision.
        A single case has no interval.
    """
    return _in_order(rows, chain.from_iterable(_parts(rows)))


async def summarize_in_parts(rows: Sequence[Row]) -> dict[str, Summary]:
    """Summarize as `summarize`, without blocking the event loop, so that it can be cancelled midway.

    Args:
        rows: The metrics of each case, as `score` gives them.
    """
    parts = _parts(rows)
    found: list[tuple[str, Summary]] = []
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        found += part
    return _in_order(rows, found)


def _in_order(rows: Sequence[Row], found: Iterable[tuple[str, Summary]]) -> dict[str, Summary]:
    summaries = dict(found)
    return {
        name: summaries[name] for name in (*dict.fromkeys(chain.from_iterable(rows)), *TOGETHER) if name in summaries
    }


def _parts(rows: Sequence[Row]) -> Iterator[list[tuple[str, Summary]]]:
    """Yield summaries in parts of a few seconds: all means over the same cases at once, then other statistics."""
    names = [name for name in dict.fromkeys(chain.from_iterable(rows)) if name not in _OF_DETECTION]
    alike: dict[bytes, list[str]] = {}
    for name in names:
        alike.setdefault(bytes(name in row for row in rows), []).append(name)
    for group in alike.values():
        values = np.array([[row[name] for name in group] for row in rows if group[0] in row], dtype=np.float64)
        yield list(zip(group, _means(values), strict=True))
    for name, (columns, statistic) in TOGETHER.items():
        together = [values for values in map(columns, rows) if values is not None]
        if together:
            yield [(name, _summary(together, statistic))]


def _means(values: _Floats) -> list[Summary]:
    ends = bootstrap_means(values) if len(values) > 1 else [(None, None)] * values.shape[1]
    averages = values.mean(axis=0)
    return [Summary(float(value), low, high, len(values)) for value, (low, high) in zip(averages, ends, strict=True)]


def _summary(rows: Sequence[Sequence[float]], statistic: Statistic) -> Summary:
    value = float(statistic(np.asarray([rows], dtype=np.float64))[0])
    low, high = bootstrap_interval(rows, statistic) if len(rows) > 1 else (None, None)
    return Summary(value, low, high, len(rows))
