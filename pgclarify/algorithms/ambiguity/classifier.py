"""A small classifier of ambiguous questions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity.features import alone, within
from pgclarify.algorithms.ambiguity.grams import places
from pgclarify.algorithms.ambiguity.judgement import AmbiguityKind, Judgement
from pgclarify.algorithms.ambiguity.reasons import Spoken, explain
from pgclarify.algorithms.ambiguity.shipped import ALONE, DIMENSIONS, TEXTS, WITHIN, Part, project, unpack
from pgclarify.algorithms.ambiguity.wording import Wording, asking_part, take_apart
from pgclarify.errors import DimensionMismatch, EmbeddingError

_FILE: Final = "classifier.npz"
# How many questions are compared with the examples at once. The comparison stays below ten megabytes.
_AT_ONCE: Final = 1_024
_KINDS: Final = tuple(AmbiguityKind)


class AmbiguityClassifier:
    """Judges whether a question is ambiguous, of which kind, and why.

    There are two pairs of models: one for questions alone, one for questions with earlier turns. In each pair, a
    support vector machine compares vector and features with those of examples, and a logistic regression weighs
    features, vectors, and n-grams of words and letters. Their results are added. Thread-safe.

    Source: Detect, then rewrite (summary): sentence embedding, length, referential words and Coleman-Liau index. The
    other features, and the models, are ours.

    Attributes:
        embedding_model: The model whose vectors the classifier was trained on.
        version: Changes with the trained file.
        threshold: Default threshold: a question is ambiguous if its probability is at least this.
    """

    embedding_model: Final = "all-MiniLM-L6-v2"
    threshold: Final = 0.5

    def __init__(self, content: bytes) -> None:
        self.version = hashlib.sha256(content).hexdigest()[:12]
        self._trained = unpack(content)

    @classmethod
    def load(cls) -> AmbiguityClassifier:
        """Load the file that ships with pgclarify; only once in a process.

        Raises:
            ConfigurationError: If the file is broken or of another version.
        """
        return _load()

    def inputs(self, question: str, history: Sequence[str]) -> list[str]:
        """List the texts whose vectors `judge` needs: one without history, three with it.

        Args:
            question: Any text.
            history: Earlier turns, oldest first. The last ten count; blank ones do not.
        """
        recent = take_apart("", history).recent
        text = asking_part(question)
        return [text, recent, f"{recent} {text}"] if recent else [text]

    def judge(
        self,
        asked: Sequence[tuple[str, Sequence[str]]],
        vectors: NDArray[np.float32],
        *,
        threshold: float | None = None,
    ) -> list[Judgement]:
        """Judge questions.

        Args:
            asked: Questions, each with its history.
            vectors: The vectors of all `inputs` of these questions, in order: float32, shape (n_inputs, 384), rows of
                unit length.
            threshold: A question is ambiguous if its probability is at least this. Reasons explain "ambiguous" above it
                and "clear" below it. None for the classifier's own threshold.

        Raises:
            DimensionMismatch: If the number or the length of the vectors is wrong.
            EmbeddingError: If vectors are not finite.
        """
        wordings = [take_apart(question, history) for question, history in asked]
        counts = np.array([TEXTS if wording.recent else 1 for wording in wordings], dtype=np.intp)
        if vectors.shape != (counts.sum(), DIMENSIONS):
            raise DimensionMismatch(
                "vectors do not belong to these questions",
                detail=f"The expected shape is {(int(counts.sum()), DIMENSIONS)}; the shape is {vectors.shape}.",
            )
        if not np.isfinite(vectors).all():
            raise EmbeddingError("vectors are not finite", detail="Without finite vectors there is no probability.")
        least = self.threshold if threshold is None else threshold
        firsts = np.cumsum(counts) - counts
        judged: list[Judgement | None] = [None] * len(wordings)
        for is_within in (False, True):
            rows = np.flatnonzero((counts > 1) == is_within)
            for start in range(0, len(rows), _AT_ONCE):
                part = rows[start : start + _AT_ONCE]
                texts = TEXTS if is_within else 1
                parts = vectors[firsts[part][:, None] + np.arange(texts)].reshape(len(part), texts * DIMENSIONS)
                judgements = self._judge([wordings[row] for row in part], parts, least, is_within=is_within)
                for row, judgement in zip(part.tolist(), judgements, strict=True):
                    judged[row] = judgement
        return [judgement for judgement in judged if judgement is not None]

    def _judge(
        self, wordings: Sequence[Wording], vectors: NDArray[np.float32], threshold: float, *, is_within: bool
    ) -> list[Judgement]:
        trained = self._trained
        part = trained.within if is_within else trained.alone
        features = scaled_features(wordings, trained.mean, trained.deviation, is_within=is_within)
        by_example, by_weight = part.blend
        slope, intercept = part.calibration
        of_features = slope * by_weight * features * part.features
        wording = slope * by_weight * gram_sums(wordings, part.grams)
        points = np.hstack([project(vectors, trained.projection), features * part.kernel[1]])
        meaning = slope * (by_example * compare(points, part) + by_weight * (vectors @ part.vectors))
        odds = of_features.sum(axis=1) + wording + meaning + slope * by_weight * part.bias + intercept
        probabilities = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        kinds = self._kinds(vectors[:, :DIMENSIONS], features[:, : len(ALONE)], is_within=is_within)
        names = WITHIN if is_within else ALONE
        spoken = zip(
            wordings,
            probabilities.tolist(),
            kinds.tolist(),
            of_features.tolist(),
            wording.tolist(),
            meaning.tolist(),
            strict=True,
        )
        return [
            Judgement(
                probability=probability,
                kind=_KINDS[kind],
                reasons=explain(
                    question,
                    Spoken(dict(zip(names, by_feature, strict=True)), by_wording, by_meaning),
                    is_ambiguous=probability >= threshold,
                ),
            )
            for question, probability, kind, by_feature, by_wording, by_meaning in spoken
        ]

    def _kinds(
        self, vectors: NDArray[np.float32], features: NDArray[np.float32], *, is_within: bool
    ) -> NDArray[np.intp]:
        constants = np.tile(np.array([float(is_within), 1.0], dtype=np.float32), (len(vectors), 1))
        kinds: NDArray[np.intp] = np.argmax(np.hstack([vectors, features, constants]) @ self._trained.kinds.T, axis=1)
        return kinds


def compare(points: NDArray[np.float32], part: Part) -> NDArray[np.float32]:
    """Compare with all examples, as a support vector machine: its decision values, float32, shape (n_points,)."""
    width, _, bias = part.kernel
    squares = np.sum(points**2, axis=1)[:, None] + np.sum(part.examples**2, axis=1)
    decided: NDArray[np.float32] = np.exp(-width * (squares - 2 * points @ part.examples.T)) @ part.example_weights
    decided += bias
    return decided


def scaled_features(
    wordings: Sequence[Wording], mean: NDArray[np.float32], deviation: NDArray[np.float32], *, is_within: bool
) -> NDArray[np.float32]:
    """Compute the features, scaled and cut at 4 deviations: float32, shape (n_questions, n_features)."""
    counted = [
        [*alone(wording).values(), *within(wording).values()] if is_within else list(alone(wording).values())
        for wording in wordings
    ]
    values = np.array(counted, dtype=np.float32).reshape(len(wordings), len(WITHIN if is_within else ALONE))
    width = values.shape[1]
    scaled: NDArray[np.float32] = np.clip((values - mean[:width]) / deviation[:width], -4, 4)
    return scaled


def gram_sums(wordings: Sequence[Wording], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sum the weights of each text's n-grams, divided by the root of their number: float32, shape (n_texts,)."""
    found = [places(wording) for wording in wordings]
    counts = np.array([len(each) for each in found], dtype=np.intp)
    rows = np.repeat(np.arange(len(found)), counts)
    flat = np.fromiter(chain.from_iterable(found), dtype=np.intp, count=int(counts.sum()))
    sums = np.bincount(rows, weights=weights[flat], minlength=len(found))
    means: NDArray[np.float32] = (sums / np.sqrt(np.maximum(1, counts))).astype(np.float32)
    return means


@cache
def _load() -> AmbiguityClassifier:
    return AmbiguityClassifier((files("pgclarify.algorithms.ambiguity") / _FILE).read_bytes())
