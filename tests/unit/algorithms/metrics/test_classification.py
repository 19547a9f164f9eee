"""Metrics of the classification of ambiguous and clear questions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from pgclarify.algorithms.metrics import (
    accuracies,
    accuracy,
    areas_under_roc,
    average_precision,
    average_precisions,
    calibration_errors,
    f1_of_labels,
    f1s_of_labels,
    precisions_of_labels,
    recalls_of_labels,
)
from pgclarify.errors import InputError

LABELS = [True, False, True, False]
scored = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=1, max_size=12)


def test_by_hand() -> None:
    assert accuracy(LABELS, [True, True, False, False]) == 0.5
    assert f1_of_labels(LABELS, [True, True, False, False]) == 0.5
    assert f1_of_labels(LABELS, [True, False, False, False]) == pytest.approx(2 / 3)
    # The first and the third are ambiguous: 1/2 · 1 + 1/2 · 2/3.
    assert average_precision(LABELS, [0.9, 0.8, 0.7, 0.1]) == pytest.approx(5 / 6)


def test_order_among_equals_makes_no_difference() -> None:
    assert average_precision(LABELS, [0.5] * 4) == average_precision(LABELS[::-1], [0.5] * 4) == 0.5


def test_nothing_ambiguous() -> None:
    assert f1_of_labels([False], [False]) == 0
    assert average_precision([False], [0.3]) == 0


@pytest.mark.parametrize("measure", [accuracy, f1_of_labels, average_precision])
@pytest.mark.parametrize("predicted", [[], [True], [True] * 5])
def test_of_the_same_questions(measure: Callable[..., float], predicted: list[bool]) -> None:
    with pytest.raises(InputError):
        measure(LABELS, predicted)
    with pytest.raises(InputError):
        measure([], [])


@pytest.mark.slow
@given(scored)
def test_as_scikit_learn_has_it(pairs: list[tuple[bool, float]]) -> None:
    labels, scores = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    called = [score >= 0.5 for score in scores]
    assert f1_of_labels(labels, called) == pytest.approx(f1_score(labels, called, zero_division=0))
    if any(labels):
        assert average_precision(labels, scores) == pytest.approx(average_precision_score(labels, scores))
    assert average_precision(labels[::-1], scores[::-1]) == pytest.approx(average_precision(labels, scores))


def test_many_samples_at_once_are_each_by_itself() -> None:
    chance = np.random.default_rng(1)
    labels, scores = chance.random((50, 9)) < 0.4, chance.integers(4, size=(50, 9)) / 4
    called = scores > 0.5
    assert list(accuracies(labels, called)) == [accuracy(*one) for one in zip(labels, called, strict=True)]
    assert list(f1s_of_labels(labels, called)) == [f1_of_labels(*one) for one in zip(labels, called, strict=True)]
    each = [average_precision(*one) for one in zip(labels, scores, strict=True)]
    assert list(average_precisions(labels, scores)) == pytest.approx(each)
    assert each == pytest.approx([average_precision_score(*one) for one in zip(labels, scores, strict=True)])


def test_precision_recall_and_area_are_those_of_scikit_learn() -> None:
    chance = np.random.default_rng(2)
    labels, scores = chance.random((50, 20)) < 0.4, chance.integers(5, size=(50, 20)) / 4
    labels[:, :2] = [True, False]
    called = scores > 0.5
    each = list(zip(labels, called, strict=True))
    assert list(precisions_of_labels(labels, called)) == pytest.approx([precision_score(*one) for one in each])
    assert list(recalls_of_labels(labels, called)) == pytest.approx([recall_score(*one) for one in each])
    areas = [roc_auc_score(*one) for one in zip(labels, scores, strict=True)]
    assert list(areas_under_roc(labels, scores)) == pytest.approx(areas)


def test_where_nothing_is_or_is_called_true_figures_are_zero() -> None:
    nothing = np.zeros((1, 3), dtype=np.bool_)
    assert precisions_of_labels(~nothing, nothing) == recalls_of_labels(nothing, ~nothing) == 0
    assert areas_under_roc(nothing, np.array([[0.1, 0.2, 0.3]])) == 0


def test_calibration_error_is_the_gap_between_probabilities_and_shares() -> None:
    labels = np.array([[True, False, False, False, True], [True, True, True, True, True]])
    probabilities = np.array([[0.25, 0.25, 0.25, 0.25, 1.0], [0.9, 0.9, 0.0, 1.0, 1.0]])

    assert list(calibration_errors(labels, probabilities)) == pytest.approx([0.0, 1.2 / 5])


@given(st.lists(st.booleans(), min_size=1).filter(any))
def test_perfect(labels: list[bool]) -> None:
    assert accuracy(labels, labels) == f1_of_labels(labels, labels) == 1
    assert average_precision(labels, [float(label) for label in labels]) == 1
