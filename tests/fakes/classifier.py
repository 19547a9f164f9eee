"""A classifier of questions whose judgements a test sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.dialogue import DetectionReason, TrainedVersion
from pgclarify.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class FakeJudgement:
    """The judgement of a `FakeClassifier`."""

    probability: float
    kind: str
    reasons: tuple[DetectionReason, ...]


class FakeClassifier:
    """Judges by a script.

    Args:
        probabilities: The probability that a question is ambiguous, by question.
        otherwise: The probability of all other questions.
        kind: The kind of all ambiguous questions.
        embedding_model: The model of its input vectors.

    Attributes:
        asked: Each question that was judged so far, with its history, in order.
        thresholds: The threshold of each call, which decides for which side to give reasons.
    """

    def __init__(
        self,
        probabilities: Mapping[str, float] | None = None,
        *,
        otherwise: float = 0.0,
        kind: str = "pragmatic",
        embedding_model: str = "fake",
    ) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.thresholds: list[float | None] = []
        self._version = "fake 1"
        self._threshold = 0.5
        self._probabilities = dict(probabilities or {})
        self._otherwise = otherwise
        self._kind = kind
        self._embedding_model = embedding_model

    @property
    def embedding_model(self) -> str:
        """The model of its input vectors."""
        return self._embedding_model

    @property
    def version(self) -> str:
        """Always the same, except for a corrected classifier."""
        return self._version

    def threshold_for(self, history: Sequence[str]) -> float:
        """A half, except for a corrected classifier."""
        return self._threshold

    def corrected(self, trained: TrainedVersion) -> FakeClassifier:
        """Return a classifier for which the first weight is the probability of all questions.

        Raises:
            ConfigurationError: If the version was trained on another one, or has no weights.
        """
        if trained.shipped_version != self.version:
            raise ConfigurationError("it was trained on another one")
        if not trained.weights:
            raise ConfigurationError("it has no weights")
        other = FakeClassifier(otherwise=trained.weights[0], kind=self._kind, embedding_model=self._embedding_model)
        other._version, other._threshold = f"{self.version}+{trained.version}", trained.threshold
        return other

    def inputs(self, question: str, history: Sequence[str]) -> list[str]:
        """The texts to embed: the question, and the history as one text if there is any."""
        return [question, "\n".join(history)] if history else [question]

    def judge(
        self,
        asked: Sequence[tuple[str, Sequence[str]]],
        vectors: NDArray[np.float32],
        *,
        threshold: float | None = None,
    ) -> Sequence[FakeJudgement]:
        """Return the set judgements.

        Raises:
            ValueError: If there is not one vector for each input.
        """
        if vectors.shape[0] != sum(len(self.inputs(*one)) for one in asked):
            raise ValueError(f"{vectors.shape[0]} vectors are not those of {asked}")
        self.thresholds.append(threshold)
        self.asked += [(question, tuple(history)) for question, history in asked]
        found = [self._probabilities.get(question, self._otherwise) for question, _ in asked]
        return [
            FakeJudgement(
                probability, self._kind, (DetectionReason("classifier", "meaning", f"it is {probability} ambiguous"),)
            )
            for probability in found
        ]
