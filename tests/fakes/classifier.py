"""A classifier of questions whose judgements a test sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity import AmbiguityClassifier, Judgement
from pgclarify.data.dialogue import DetectionReason, TrainedVersion
from pgclarify.data.vocabulary import AmbiguityKind
from pgclarify.errors import ConfigurationError


class FakeClassifier(AmbiguityClassifier):
    """Judges by a script.

    Args:
        probabilities: The probability that a question is ambiguous, by question.
        otherwise: The probability of all other questions.
        kind: The kind of all ambiguous questions.

    Attributes:
        asked: Each question that was judged so far, with its history, in order.
        thresholds: The threshold of each call, which decides for which side to give reasons.
    """

    def __init__(
        self,
        probabilities: Mapping[str, float] | None = None,
        *,
        otherwise: float = 0.0,
        kind: AmbiguityKind = AmbiguityKind.PRAGMATIC,
    ) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.thresholds: list[float | None] = []
        self.version = "fake 1"
        self._default = 0.5
        self._probabilities = dict(probabilities or {})
        self._otherwise = otherwise
        self._kind = kind

    def threshold_for(self, history: Sequence[str]) -> float:
        """A half, except for a corrected classifier."""
        return self._default

    def corrected(self, trained: TrainedVersion) -> FakeClassifier:
        """Return a classifier for which the first weight is the probability of all questions.

        Raises:
            ConfigurationError: If the version was trained on another one, or has no weights.
        """
        if trained.shipped_version != self.version:
            raise ConfigurationError("it was trained on another one")
        if not trained.weights:
            raise ConfigurationError("it has no weights")
        other = FakeClassifier(otherwise=trained.weights[0], kind=self._kind)
        other.version, other._default = f"{self.version}+{trained.version}", trained.threshold
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
    ) -> list[Judgement]:
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
            Judgement(one, self._kind, (DetectionReason("classifier", "meaning", f"it is {one} ambiguous"),))
            for one in found
        ]
