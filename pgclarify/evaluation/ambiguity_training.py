"""Training of the ambiguity classifier: learns a correction to the shipped classifier from a labelled log.

Source: Detect, then rewrite (summary): a classifier that is trained on the questions of one's own users, with a
    sentence embedding and features of the wording. Training from the shipped classifier is ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity import WEIGHTS, AmbiguityClassifier, Seen
from pgclarify.dialogue import TrainedVersion
from pgclarify.errors import ConfigurationError, InputError
from pgclarify.evaluation.data_sets import rank_of
from pgclarify.evaluation.labelled_log import LabelledQuestion
from pgclarify.protocols import Embedder

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LEAST_OF_EACH: Final = 50
"""Least number of ambiguous questions, and of clear ones, of a kind that can be trained on and compared."""

_LEAST_HELD: Final = 5
# The hash of a question puts it into one of ten parts. Some parts are held out; the others form the folds.
_PARTS: Final = 10
_HELD: Final = 3
_FOLDS: Final = 5
_AT_ONCE: Final = 256
# As in training/train_ambiguity_classifier.py, where features were scaled against pieces of text.
_FEATURE_SCALE: Final = 0.2
_GRAM_SCALE: Final = 4.0
# How far weights may move from those of the shipped classifier. Cross-validation chooses one of these values.
_STRENGTHS: Final = (0.003, 0.03, 0.3, 3.0)
_ROUNDS: Final = 300
# Training ends when a round lowers the loss by a smaller share than this.
_PRECISION: Final = 1e-7
# A correction begins with two biases and two factors.
_HEAD: Final = 4

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Looked:
    """Labelled questions as inputs of training.

    Attributes:
        labels: Whether each is ambiguous, shape (n,).
        is_held: Whether it is held out for comparing. Only the question decides, so the same question is never on both
            sides, nor on another side in a later log. Shape (n,).
        folds: The fold of each in cross-validation, from 0, shape (n,).
        seen: The inputs of the shipped classifier for each.
    """

    labels: NDArray[np.bool_]
    is_held: NDArray[np.bool_]
    folds: NDArray[np.intp]
    seen: Seen


def trainable(questions: Sequence[LabelledQuestion]) -> list[LabelledQuestion]:
    """Choose the kinds of questions, with or without history, that have enough questions for training.

    Raises:
        InputError: If neither kind has enough.
        ConfigurationError: If SciPy, or threadpoolctl, is not installed.
    """
    try:
        # Only checks that both are installed. scikit-learn depends on them.
        import scipy  # noqa: F401
        import threadpoolctl  # noqa: F401
    except ImportError:
        raise ConfigurationError(
            "training needs SciPy, which is not installed", hint="Run: pip install 'pgclarify[eval]'"
        ) from None
    counts = Counter((_is_within(one), one.is_ambiguous) for one in questions)
    kinds = {kind for kind in (False, True) if min(counts[kind, False], counts[kind, True]) >= LEAST_OF_EACH}
    chosen = [one for one in questions if _is_within(one) in kinds]
    held = Counter(one.is_ambiguous for one in chosen if _is_held(one))
    if not kinds or min(held[False], held[True]) < _LEAST_HELD:
        raise InputError(
            "there are too few labelled questions to train on",
            detail=f"Without history {counts[False, True]} different ones are ambiguous and {counts[False, False]} are "
            f"clear; with history {counts[True, True]} and {counts[True, False]}.",
            hint=f"Label more: at least {LEAST_OF_EACH} ambiguous and {LEAST_OF_EACH} clear ones, without history or "
            "with it. Some hundred of each are better.",
        )
    return chosen


def _is_within(question: LabelledQuestion) -> bool:
    return any(turn.strip() for turn in question.history)


def _is_held(question: LabelledQuestion) -> bool:
    return rank_of(question.question) % _PARTS < _HELD


async def look(
    classifier: AmbiguityClassifier,
    embedder: Embedder,
    questions: Sequence[LabelledQuestion],
    *,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Looked:
    """Embed questions and compute their features, some hundred at a time.

    Args:
        classifier: The shipped classifier.
        embedder: The model of its vectors.
        questions: From `trainable`.
        on_progress: Called with the number of finished questions.

    Raises:
        EmbeddingError: If a question could not be embedded.
    """
    parts: list[Seen] = []
    for start in range(0, len(questions), _AT_ONCE):
        asked = [(one.question, one.history) for one in questions[start : start + _AT_ONCE]]
        vectors = await embedder.encode([text for one in asked for text in classifier.inputs(*one)])
        parts.append(classifier.see(asked, vectors))
        on_progress(start + len(asked))
    return Looked(
        labels=np.array([one.is_ambiguous for one in questions]),
        is_held=np.array([_is_held(one) for one in questions]),
        folds=np.array([rank_of(one.question) // _PARTS % _FOLDS for one in questions], dtype=np.intp),
        seen=Seen(
            is_within=np.concatenate([part.is_within for part in parts]),
            odds=np.concatenate([part.odds for part in parts]),
            features=np.concatenate([part.features for part in parts]),
            vectors=np.concatenate([part.vectors for part in parts]),
            places=[places for part in parts for places in part.places],
        ),
    )


def train(looked: Looked, shipped: AmbiguityClassifier) -> TrainedVersion:
    """Train on the questions that are not held out. On one machine, the same questions give the same version.

    A logistic regression adds a linear model of features, vector and pieces of text to the log odds of the shipped
    classifier. Its weights are regularized towards weights that change nothing. Five-fold cross-validation chooses the
    strength. The judgements of cross-validation calibrate the version, and set the threshold with the best expected F1.

    Args:
        looked: From `look`.
        shipped: The classifier that ships.
    """
    design = _Design.of(looked.seen)
    is_trained = ~looked.is_held
    unseen = {
        strength: _cross_validate(design, looked.labels, looked.folds, is_trained, strength) for strength in _STRENGTHS
    }
    strength = min(unseen, key=lambda one: _loss(unseen[one][is_trained], looked.labels[is_trained]))
    line = _Design.line(unseen[strength])
    # Regularized a little: if the classes are perfectly separable, the slope would grow without limit.
    intercept, slope = line.fit(looked.labels, is_trained, strength=1.0)
    weights = slope * design.unscaled(design.fit(looked.labels, is_trained, strength=strength))
    weights[:2] += intercept
    is_within = looked.seen.is_within[is_trained]
    return TrainedVersion(
        version=0,
        shipped_version=shipped.version,
        threshold=_threshold(_probabilities(slope * unseen[strength] + intercept)[is_trained]),
        judges_questions=not is_within.all(),
        judges_conversations=bool(is_within.any()),
        weights=weights.astype(np.float32).tolist(),
    )


def judge(looked: Looked, by: TrainedVersion | None) -> tuple[Floats, NDArray[np.bool_]]:
    """Judge questions, each at the threshold of its judge.

    Args:
        looked: From `look`.
        by: A version that corrects the shipped classifier; None for the shipped classifier itself.

    Returns:
        The probability that each is ambiguous, float64, and whether it is called ambiguous, both of shape (n,).
    """
    odds, threshold = looked.seen.odds, np.full(len(looked.labels), AmbiguityClassifier.threshold)
    if by is not None:
        design = _Design.of(looked.seen)
        is_judged = np.where(looked.seen.is_within, by.judges_conversations, by.judges_questions)
        odds = np.where(is_judged, design.odds(np.asarray(by.weights) / design.scales), odds)
        threshold = np.where(is_judged, by.threshold, threshold)
    found = _probabilities(odds)
    return found, found >= threshold


def _probabilities(odds: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return found


def _loss(odds: Floats, labels: NDArray[np.bool_]) -> float:
    return float(np.mean(np.logaddexp(0, np.where(labels, -odds, odds))))


def _threshold(probabilities: Floats) -> float:
    """Return the threshold of the probability that has the best expected F1."""
    falling = np.sort(probabilities)[::-1]
    expected = 2 * np.cumsum(falling) / (np.arange(1, len(falling) + 1) + falling.sum())
    best = int(np.argmax(expected))
    # Halfway to the next probability, because later questions may lie between the two.
    return float(falling[best : best + 2].mean())


def _cross_validate(
    design: _Design, labels: NDArray[np.bool_], folds: NDArray[np.intp], is_trained: NDArray[np.bool_], strength: float
) -> Floats:
    """Return the log odds of each question, by weights that were trained without its fold and without held-out ones."""
    odds = np.zeros(len(labels))
    for fold in range(_FOLDS):
        is_out = folds == fold
        odds[is_out] = design.odds(design.fit(labels, is_trained & ~is_out, strength=strength))[is_out]
    return odds


@dataclass(frozen=True, slots=True)
class _Design:
    """The scaled inputs of the regression: columns in the order of a correction, with pieces of text stored apart.

    Attributes:
        dense: Shape (n, columns without pieces).
        sparse: Shape (n, BUCKETS), or without columns.
        scales: The factor of each column, shape (columns,).
        prior: Weights that change nothing, shape (columns,).
        is_drawn: Which weights are regularized towards the prior, shape (columns,).
    """

    dense: Floats
    sparse: csr_matrix
    scales: Floats
    prior: Floats
    is_drawn: NDArray[np.bool_]

    @classmethod
    def of(cls, seen: Seen) -> _Design:
        from scipy.sparse import csr_matrix

        count, features, dimensions = len(seen.odds), seen.features.shape[1], seen.vectors.shape[1]
        wide = _HEAD + features + dimensions
        dense = np.empty((count, wide))
        for kind in (0, 1):
            is_kind = seen.is_within == bool(kind)
            dense[:, kind] = is_kind
            dense[:, 2 + kind] = np.where(is_kind, seen.odds, 0)
        dense[:, _HEAD : _HEAD + features] = seen.features * _FEATURE_SCALE
        dense[:, _HEAD + features :] = seen.vectors
        lengths = np.array([len(places) for places in seen.places])
        buckets = WEIGHTS - wide
        sparse = csr_matrix(
            (
                np.repeat(_GRAM_SCALE / np.sqrt(np.maximum(1, lengths)), lengths),
                np.fromiter((place for places in seen.places for place in places), dtype=np.int32),
                np.concatenate([[0], np.cumsum(lengths)]),
            ),
            shape=(count, buckets),
        )
        parts = ((_HEAD, 1.0), (features, _FEATURE_SCALE), (dimensions, 1.0), (buckets, _GRAM_SCALE))
        prior = np.zeros(WEIGHTS)
        prior[2:_HEAD] = 1
        return cls(
            dense,
            sparse,
            scales=np.concatenate([np.full(width, scale) for width, scale in parts]),
            prior=prior,
            is_drawn=np.arange(WEIGHTS) >= 2,
        )

    @classmethod
    def line(cls, odds: Floats) -> _Design:
        """Make a design of log odds alone, to calibrate them by intercept and slope (Platt, 1999)."""
        from scipy.sparse import csr_matrix

        dense = np.column_stack([np.ones(len(odds)), odds])
        nothing = csr_matrix((len(odds), 0))
        return cls(dense, nothing, np.ones(2), np.array([0.0, 1.0]), np.ones(2, dtype=np.bool_))

    def odds(self, weights: Floats) -> Floats:
        """Return the log odds of all questions by scaled weights."""
        wide = self.dense.shape[1]
        found: Floats = self.dense @ weights[:wide] + self.sparse @ weights[wide:]
        return found

    def unscaled(self, weights: Floats) -> Floats:
        """Return the weights for columns without scaling."""
        return weights * self.scales

    def fit(self, labels: NDArray[np.bool_], is_used: NDArray[np.bool_], *, strength: float) -> Floats:
        """Find the scaled weights that explain the labels of some questions best, regularized towards the prior.

        Args:
            labels: Shape (n,).
            is_used: Which questions are used, shape (n,).
            strength: How far weights may move: the inverse of the penalty on the squared distance, as C in
                scikit-learn.
        """
        from scipy.optimize import minimize
        from threadpoolctl import threadpool_limits

        signs = np.where(labels, 1.0, -1.0)
        pull = self.is_drawn / strength

        def objective(weights: Floats) -> tuple[float, Floats]:
            margins = signs * self.odds(weights)
            away = weights - self.prior
            loss = np.logaddexp(0, -margins) @ is_used + 0.5 * (pull * away) @ away
            errors = -signs * is_used / (1 + np.exp(np.clip(margins, -30, 700)))
            return float(loss), np.concatenate([errors @ self.dense, self.sparse.T @ errors]) + pull * away

        # One thread adds in a fixed order, and is faster than several for such small sums.
        with threadpool_limits(1, user_api="blas"):
            found = minimize(
                objective, self.prior, jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS, "ftol": _PRECISION}
            )
        weights: Floats = found.x
        return weights
