"""Train the ambiguity classifier that ships with pgclarify.

python -m training.train_ambiguity_classifier DATA_DIR [--check], where clamber, abg-coqa and squad2.* are. Trains on
the training side of the split alone, and writes pgclarify/algorithms/ambiguity/classifier.npz. With --check it prints
what cross-validation within that side says, and writes nothing.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.svm import SVC

from pgclarify.algorithms.ambiguity import AmbiguityKind
from pgclarify.algorithms.ambiguity.classifier import scaled_features
from pgclarify.algorithms.ambiguity.features import alone, within
from pgclarify.algorithms.ambiguity.grams import BUCKETS, places
from pgclarify.algorithms.ambiguity.shipped import ALONE, DIMENSIONS, TEXTS, Linear, Trained, pack
from pgclarify.algorithms.ambiguity.wording import Wording, asking_part, take_apart
from pgclarify.embedding import load_embedder
from training.examples import Example, borrowed, clamber, coqa, made
from training.splits import is_for_training

FILE: Final = Path(__file__).parents[1] / "pgclarify" / "algorithms" / "ambiguity" / "classifier.npz"
_MODEL: Final = "all-MiniLM-L6-v2"
_FOLDS: Final = 5
_REPEATS: Final = 3

# Found by cross-validation within the training side.
_WIDTH: Final = 1.0
_FEATURE_WEIGHT: Final = 0.15
_MARGIN: Final = 1.0
_BLEND: Final = (1.5, 0.5)
_FEATURES_IN_LINEAR: Final = 0.2
_GRAMS_IN_LINEAR: Final = 4.0
_VECTORS_IN_LINEAR: Final = 20.0

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Prepared:
    """Examples of one kind, alone or with history, as numbers.

    Attributes:
        features: float32, shape (n_examples, n_features), scaled.
        vectors: float32, shape (n_examples, n_texts * DIMENSIONS).
        grams: Sparse, shape (n_examples, BUCKETS), rows of unit length.
    """

    examples: Sequence[Example]
    features: Vectors
    vectors: Vectors
    grams: csr_matrix

    @property
    def labels(self) -> NDArray[np.intp]:
        """1 for ambiguous."""
        return np.array([example.is_ambiguous for example in self.examples], dtype=np.intp)

    @property
    def weights(self) -> NDArray[np.float64]:
        """How much each counts."""
        return np.array([example.weight for example in self.examples])

    def take(self, rows: NDArray[np.intp]) -> Prepared:
        """Some of them."""
        return Prepared([self.examples[row] for row in rows], self.features[rows], self.vectors[rows], self.grams[rows])


@dataclass(frozen=True)
class Scale:
    """Mean and deviation of the features."""

    mean: Vectors
    deviation: Vectors


def scale_of(wordings: Sequence[Wording]) -> Scale:
    """Measure features: those of a question on all, those of its history on conversations."""
    of_questions = np.array([list(alone(wording).values()) for wording in wordings])
    of_history = np.array([list(within(wording).values()) for wording in wordings if wording.recent])
    parts = (of_questions, of_history)
    mean = np.concatenate([part.mean(axis=0) for part in parts])
    deviation = np.concatenate([part.std(axis=0) for part in parts])
    # What is the same in all examples tells nothing, and must not be blown up elsewhere.
    return Scale(mean.astype(np.float32), np.where(deviation > 0, deviation, 1).astype(np.float32))


def prepare(examples: Sequence[Example], scale: Scale) -> Prepared:
    """Count and embed."""
    wordings = [take_apart(example.question, example.history) for example in examples]
    is_within = bool(wordings[0].recent)
    texts = []
    for wording in wordings:
        text = asking_part(wording.question)
        texts += [text, wording.recent, f"{wording.recent} {text}"] if is_within else [text]
    vectors = asyncio.run(_embed(texts)).reshape(len(examples), (TEXTS if is_within else 1) * DIMENSIONS)
    features = scaled_features(wordings, scale.mean, scale.deviation, is_within=is_within)
    return Prepared(examples, features, vectors, _grams(wordings))


async def _embed(texts: Sequence[str]) -> Vectors:
    embedder = load_embedder(_MODEL, threads=1)
    try:
        return await embedder.encode(texts)
    finally:
        embedder.close()


def _grams(wordings: Sequence[Wording]) -> csr_matrix:
    found = [places(wording) for wording in wordings]
    counts = np.array([len(each) for each in found])
    values = np.repeat(1 / np.sqrt(np.maximum(1, counts)), counts)
    return csr_matrix(
        (values, np.concatenate(found), np.concatenate([[0], np.cumsum(counts)])), shape=(len(wordings), BUCKETS)
    )


@dataclass(frozen=True)
class Comparison:
    """The support vector machine of questions alone."""

    examples: Vectors
    weights: Vectors
    bias: float

    def odds(self, data: Prepared) -> NDArray[np.float64]:
        """Its decision."""
        points = _points(data)
        distances = np.sum(points**2, axis=1)[:, None] + np.sum(self.examples**2, axis=1) - 2 * points @ self.examples.T
        decision: NDArray[np.float64] = np.exp(-_WIDTH * distances) @ self.weights + self.bias
        return decision


def _points(data: Prepared) -> Vectors:
    return np.hstack([data.vectors, _FEATURE_WEIGHT * data.features])


def fit_comparison(data: Prepared) -> Comparison:
    """Train the support vector machine."""
    machine = SVC(C=_MARGIN, gamma=_WIDTH).fit(_points(data), data.labels, data.weights)
    return Comparison(machine.support_vectors_, machine.dual_coef_[0].astype(np.float32), float(machine.intercept_[0]))


def fit_alone(data: Prepared) -> Linear:
    """Train the regression on features and pieces of questions alone."""
    features, grams, bias = _regression(
        [(data.features, _FEATURES_IN_LINEAR), (data.grams, _GRAMS_IN_LINEAR)], data, strength=1.0
    )
    return _linear(features, np.zeros(DIMENSIONS), grams, bias)


def fit_within(data: Prepared) -> Linear:
    """Train three regressions for conversations, on features, vectors and pieces, and take their mean."""
    (features, first), (vectors, second), (grams, third) = (
        _regression([(data.features, 1.0)], data, strength=0.002),
        _regression([(data.vectors, _VECTORS_IN_LINEAR)], data, strength=0.0005),
        _regression([(data.grams, 3.0)], data, strength=2.0),
    )
    return _linear(features / 3, vectors / 3, grams / 3, (first + second + third) / 3)


def _regression(
    blocks: Sequence[tuple[Vectors | csr_matrix, float]], data: Prepared, *, strength: float
) -> list[NDArray[np.float64]]:
    """Weights of each block, and the bias; each block is multiplied by its scale, which counts against the penalty."""
    stacked = hstack([csr_matrix(block) * scale for block, scale in blocks]).tocsr()
    fitted = LogisticRegression(C=strength, max_iter=2_000).fit(stacked, data.labels, data.weights)
    ends = np.cumsum([block.shape[1] for block, _ in blocks])[:-1]
    parts = np.split(fitted.coef_[0], ends)
    return [*(part * scale for part, (_, scale) in zip(parts, blocks, strict=True)), fitted.intercept_]


def _linear(*parts: NDArray[np.float64]) -> Linear:
    return Linear(*(part.astype(np.float32) for part in parts))


def linear_odds(linear: Linear, data: Prepared) -> NDArray[np.float64]:
    """Log odds of a regression."""
    odds: NDArray[np.float64] = (
        data.features @ linear.features + data.vectors @ linear.vectors + data.grams @ linear.grams + linear.bias
    )
    return odds


def odds_alone(training: Prepared, data: Prepared) -> NDArray[np.float64]:
    """Train on some questions alone, and judge others; not calibrated."""
    by_example, by_weight = _BLEND
    compared = fit_comparison(training).odds(data)
    return by_example * compared + by_weight * linear_odds(fit_alone(training), data)


def odds_within(training: Prepared, data: Prepared) -> NDArray[np.float64]:
    """Train on some conversations, and judge others; not calibrated."""
    return linear_odds(fit_within(training), data)


def cross_validate(data: Prepared, odds: Callable[[Prepared, Prepared], NDArray[np.float64]]) -> NDArray[np.float64]:
    """Judge every example by models that were trained on none of its group; the mean of several shufflings.

    Returns:
        Log odds of the real examples, those of weight 1, in their order; the others are only trained on.
    """
    is_real = data.weights == 1
    groups = np.array([example.group for example in data.examples])
    real = np.flatnonzero(is_real)
    total = np.zeros(len(real))
    for repeat in range(_REPEATS):
        folds = StratifiedGroupKFold(_FOLDS, shuffle=True, random_state=repeat)
        for _, tested in folds.split(real, data.labels[real], groups[real]):
            held_out = real[tested]
            kept = np.flatnonzero(~np.isin(groups, groups[held_out]))
            total[tested] += odds(data.take(kept), data.take(held_out)) / _REPEATS
    return total


def calibrate(odds: NDArray[np.float64], labels: NDArray[np.intp], *, at_best_f1: bool) -> tuple[float, float]:
    """Find slope and intercept that make probabilities of log odds (Platt, 1999).

    Args:
        odds: Of examples that were not trained on.
        labels: 1 for ambiguous.
        at_best_f1: Move the intercept so that a half is where F1 is best. Where few questions are ambiguous, hardly one
            would be more likely so than not.
    """
    fitted = LogisticRegression(C=1e6).fit(odds[:, None], labels)
    slope, intercept = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
    if at_best_f1:
        shares = np.linspace(0.03, 0.6, 58)
        levels = np.quantile(odds, 1 - shares)
        scores = np.array([f1_score(labels, odds >= level) for level in levels])
        # Neighbors are averaged: a single row more or less should not decide.
        smooth = np.convolve(np.pad(scores, 3, mode="edge"), np.full(7, 1 / 7), mode="valid")
        intercept = -slope * float(levels[int(np.argmax(smooth))])
    return slope, intercept


def fit_kinds(parts: Sequence[Prepared]) -> Vectors:
    """Train what tells the kinds apart, on ambiguous examples: float32, shape (3, DIMENSIONS + len(ALONE) + 2)."""
    inputs, labels, weights = [], [], []
    for part in parts:
        for row, example in enumerate(part.examples):
            if example.kind is not None:
                is_within = float(bool(example.history))
                inputs.append(
                    np.concatenate([part.vectors[row, :DIMENSIONS], part.features[row, : len(ALONE)], [is_within]])
                )
                labels.append(list(AmbiguityKind).index(example.kind))
                weights.append(example.weight)
    scale = np.concatenate([np.full(DIMENSIONS, 5.0), np.full(len(ALONE), 0.3), [1.0]])
    fitted = LogisticRegression(C=1.0, max_iter=2_000).fit(np.array(inputs) * scale, labels, weights)
    return np.hstack([fitted.coef_ * scale, fitted.intercept_[:, None]]).astype(np.float32)


def training_data(data_dir: Path) -> tuple[Prepared, Prepared, Scale]:
    """Prepare the training side: questions alone, and conversations; and how their features are scaled."""
    real = [example for example in [*clamber(data_dir), *coqa(data_dir)] if is_for_training(example.group)]
    scale = scale_of([take_apart(example.question, example.history) for example in real])
    examples = [*real, *borrowed(data_dir)]
    examples += made(examples)
    parts = [[example for example in examples if bool(example.history) == is_within] for is_within in (False, True)]
    return prepare(parts[0], scale), prepare(parts[1], scale), scale


def train(questions: Prepared, conversations: Prepared, scale: Scale) -> Trained:
    """Train all parts, and calibrate them by cross-validation."""
    comparison = fit_comparison(questions)
    return Trained(
        mean=scale.mean,
        deviation=scale.deviation,
        examples=comparison.examples,
        example_weights=comparison.weights,
        kernel=np.array([_WIDTH, _FEATURE_WEIGHT, comparison.bias], dtype=np.float32),
        alone=fit_alone(questions),
        within=fit_within(conversations),
        kinds=fit_kinds([questions, conversations]),
        blend=np.array(_BLEND, dtype=np.float32),
        calibration=np.array(
            [
                calibrate(cross_validate(questions, odds_alone), _real_labels(questions), at_best_f1=False),
                calibrate(cross_validate(conversations, odds_within), _real_labels(conversations), at_best_f1=True),
            ],
            dtype=np.float32,
        ),
    )


def _real_labels(data: Prepared) -> NDArray[np.intp]:
    return data.labels[data.weights == 1]


def check(questions: Prepared, conversations: Prepared) -> None:
    """Print what cross-validation says."""
    for name, data, odds in (("clamber", questions, odds_alone), ("abg-coqa", conversations, odds_within)):
        judged, labels = cross_validate(data, odds), _real_labels(data)
        slope, intercept = calibrate(judged, labels, at_best_f1=bool(data.examples[0].history))
        is_called = slope * judged + intercept >= 0
        print(
            f"{name}: {len(labels)} of {len(data.examples)} examples are real;"
            f" accuracy {np.mean(is_called == labels):.3f}, F1 {f1_score(labels, is_called):.3f},"
            f" average precision {average_precision_score(labels, judged):.3f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--check", action="store_true", help="cross-validate, and write nothing")
    given = parser.parse_args()
    questions, conversations, scale = training_data(given.data_dir)
    if given.check:
        check(questions, conversations)
    else:
        FILE.write_bytes(pack(train(questions, conversations, scale)))
        print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
