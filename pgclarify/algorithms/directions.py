"""Vectors as directions: every embedding model gives them, and similarity is the cosine between two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgclarify.errors import EmbeddingError


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
