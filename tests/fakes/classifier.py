"""A classifier of questions that says what it was told to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgclarify.dialogue import DetectionReason, TrainedVersion
from pgclarify.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class FakeJudgement:
    """What a `FakeClassifier` makes of a question."""

    probability: float
    kind: str
    reasons: tuple[DetectionReason, ...]


class FakeClassifier:
    """Judges by a script.

    Args:
        probabilities: That a question is ambiguous, by question.
        otherwise: That of all others.
        kind: What it takes all ambiguous ones for.
        embedding_model: Whose vectors it takes.

    Attributes:
        asked: Every question that was judged so far, with its history, in order.
        thresholds: What it was told of the side that reasons are to be given for, at each call.
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
        """The model whose vectors it takes."""
        return self._embedding_model

    @property
    def version(self) -> str:
        """Always the same, but for one that was corrected."""
        return self._version

    def threshold_for(self, history: Sequence[str]) -> float:
        """A half, but for one that was corrected."""
        return self._threshold

    def corrected(self, trained: TrainedVersion) -> FakeClassifier:
        """One that finds all questions as ambiguous as the first weight says.

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
        """The question, and the history as one text if there is any."""
        return [question, "\n".join(history)] if history else [question]

    def judge(
        self,
        asked: Sequence[tuple[str, Sequence[str]]],
        vectors: NDArray[np.float32],
        *,
        threshold: float | None = None,
    ) -> Sequence[FakeJudgement]:
        """Say the lines.

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
