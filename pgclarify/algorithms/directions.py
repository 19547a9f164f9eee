"""Vectors as directions: every embedding model gives them, and similarity is the cosine between two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgclarify.errors import EmbeddingError

# A vector shorter than this has no direction: the answer adds nothing to its question, and the rest is rounding.
_LEAST_NORM = 1e-3


def lengths_of(vectors: NDArray[np.float32], source: str) -> NDArray[np.float64]:
    """Return the lengths of vectors, and refuse those that have no direction: they would be similar to anything.

    All vectors of all embedding models pass here before they are stored or compared.

    Args:
        vectors: Shape (texts, dimensions).
        source: The model, for errors.

    Returns:
        float64, shape (texts, 1), each positive and finite.

    Raises:
        EmbeddingError: If a vector is zero, or has numbers that are not finite.
    """
    # In float64, because the square of a large float32 is infinite.
    lengths: NDArray[np.float64] = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    # A number that is not finite makes a length that is not finite, and a comparison with NaN is false.
    if not ((lengths > 0) & (lengths < np.inf)).all():
        raise EmbeddingError(
            f"{source} returned an unusable vector",
            detail="A vector is zero, or has numbers that are not finite.",
            hint="Check whether the precision of the model, or of its server, is too low for it.",
        )
    return lengths


def answer_directions(answers: NDArray[np.float32], question: NDArray[np.float32]) -> NDArray[np.float32]:
    """Remove from the vectors of answers the part that comes from the question.

    An answer alone is embedded without context: "nine in the morning" is far from "9 am". With its question before it,
    all answers are alike, because most of the embedded text is the question. So the question's direction is removed.

    Args:
        answers: Vectors of "question answer", float32, shape (n_answers, dimensions), rows of unit length.
        question: The question's vector, float32, shape (dimensions,), or one for each answer; unit length.

    Returns:
        float32, shape of answers: the parts orthogonal to the question, scaled to unit length, or zero if there is no
        such part. Their products are cosine similarities.
    """
    rest = answers - np.sum(answers * question, axis=1, keepdims=True) * question
    norms = np.linalg.norm(rest, axis=1, keepdims=True)
    directions: NDArray[np.float32] = np.where(norms < _LEAST_NORM, 0, rest / np.maximum(norms, _LEAST_NORM))
    return directions
