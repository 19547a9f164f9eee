"""How well ambiguous questions are told from clear ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgclarify.errors import InputError

Labels = Sequence[bool] | NDArray[np.bool_]


def accuracy(labels: Labels, predicted: Labels) -> float:
    """Share of the questions that are called what they are, 0 to 1.

    Args:
        labels: What each is, shape (n,), n at least 1.
        predicted: What it is called, shape (n,).

    Raises:
        InputError: If there are none, or not as many of both.
    """
    truth, called = _arrays(labels, predicted)
    return float(np.mean(truth == called))


def f1_of_labels(labels: Labels, predicted: Labels) -> float:
    """F1 of the class True, 0 to 1; 0 if nothing is, or is called, True.

    Args:
        labels: What each question is, shape (n,), n at least 1.
        predicted: What it is called, shape (n,).

    Raises:
        InputError: If there are none, or not as many of both.

    Source: "Detect, then rewrite" (its primary result: F1 of the class "ambiguous").
    """
    truth, called = _arrays(labels, predicted)
    return 2 * int(np.sum(truth & called)) / max(1, int(np.sum(truth)) + int(np.sum(called)))


def average_precision(labels: Labels, scores: Sequence[float] | NDArray[np.float64]) -> float:
    """Mean of the precision at each threshold, weighted by what it adds to recall; 0 if nothing is True.

    Questions with equal scores are called True at the same threshold, so that their order makes no difference.

    Args:
        labels: What each question is, shape (n,), n at least 1.
        scores: The higher, the more it is called True; shape (n,), finite.

    Returns:
        0 to 1. Scores by chance give the share of True.

    Raises:
        InputError: If there are none, or not as many of both.

    Source: The step-wise area under the curve of precision and recall, as in scikit-learn's average_precision_score.
    """
    truth = np.asarray(labels, dtype=np.bool_)
    values = np.asarray(scores, dtype=np.float64)
    _check(truth, values)
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(truth[order])
    ranked = values[order]
    # The last of each run of equal scores.
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    gained = np.diff(hits[ends], prepend=0)
    return float(np.sum(gained * hits[ends] / (ends + 1)) / max(1, hits[-1]))


def _arrays(labels: Labels, predicted: Labels) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    truth, called = np.asarray(labels, dtype=np.bool_), np.asarray(predicted, dtype=np.bool_)
    _check(truth, called)
    return truth, called


def _check(truth: NDArray[np.bool_], other: NDArray[np.bool_] | NDArray[np.float64]) -> None:
    if truth.ndim != 1 or truth.shape != other.shape or not len(truth):
        raise InputError(
            "labels and predictions are not of the same questions",
            detail=f"Their shapes are {truth.shape} and {other.shape}.",
        )
