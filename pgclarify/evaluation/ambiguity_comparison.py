"""Compares a trained version with another classifier of ambiguity, on questions that were held out of training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity import WEIGHTS, AmbiguityClassifier
from pgclarify.algorithms.metrics import (
    areas_under_roc,
    bootstrap_interval,
    calibration_errors,
    f1s_of_labels,
    paired_bootstrap,
    precisions_of_labels,
    recalls_of_labels,
)
from pgclarify.dialogue import TrainedVersion
from pgclarify.evaluation.ambiguity_training import Looked, judge, train

Figure: TypeAlias = tuple[float, float, float]
"""A value, and the ends of its 95 % interval."""

Judgements: TypeAlias = tuple[NDArray[np.float64], NDArray[np.bool_]]
"""The probability that each question is ambiguous, and whether it is called ambiguous: shape (n,) both."""

_Floats = NDArray[np.float64]
_SAMPLES: Final = 2_000

# Columns: label, whether it is called ambiguous, probability.
METRICS: Final[Mapping[str, Callable[[_Floats], _Floats]]] = {
    "f1": lambda rows: f1s_of_labels(rows[..., 0] > 0, rows[..., 1] > 0),
    "precision": lambda rows: precisions_of_labels(rows[..., 0] > 0, rows[..., 1] > 0),
    "recall": lambda rows: recalls_of_labels(rows[..., 0] > 0, rows[..., 1] > 0),
    "auc": lambda rows: areas_under_roc(rows[..., 0] > 0, rows[..., 2]),
    "calibration_error": lambda rows: calibration_errors(rows[..., 0] > 0, rows[..., 2]),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two classifiers on the same questions.

    Attributes:
        questions: How many there are.
        ambiguous: How many of them are labelled as ambiguous.
        before: Value of each of METRICS for the other classifier.
        trained: Value of each of METRICS for the trained version.
        difference: trained - before, by the paired bootstrap.
    """

    questions: int
    ambiguous: int
    before: Mapping[str, Figure]
    trained: Mapping[str, Figure]
    difference: Mapping[str, Figure]

    @property
    def is_better(self) -> bool:
        """Return whether the F1 of the trained version is higher: the whole interval of the difference is above 0."""
        return self.difference["f1"][1] > 0

    def as_json(self) -> dict[str, Any]:
        """Return the JSON that is stored."""
        return {
            "questions": self.questions,
            "ambiguous": self.ambiguous,
            **{
                name: {"before": self.before[name], "trained": self.trained[name], "difference": self.difference[name]}
                for name in METRICS
            },
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """A trained version, and its quality on the questions that were held out.

    Attributes:
        trained: The version.
        examples: How many questions it was trained on.
        shipped: The trained version compared with the shipped classifier.
        in_use: The trained version compared with the corpus's current version; None if the corpus uses the shipped
            classifier.
    """

    trained: TrainedVersion
    examples: int
    shipped: Comparison
    in_use: Comparison | None

    @property
    def is_to_be_used(self) -> bool:
        """Return whether it is better than the classifier that the corpus uses now."""
        return (self.in_use or self.shipped).is_better

    def as_json(self) -> dict[str, Any]:
        """Return the JSON that is stored beside the weights."""
        return {
            "shipped_version": self.trained.shipped_version,
            "examples": self.examples,
            "threshold": self.trained.threshold,
            "judges_questions": self.trained.judges_questions,
            "judges_conversations": self.trained.judges_conversations,
            "figures": self.shipped.as_json(),
            "is_better": self.shipped.is_better,
        }


def learn(looked: Looked, shipped: AmbiguityClassifier, in_use: TrainedVersion | None) -> Outcome:
    """Train a version, and compare it on the questions that are held out.

    Args:
        looked: From `look`.
        shipped: The shipped classifier.
        in_use: The version that judges the corpus's questions now; None if there is no such version.
    """
    trained = train(looked, shipped)
    # If the current version belongs to an earlier classifier, or is broken, workers use the shipped classifier.
    rival = in_use
    if in_use is not None and (in_use.shipped_version != shipped.version or len(in_use.weights) != WEIGHTS):
        rival = None
    return Outcome(
        trained=trained,
        examples=int((~looked.is_held).sum()),
        shipped=compare(looked, None, trained),
        in_use=None if rival is None else compare(looked, rival, trained),
    )


def compare(looked: Looked, before: TrainedVersion | None, trained: TrainedVersion) -> Comparison:
    """Compare two versions on the questions that are held out, each at its own threshold.

    Args:
        looked: From `look`; at least one question is held out.
        before: The earlier version; None for the shipped classifier.
        trained: The trained version.
    """
    held = looked.is_held
    first, second = (
        (probabilities[held], is_called[held])
        for probabilities, is_called in (judge(looked, before), judge(looked, trained))
    )
    return compare_judgements(looked.labels[held], first, second)


def compare_judgements(labels: NDArray[np.bool_], before: Judgements, trained: Judgements) -> Comparison:
    """Compare the judgements of two versions on the same questions.

    Args:
        labels: Whether each is ambiguous, shape (n,), n at least 1.
        before: The judgements of the earlier version.
        trained: The judgements of the trained version.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §13.3, over questions.
    """
    first, second = (
        np.column_stack([labels, is_called, probabilities]) for probabilities, is_called in (before, trained)
    )
    return Comparison(
        questions=len(labels),
        ambiguous=int(labels.sum()),
        before={name: _figure(first, statistic) for name, statistic in METRICS.items()},
        trained={name: _figure(second, statistic) for name, statistic in METRICS.items()},
        difference={name: _difference(first, second, statistic) for name, statistic in METRICS.items()},
    )


def _figure(rows: _Floats, statistic: Callable[[_Floats], _Floats]) -> Figure:
    return (float(statistic(rows[None])[0]), *bootstrap_interval(rows, statistic, samples=_SAMPLES))


def _difference(first: _Floats, second: _Floats, statistic: Callable[[_Floats], _Floats]) -> Figure:
    found = paired_bootstrap(first, second, statistic, samples=_SAMPLES)
    return found.difference, found.low, found.high
