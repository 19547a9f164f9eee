"""Train the ambiguity classifier that ships with pgclarify.

python -m training.train_ambiguity_classifier DATA_DIR [--part all|training] [--output FILE] [--check], where clamber,
abg-coqa and squad2.* are. Trains on all rows, and writes pgclarify/algorithms/ambiguity/classifier.npz. With --part
training it trains on the training side of the split alone, as the benchmark does, and writes what it is told to. With
--check it prints what cross-validation within the part says, and writes nothing.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.svm import SVC

from pgclarify.algorithms.ambiguity.classifier import compare, scaled_features
from pgclarify.algorithms.ambiguity.features import alone, within
from pgclarify.algorithms.ambiguity.grams import BUCKETS, places
from pgclarify.algorithms.ambiguity.shipped import ALONE, DIMENSIONS, PROJECTED, TEXTS, Part, Trained, project
from pgclarify.algorithms.ambiguity.wording import Wording, asking_part, take_apart
from pgclarify.data.vocabulary import AmbiguityKind
from pgclarify.embedding import load_embedder
from training.classifier_file import pack
from training.examples import Example, borrowed, clamber, coqa, everyday, made
from training.splits import is_for_training

FILE: Final = Path(__file__).parents[1] / "pgclarify" / "algorithms" / "ambiguity" / "classifier.npz"
_MODEL: Final = "all-MiniLM-L6-v2"
_FOLDS: Final = 5
_REPEATS: Final = 3

_TESTED: Final = ("clamber", "abg-coqa", "squad2", "everyday")

_MARGIN: Final = 1.0

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Prepared:
    """The inputs of training for one kind of examples, alone or with history.

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
        """Return labels: 1 for ambiguous."""
        return np.array([example.is_ambiguous for example in self.examples], dtype=np.intp)

    @property
    def sources(self) -> NDArray[np.str_]:
        """Return the source of each example."""
        return np.array([example.source for example in self.examples])

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Return which examples are rows of a data set about ambiguity."""
        return np.array([example.is_labelled for example in self.examples])

    @property
    def weights(self) -> NDArray[np.float64]:
        """Return the weight of each example."""
        return np.array([example.weight for example in self.examples])

    def take(self, rows: NDArray[np.intp]) -> Prepared:
        """Return some of the examples."""
        return Prepared([self.examples[row] for row in rows], self.features[rows], self.vectors[rows], self.grams[rows])


@dataclass(frozen=True)
class Scale:
    """Mean and deviation of the features."""

    mean: Vectors
    deviation: Vectors


def scale_of(wordings: Sequence[Wording]) -> Scale:
    """Compute the scale of features: those of the question on all examples, those of the history on conversations."""
    of_questions = np.array([list(alone(wording).values()) for wording in wordings])
    of_history = np.array([list(within(wording).values()) for wording in wordings if wording.recent])
    parts = (of_questions, of_history)
    mean = np.concatenate([part.mean(axis=0) for part in parts])
    deviation = np.concatenate([part.std(axis=0) for part in parts])
    # A feature that is the same in all examples says nothing, and must not get a large scale.
    return Scale(mean.astype(np.float32), np.where(deviation > 0, deviation, 1).astype(np.float32))


def prepare(examples: Sequence[Example], scale: Scale) -> Prepared:
    """Compute the features and vectors of examples."""
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
    embedder = load_embedder(_MODEL)
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


def fit_projection(parts: Sequence[Prepared]) -> Vectors:
    """Find the directions in which vectors differ most: float32, shape (DIMENSIONS, PROJECTED)."""
    vectors = np.concatenate([part.vectors.reshape(-1, DIMENSIONS) for part in parts])
    directions: Vectors = PCA(PROJECTED, random_state=0).fit(vectors).components_.T.astype(np.float32)
    return directions


def fit(data: Prepared, projection: Vectors) -> Part:
    """Train a part, uncalibrated."""
    recipe = _WITHIN if data.examples[0].history else _ALONE
    points = _points(data, recipe, projection)
    machine = SVC(C=_MARGIN, gamma=recipe.width).fit(points, data.labels, data.weights)
    features, vectors, grams, bias = recipe.regress(data)
    return Part(
        features=features.astype(np.float32),
        vectors=vectors.astype(np.float32),
        grams=grams.astype(np.float32),
        bias=bias.astype(np.float32),
        examples=machine.support_vectors_,
        example_weights=machine.dual_coef_[0].astype(np.float32),
        kernel=np.array([recipe.width, recipe.feature_weight, machine.intercept_[0]], dtype=np.float32),
        blend=np.array(recipe.blend, dtype=np.float32),
        calibration=np.array([1, 0], dtype=np.float32),
    )


def odds(part: Part, data: Prepared, projection: Vectors) -> Vectors:
    """Return the log odds before calibration: float32, shape (n_examples,)."""
    recipe = _WITHIN if data.examples[0].history else _ALONE
    by_example, by_weight = part.blend
    linear = data.features @ part.features + data.vectors @ part.vectors + data.grams @ part.grams + part.bias
    blended: Vectors = by_example * compare(_points(data, recipe, projection), part) + by_weight * linear
    return blended


def _points(data: Prepared, recipe: Recipe, projection: Vectors) -> Vectors:
    return np.hstack([project(data.vectors, projection), recipe.feature_weight * data.features])


def _regress_together(data: Prepared) -> list[NDArray[np.float64]]:
    """Fit one regression on features and pieces of text; return weights of features, vectors, pieces, and the bias."""
    stacked = hstack([csr_matrix(data.features) * 0.2, data.grams * 4.0]).tocsr()
    fitted = LogisticRegression(C=1.0, max_iter=2_000).fit(stacked, data.labels, data.weights)
    features, grams = np.split(fitted.coef_[0], [data.features.shape[1]])
    return [features * 0.2, np.zeros(data.vectors.shape[1]), grams * 4.0, fitted.intercept_]


def _regress_apart(data: Prepared) -> list[NDArray[np.float64]]:
    """Fit three regressions on features, vectors and pieces of text, and add them with equal spread."""
    weights, total = [], np.zeros(1)
    for block, strength in ((data.features, 0.001), (data.vectors * 20.0, 0.0005), (data.grams * 3.0, 1.0)):
        fitted = LogisticRegression(C=strength, max_iter=2_000).fit(block, data.labels, data.weights)
        decided = fitted.decision_function(block)[data.is_labelled]
        weights.append(fitted.coef_[0] / decided.std())
        # The mean is subtracted. Otherwise the bias, and with it the calibration, would depend on the number of
        # examples.
        total += (fitted.intercept_ - decided.mean()) / decided.std()
    features, vectors, grams = weights
    return [features, vectors * 20.0, grams * 3.0, total]


@dataclass(frozen=True)
class Recipe:
    """The settings for training a part, chosen by cross-validation within the training side.

    Attributes:
        width: Kernel width of the comparison with examples.
        feature_weight: Weight of features in the comparison.
        blend: Weights of the comparison and of the regressions.
        regress: Returns the weights of features, vectors and pieces of text, and the bias.
    """

    width: float
    feature_weight: float
    blend: tuple[float, float]
    regress: Callable[[Prepared], list[NDArray[np.float64]]]


_ALONE: Final = Recipe(1.0, 0.2, (1.5, 0.4), _regress_together)
_WITHIN: Final = Recipe(0.7, 0.05, (4.0, 1.0), _regress_apart)


def cross_validate(data: Prepared, projection: Vectors) -> NDArray[np.float64]:
    """Judge every example by models that were trained without its group; the mean over several shuffles.

    Returns:
        Log odds, shape (n_examples,); NaN for made examples, which are only used for training.
    """
    groups = np.array([example.group for example in data.examples])
    total = np.where(np.isin(data.sources, _TESTED), 0.0, np.nan)
    for repeat in range(_REPEATS):
        # Each source has its own folds, so that the folds of one source do not depend on other sources.
        folds = zip(
            *(_folds(data, groups, source, repeat) for source in sorted({*data.sources} & {*_TESTED})), strict=True
        )
        for parts in folds:
            held_out = np.concatenate(parts)
            kept = np.flatnonzero(~np.isin(groups, groups[held_out]))
            total[held_out] += odds(fit(data.take(kept), projection), data.take(held_out), projection) / _REPEATS
    return total


def _folds(data: Prepared, groups: NDArray[np.str_], source: str, repeat: int) -> list[NDArray[np.intp]]:
    rows = np.flatnonzero(data.sources == source)
    folds = StratifiedGroupKFold(_FOLDS, shuffle=True, random_state=repeat)
    return [rows[held_out] for _, held_out in folds.split(rows, data.labels[rows], groups[rows])]


def calibrate(odds: NDArray[np.float64], labels: NDArray[np.intp], *, at_best_f1: bool) -> tuple[float, float]:
    """Find slope and intercept that turn log odds into probabilities (Platt, 1999).

    Args:
        odds: Log odds of examples that were not used for training.
        labels: 1 for ambiguous.
        at_best_f1: Move the intercept so that the threshold of a half has the best expected F1. If few questions are
            ambiguous, hardly any would otherwise have a probability above a half.
    """
    fitted = LogisticRegression(C=1e6).fit(odds[:, None], labels)
    slope, intercept = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
    if at_best_f1:
        falling = np.sort(odds)[::-1]
        probabilities = 1 / (1 + np.exp(-(slope * falling + intercept)))
        expected = 2 * np.cumsum(probabilities) / (np.arange(1, len(odds) + 1) + probabilities.sum())
        intercept = -slope * float(falling[int(np.argmax(expected))])
    return slope, intercept


def fit_kinds(parts: Sequence[Prepared]) -> Vectors:
    """Train the classifier of kinds on ambiguous examples: float32, shape (3, DIMENSIONS + len(ALONE) + 2)."""
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


def training_data(data_dir: Path, *, only_training_side: bool) -> tuple[Prepared, Prepared, Scale]:
    """Prepare all rows, or the training side: questions alone, conversations, and the scale of their features."""

    def chosen(examples: Sequence[Example]) -> list[Example]:
        return [example for example in examples if not only_training_side or is_for_training(example.group)]

    real = chosen([*clamber(data_dir), *coqa(data_dir)])
    scale = scale_of([take_apart(example.question, example.history) for example in real])
    examples = [*real, *chosen(borrowed(data_dir))]
    examples += [*made(examples), *everyday()]
    parts = [[example for example in examples if bool(example.history) == is_within] for is_within in (False, True)]
    return prepare(parts[0], scale), prepare(parts[1], scale), scale


def train(questions: Prepared, conversations: Prepared, scale: Scale) -> Trained:
    """Train all parts, and calibrate them by cross-validation."""
    projection = fit_projection([questions, conversations])
    return Trained(
        mean=scale.mean,
        deviation=scale.deviation,
        projection=projection,
        kinds=fit_kinds([questions, conversations]),
        alone=_calibrated(questions, projection),
        within=_calibrated(conversations, projection),
    )


def _calibrated(data: Prepared, projection: Vectors) -> Part:
    is_within, rows = bool(data.examples[0].history), data.is_labelled
    line = calibrate(cross_validate(data, projection)[rows], data.labels[rows], at_best_f1=is_within)
    return replace(fit(data, projection), calibration=np.array(line, dtype=np.float32))


def check(questions: Prepared, conversations: Prepared) -> None:
    """Print the results of cross-validation."""
    projection = fit_projection([questions, conversations])
    for data in (questions, conversations):
        judged, rows = cross_validate(data, projection), data.is_labelled
        slope, intercept = calibrate(judged[rows], data.labels[rows], at_best_f1=bool(data.examples[0].history))
        is_called = slope * judged + intercept >= 0
        labels, called, name = data.labels[rows], is_called[rows], data.sources[rows][0]
        print(
            f"{name}: {len(labels)} of {len(data.examples)} examples are labelled;"
            f" accuracy {np.mean(called == labels):.3f}, F1 {f1_score(labels, called):.3f},"
            f" average precision {average_precision_score(labels, judged[rows]):.3f}"
        )
        for source in sorted({*data.sources[~rows]} & {*_TESTED}):
            clear, vague = (np.mean(is_called[(data.sources == source) & (data.labels == label)]) for label in (0, 1))
            print(f"{source}: {clear:.2f} of the clear and {vague:.2f} of the ambiguous are called ambiguous")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--part", choices=("all", "training"), default="all", help="what is trained on")
    parser.add_argument("--output", type=Path, help="where to write; the file that ships, if all is trained on")
    parser.add_argument("--check", action="store_true", help="cross-validate, and write nothing")
    given = parser.parse_args()
    output = given.output or (FILE if given.part == "all" else None)
    if output is None and not given.check:
        parser.error("what is trained on a part does not ship: tell --output")
    prepared = training_data(given.data_dir, only_training_side=given.part == "training")
    if output is None or given.check:
        check(*prepared[:2])
    else:
        output.write_bytes(pack(train(*prepared)))
        print(f"{output.name}: {output.stat().st_size:,} bytes")
