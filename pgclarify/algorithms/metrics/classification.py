"""How well a classifier separates ambiguous questions from clear ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgclarify.errors import InputError

Labels = Sequence[bool] | NDArray[np.bool_]
_Bools = NDArray[np.bool_]
_Floats = NDArray[np.float64]
_BINS = 10


def accuracy(labels: Labels, predicted: Labels) -> float:
    """Share of the questions with the right label, 0 to 1.

    Args:
        labels: The true labels, shape (n,), n at least 1.
        predicted: The predicted labels, shape (n,).

    Raises:
        InputError: If there are no questions, or the shapes differ.
    """
    truth, called = _arrays(labels, predicted)
    return float(accuracies(truth, called))


def f1_of_labels(labels: Labels, predicted: Labels) -> float:
    """F1 of the class True, 0 to 1; 0 if no label or no prediction is True.

    Args:
        labels: The true labels, shape (n,), n at least 1.
        predicted: The predicted labels, shape (n,).

    Raises:
        InputError: If there are no questions, or the shapes differ.

    Source: "Detect, then rewrite" (its primary result is an F1; the summary does not say of which class).
    """
    truth, called = _arrays(labels, predicted)
    return float(f1s_of_labels(truth, called))


def average_precision(labels: Labels, scores: Sequence[float] | NDArray[np.float64]) -> float:
    """Mean of the precision at each threshold, weighted by the increase in recall; 0 if no label is True.

    Questions with equal scores share a threshold, so that their order makes no difference.

    Args:
        labels: The true labels, shape (n,), n at least 1.
        scores: A higher score means more likely True; shape (n,), finite.

    Returns:
        0 to 1. Random scores give the share of True.

    Raises:
        InputError: If there are no questions, or the shapes differ.

    Source: The step-wise area under the curve of precision and recall, as in scikit-learn's average_precision_score.
    """
    truth = np.asarray(labels, dtype=np.bool_)
    values = np.asarray(scores, dtype=np.float64)
    _check(truth, values)
    return float(average_precisions(truth, values))


def accuracies(labels: _Bools, predicted: _Bools) -> _Floats:
    """`accuracy` of each of many samples: both of shape (..., n), n at least 1; returns shape (...)."""
    shares: _Floats = np.mean(labels == predicted, axis=-1)
    return shares


def f1s_of_labels(labels: _Bools, predicted: _Bools) -> _Floats:
    """`f1_of_labels` of each of many samples: both of shape (..., n), n at least 1; returns shape (...)."""
    hits = np.sum(labels & predicted, axis=-1)
    called: _Floats = 2 * hits / np.maximum(1, np.sum(labels, axis=-1) + np.sum(predicted, axis=-1))
    return called


def average_precisions(labels: _Bools, scores: _Floats) -> _Floats:
    """`average_precision` of each of many samples: both of shape (..., n), n at least 1; returns shape (...)."""
    order = np.argsort(-scores, axis=-1)
    ranked = np.take_along_axis(scores, order, axis=-1)
    hits = np.cumsum(np.take_along_axis(labels, order, axis=-1), axis=-1)
    # Only the last of several equal scores is a threshold.
    is_threshold = np.ones(ranked.shape, dtype=np.bool_)
    is_threshold[..., :-1] = ranked[..., 1:] != ranked[..., :-1]
    reached = np.maximum.accumulate(np.where(is_threshold, hits, 0), axis=-1)
    gained = np.diff(reached, axis=-1, prepend=0)
    ranks = np.arange(1, ranked.shape[-1] + 1)
    precisions: _Floats = np.sum(gained * hits / ranks, axis=-1) / np.maximum(1, hits[..., -1])
    return precisions


def precisions_of_labels(labels: _Bools, predicted: _Bools) -> _Floats:
    """Share of what is called True that is, of each of many samples; 0 if nothing is: shapes as for `accuracies`."""
    shares: _Floats = np.sum(labels & predicted, axis=-1) / np.maximum(1, np.sum(predicted, axis=-1))
    return shares


def recalls_of_labels(labels: _Bools, predicted: _Bools) -> _Floats:
    """Share of what is True that is called so, of each of many samples; 0 if nothing is: shapes as for `accuracies`."""
    shares: _Floats = np.sum(labels & predicted, axis=-1) / np.maximum(1, np.sum(labels, axis=-1))
    return shares


def areas_under_roc(labels: _Bools, scores: _Floats) -> _Floats:
    """How often a True question has a higher score than one that is not, of each of many samples; equal ones half.

    Args:
        labels: What each question is, shape (..., n), n at least 1.
        scores: The higher, the more it is called True; shape (..., n).

    Returns:
        0 to 1, shape (...); one half by chance. 0 for a sample in which all questions are of one class.

    Source: The area under the curve of true over false positives, by trapezoids, as scikit-learn's roc_auc_score.
    """
    order = np.argsort(-scores, axis=-1)
    ranked = np.take_along_axis(scores, order, axis=-1)
    is_true = np.take_along_axis(labels, order, axis=-1)
    hits, alarms = np.cumsum(is_true, axis=-1), np.cumsum(~is_true, axis=-1)
    # Only the last of each run of equal scores is a threshold.
    is_threshold = np.ones(ranked.shape, dtype=np.bool_)
    is_threshold[..., :-1] = ranked[..., 1:] != ranked[..., :-1]
    reached = np.maximum.accumulate(np.where(is_threshold, hits, 0), axis=-1)
    spent = np.maximum.accumulate(np.where(is_threshold, alarms, 0), axis=-1)
    heights = reached - np.diff(reached, axis=-1, prepend=0) / 2
    pairs = np.maximum(1, hits[..., -1] * alarms[..., -1])
    areas: _Floats = np.sum(heights * np.diff(spent, axis=-1, prepend=0), axis=-1) / pairs
    return areas


def calibration_errors(labels: _Bools, probabilities: _Floats) -> _Floats:
    """How far probabilities are from shares, in ten bins of equal width, of each of many samples.

    Args:
        labels: What each question is, shape (..., n), n at least 1.
        probabilities: Of its being True, shape (..., n), in [0, 1].

    Returns:
        0 to 1, shape (...): the expected calibration error.

    Source: Guo et al., On calibration of modern neural networks (ICML 2017), equation 3.
    """
    bins = np.minimum(probabilities * _BINS, _BINS - 1).astype(np.intp)
    gaps = labels - probabilities
    total: _Floats = sum(np.abs(np.sum(gaps * (bins == one), axis=-1)) for one in range(_BINS)) / labels.shape[-1]
    return total


def _arrays(labels: Labels, predicted: Labels) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    truth, called = np.asarray(labels, dtype=np.bool_), np.asarray(predicted, dtype=np.bool_)
    _check(truth, called)
    return truth, called


def _check(truth: NDArray[np.bool_], other: NDArray[np.bool_] | NDArray[np.float64]) -> None:
    if truth.ndim != 1 or truth.shape != other.shape or not len(truth):
        raise InputError(
            "labels and predictions are for different questions",
            detail=f"Their shapes are {truth.shape} and {other.shape}.",
        )
