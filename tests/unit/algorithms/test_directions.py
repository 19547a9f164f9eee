"""Vectors without a direction are refused, wherever they come from."""

from __future__ import annotations

import numpy as np
import pytest

from pgclarify.algorithms.directions import lengths_of
from pgclarify.errors import EmbeddingError


def test_lengths_of_directions() -> None:
    vectors = np.array([[3, 4], [0.6, 0.8], [3e38, 0], [0, 1e-30]], dtype=np.float32)
    assert lengths_of(vectors, "a model")[:, 0] == pytest.approx([5, 1, 3e38, 1e-30], rel=1e-6)
    assert lengths_of(np.zeros((0, 2), dtype=np.float32), "a model").shape == (0, 1)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 0.0])
def test_one_vector_without_a_direction_is_an_error(number: float) -> None:
    vectors = np.ones((3, 2), dtype=np.float32)
    vectors[1] = [number, 0]
    with pytest.raises(EmbeddingError):
        lengths_of(vectors, "a model")
