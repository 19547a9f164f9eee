"""A small classifier of ambiguous questions."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity.correction import Correction
from pgclarify.algorithms.ambiguity.features import alone, within
from pgclarify.algorithms.ambiguity.grams import places
from pgclarify.algorithms.ambiguity.reasons import Spoken, explain
from pgclarify.algorithms.ambiguity.shipped import ALONE, DIMENSIONS, TEXTS, WITHIN, Part, project, unpack
from pgclarify.algorithms.ambiguity.wording import Wording, asking_part, take_apart
from pgclarify.data.dialogue import DetectionReason, TrainedVersion
from pgclarify.data.vocabulary import AmbiguityKind
from pgclarify.errors import ConfigurationError

_FILE: Final = "classifier.npz"
# How many questions are compared with the examples at once. The comparison stays below ten megabytes.
_AT_ONCE: Final = 1_024
_KINDS: Final = tuple(AmbiguityKind)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The classifier's judgement of one question.

    Attributes:
        probability: The probability that the question is ambiguous, in [0, 1].
        kind: The most probable kind. A clear question has one too; ignore it.
        reasons: The reasons for "ambiguous" if the probability reaches the threshold, else those for "clear"; strongest
            first. Empty if no reason can be put in words.
    """

    probability: float
    kind: AmbiguityKind
    reasons: tuple[DetectionReason, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """The inputs and log odds of a classifier for some questions: the data that a `Correction` is trained on.

    Attributes:
        is_within: Whether the question has history, shape (n_questions,).
        odds: Log odds of being ambiguous, float64, shape (n_questions,).
        features: Scaled, float32, shape (n_questions, len(WITHIN)); those of the history are 0 without history.
        vectors: Vectors of the questions themselves, float32, shape (n_questions, DIMENSIONS).
        places: For each question the places of its pieces of text, in [0, BUCKETS).
    """

    is_within: NDArray[np.bool_]
    odds: NDArray[np.float64]
    features: NDArray[np.float32]
    vectors: NDArray[np.float32]
    places: list[list[int]]


@dataclass(frozen=True, slots=True)
class _Weighed:
    """Some questions of one kind, with the summands of their log odds of being ambiguous, float32.

    Attributes:
        rows: Places of the questions among all, shape (n,).
        wordings: The questions.
        is_within: Whether they have history.
        vectors: Concatenated vectors of the texts of each question, shape (n, texts * DIMENSIONS).
        features: Scaled, shape (n, n_features).
        by_feature: Shape (n, n_features).
        by_wording: Shape (n,).
        by_meaning: Shape (n,).
        constant: The same for all.
    """

    rows: NDArray[np.intp]
    wordings: Sequence[Wording]
    is_within: bool
    vectors: NDArray[np.float32]
    features: NDArray[np.float32]
    by_feature: NDArray[np.float32]
    by_wording: NDArray[np.float32]
    by_meaning: NDArray[np.float32]
    constant: float

    @property
    def odds(self) -> NDArray[np.float32]:
        """Return the log odds, shape (n,)."""
        total: NDArray[np.float32] = self.by_feature.sum(axis=1) + self.by_wording + self.by_meaning + self.constant
        return total


class AmbiguityClassifier:
    """Judges whether a question is ambiguous, of which kind, and why.

    There are two pairs of models: one for questions alone, one for questions with earlier turns. In each pair, a
    support vector machine compares vector and features with those of examples, and a logistic regression weighs
    features, vectors, and n-grams of words and letters. Their results are added. Thread-safe.

    Source: Detect, then rewrite (summary): sentence embedding, length, referential words and Coleman-Liau index. The
    other features, and the models, are ours.

    Attributes:
        embedding_model: The model whose vectors the classifier was trained on.
        version: Changes with the trained file, and with its correction.
        threshold: Default threshold of the shipped classifier: a question is ambiguous if its probability is at least
            this.
    """

    embedding_model: Final = "all-MiniLM-L6-v2"
    threshold: Final = 0.5

    def __init__(self, content: bytes) -> None:
        self.version = hashlib.sha256(content).hexdigest()[:12]
        self._trained = unpack(content)
        self._correction: Correction | None = None

    @classmethod
    def load(cls) -> AmbiguityClassifier:
        """Load the file that ships with pgclarify; only once in a process."""
        return _load()

    def corrected(self, trained: TrainedVersion) -> AmbiguityClassifier:
        """Return this classifier with a correction that was learned from labelled questions.

        Its version names both. This classifier does not change.

        Raises:
            ConfigurationError: If the version was trained on another classifier, or its weights are broken.
        """
        if trained.shipped_version != self.version:
            raise ConfigurationError(
                "a trained version does not fit this classifier of ambiguity",
                detail=f"It was trained on {trained.shipped_version}; this one is {self.version}.",
                hint="Train it again: pgclarify eval train-ambiguity FILE --corpus NAME",
            )
        other = copy.copy(self)
        other.version = f"{self.version}+{trained.version}"
        other._correction = Correction(trained)
        return other

    def inputs(self, question: str, history: Sequence[str]) -> list[str]:
        """List the texts whose vectors `judge` needs: one without history, three with it.

        Args:
            question: Any text.
            history: Earlier turns, oldest first. The last ten count; blank ones do not.
        """
        recent = take_apart("", history).recent
        text = asking_part(question)
        return [text, recent, f"{recent} {text}"] if recent else [text]

    def threshold_for(self, history: Sequence[str]) -> float:
        """Return the default threshold for a question with this history."""
        return self._threshold(is_within=bool(take_apart("", history).recent))

    def _threshold(self, *, is_within: bool) -> float:
        correction = self._correction
        if correction is not None and correction.judges(is_within=is_within):
            return correction.trained.threshold
        return self.threshold

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

        """
        judged: list[Judgement | None] = [None] * len(asked)
        for weighed in self._weigh(asked, vectors):
            for row, judgement in zip(weighed.rows.tolist(), self._judge(weighed, threshold), strict=True):
                judged[row] = judgement
        return [judgement for judgement in judged if judgement is not None]

    def see(self, asked: Sequence[tuple[str, Sequence[str]]], vectors: NDArray[np.float32]) -> Seen:
        """Return the inputs and log odds of questions, for training a `Correction`.

        Args:
            asked: As for `judge`.
            vectors: As for `judge`.
        """
        count = len(asked)
        seen = Seen(
            is_within=np.zeros(count, dtype=np.bool_),
            odds=np.zeros(count),
            features=np.zeros((count, len(WITHIN)), dtype=np.float32),
            vectors=np.zeros((count, DIMENSIONS), dtype=np.float32),
            places=[[] for _ in asked],
        )
        for weighed in self._weigh(asked, vectors):
            rows = weighed.rows
            seen.is_within[rows] = weighed.is_within
            seen.odds[rows] = weighed.odds
            seen.features[rows, : weighed.features.shape[1]] = weighed.features
            seen.vectors[rows] = weighed.vectors[:, :DIMENSIONS]
            for row, wording in zip(rows.tolist(), weighed.wordings, strict=True):
                seen.places[row] = places(wording)
        return seen

    def _weigh(self, asked: Sequence[tuple[str, Sequence[str]]], vectors: NDArray[np.float32]) -> Iterator[_Weighed]:
        """Weigh questions, some of one kind at a time."""
        wordings = [take_apart(question, history) for question, history in asked]
        counts = np.array([TEXTS if wording.recent else 1 for wording in wordings], dtype=np.intp)
        firsts = np.cumsum(counts) - counts
        for is_within in (False, True):
            rows = np.flatnonzero((counts > 1) == is_within)
            for start in range(0, len(rows), _AT_ONCE):
                part = rows[start : start + _AT_ONCE]
                texts = np.arange(TEXTS if is_within else 1)
                vectors_of_texts = vectors[firsts[part][:, None] + texts]
                vectors_of_questions = vectors_of_texts.reshape(len(part), -1)
                wordings_of_part = [wordings[row] for row in part]
                yield self._weighed(part, wordings_of_part, vectors_of_questions, is_within=is_within)

    def _weighed(
        self,
        rows: NDArray[np.intp],
        wordings: Sequence[Wording],
        vectors: NDArray[np.float32],
        *,
        is_within: bool,
    ) -> _Weighed:
        trained, correction = self._trained, self._correction
        part = trained.within if is_within else trained.alone
        features = scaled_features(wordings, trained.mean, trained.deviation, is_within=is_within)
        by_example, by_weight = part.blend
        slope, intercept = part.calibration
        by_feature = slope * by_weight * features * part.features
        by_wording = slope * by_weight * gram_sums(wordings, part.grams)
        points = np.hstack([project(vectors, trained.projection), features * part.kernel[1]])
        by_meaning = slope * (by_example * compare(points, part) + by_weight * (vectors @ part.vectors))
        constant = float(slope * by_weight * part.bias[0] + intercept)
        if correction is not None and correction.judges(is_within=is_within):
            factor = correction.shipped(is_within=is_within)
            by_feature = factor * by_feature + features * correction.features[: features.shape[1]]
            by_wording = factor * by_wording + gram_sums(wordings, correction.grams)
            by_meaning = factor * by_meaning + vectors[:, :DIMENSIONS] @ correction.vector
            constant = factor * constant + correction.bias(is_within=is_within)
        return _Weighed(rows, wordings, is_within, vectors, features, by_feature, by_wording, by_meaning, constant)

    def _judge(self, weighed: _Weighed, threshold: float | None) -> list[Judgement]:
        is_within = weighed.is_within
        least = self._threshold(is_within=is_within) if threshold is None else threshold
        probabilities = 1 / (1 + np.exp(-np.clip(weighed.odds, -30, 30)))
        kinds = self._kinds(weighed.vectors[:, :DIMENSIONS], weighed.features[:, : len(ALONE)], is_within=is_within)
        names = WITHIN if is_within else ALONE
        spoken = zip(
            weighed.wordings,
            probabilities.tolist(),
            kinds.tolist(),
            weighed.by_feature.tolist(),
            weighed.by_wording.tolist(),
            weighed.by_meaning.tolist(),
            strict=True,
        )
        return [
            Judgement(
                probability=probability,
                kind=_KINDS[kind],
                reasons=explain(
                    question,
                    Spoken(dict(zip(names, by_feature, strict=True)), by_wording, by_meaning),
                    is_ambiguous=probability >= least,
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
