"""A correction of the shipped classifier: weights that are learned from a log of labelled questions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity.grams import BUCKETS
from pgclarify.algorithms.ambiguity.shipped import DIMENSIONS, WITHIN
from pgclarify.data.dialogue import TrainedVersion
from pgclarify.errors import ConfigurationError

_ENDS: Final = tuple(np.cumsum([2, 2, len(WITHIN), DIMENSIONS, BUCKETS]).tolist())

WEIGHTS: Final[int] = _ENDS[-1]
"""Number of weights in a correction. Their order: a bias for questions alone and one for questions with history;
a factor of the shipped log odds for each of the two; then weights of features, of the vector, of pieces of text."""


class Correction:
    """A version of the classifier that was trained on labelled questions, ready to judge.

    The log odds of a question are those of the shipped classifier times a factor, plus a linear model of the same
    features, of the question's vector, and of its n-grams of words and letters.

    Args:
        trained: The version.

    Attributes:
        trained: The version, without its weights.
        weights: float32, shape (WEIGHTS,), finite.

    Raises:
        ConfigurationError: If there are more or fewer numbers, or they are not finite.
    """

    def __init__(self, trained: TrainedVersion) -> None:
        # The weights are kept only as an array, which needs a tenth of the memory.
        self.trained = replace(trained, weights=())
        self.weights: NDArray[np.float32] = np.asarray(trained.weights, dtype=np.float32)
        if self.weights.shape != (WEIGHTS,) or not np.isfinite(self.weights).all():
            raise ConfigurationError(
                "a trained version of the classifier of ambiguity is broken",
                detail=f"It should have {WEIGHTS} finite numbers; the shape of what it has is {self.weights.shape}.",
                hint="Train it again: pgclarify eval train-ambiguity FILE --corpus NAME",
            )

    def bias(self, *, is_within: bool) -> float:
        """Return the bias for one kind of question, with history or without."""
        return float(self.weights[int(is_within)])

    def shipped(self, *, is_within: bool) -> float:
        """Return the factor of the shipped classifier's log odds."""
        return float(self.weights[_ENDS[0] + int(is_within)])

    @property
    def features(self) -> NDArray[np.float32]:
        """Return the weights of the scaled features, shape (len(WITHIN),)."""
        return self.weights[_ENDS[1] : _ENDS[2]]

    @property
    def vector(self) -> NDArray[np.float32]:
        """Return the weights of the question's vector, shape (DIMENSIONS,)."""
        return self.weights[_ENDS[2] : _ENDS[3]]

    @property
    def grams(self) -> NDArray[np.float32]:
        """Return the weights of pieces of text, shape (BUCKETS,)."""
        return self.weights[_ENDS[3] :]

    def judges(self, *, is_within: bool) -> bool:
        """Return whether it judges questions of one kind; the shipped classifier judges the others."""
        return self.trained.judges_conversations if is_within else self.trained.judges_questions
