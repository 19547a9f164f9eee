"""What a log of labelled questions teaches beyond the classifier that ships: weights, which are added to its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity.grams import BUCKETS
from pgclarify.algorithms.ambiguity.shipped import DIMENSIONS, WITHIN
from pgclarify.dialogue import TrainedVersion
from pgclarify.errors import ConfigurationError

_ENDS: Final = tuple(np.cumsum([2, 2, len(WITHIN), DIMENSIONS, BUCKETS]).tolist())

WEIGHTS: Final[int] = _ENDS[-1]
"""How many numbers a correction has, in this order: a bias for questions alone and one for questions with history;
what the shipped log odds count for, for both; then weights of features, of the vector, and of pieces of text."""


class Correction:
    """A version of the classifier that was trained on labelled questions, ready to judge.

    The log odds of a question are those of the shipped classifier times a factor, plus a linear model of the same
    features, of the vector of the question, and of its words and letters in a row.

    Args:
        trained: The version.

    Attributes:
        trained: The version, without its weights.
        weights: float32, shape (WEIGHTS,), finite.

    Raises:
        ConfigurationError: If there are more or fewer numbers, or they are not finite.
    """

    def __init__(self, trained: TrainedVersion) -> None:
        # Without the weights, of which an array takes a tenth of the memory.
        self.trained = replace(trained, weights=())
        self.weights: NDArray[np.float32] = np.asarray(trained.weights, dtype=np.float32)
        if self.weights.shape != (WEIGHTS,) or not np.isfinite(self.weights).all():
            raise ConfigurationError(
                "a trained version of the classifier of ambiguity is broken",
                detail=f"It should have {WEIGHTS} finite numbers; the shape of what it has is {self.weights.shape}.",
                hint="Train it again: pgclarify train-ambiguity FILE --corpus NAME",
            )

    def bias(self, *, is_within: bool) -> float:
        """What is added to the log odds of one kind of question: with turns before them, or without."""
        return float(self.weights[int(is_within)])

    def shipped(self, *, is_within: bool) -> float:
        """What the log odds of the shipped classifier are multiplied by."""
        return float(self.weights[_ENDS[0] + int(is_within)])

    @property
    def features(self) -> NDArray[np.float32]:
        """Weights of the scaled features, shape (len(WITHIN),)."""
        return self.weights[_ENDS[1] : _ENDS[2]]

    @property
    def vector(self) -> NDArray[np.float32]:
        """Weights of the vector of the question, shape (DIMENSIONS,)."""
        return self.weights[_ENDS[2] : _ENDS[3]]

    @property
    def grams(self) -> NDArray[np.float32]:
        """Weights of pieces of text, shape (BUCKETS,)."""
        return self.weights[_ENDS[3] :]

    def judges(self, *, is_within: bool) -> bool:
        """Whether it judges questions of one kind; the shipped classifier judges the others."""
        return self.trained.judges_conversations if is_within else self.trained.judges_questions
