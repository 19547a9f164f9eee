"""A map of readings: their vectors, projected onto the directions in which they differ most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Projection:
    """Vectors in two dimensions.

    Attributes:
        points: float64, shape (n, 2); the mean is at the origin, and one unit is the same along both axes.
        share: Share of the variance in the two dimensions, 0 to 1; 1 if there is no variance.
    """

    points: NDArray[np.float64]
    share: float


def project(vectors: NDArray[np.float32]) -> Projection:
    """Project vectors onto their first two principal components.

    The sign of a component is arbitrary. Here its largest coordinate (the first of equals) is positive, so that equal
    vectors always give the same map.

    Args:
        vectors: float32, shape (n, dimensions), n >= 1.

    Returns:
        Points; a component without variance is 0 for all.
    """
    centered = np.asarray(vectors, dtype=np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    _, sizes, components = np.linalg.svd(centered, full_matrices=False)
    points = np.zeros((len(centered), 2))
    # Smaller differences between equal vectors are rounding.
    noise = 1e-6
    for axis, (size, component) in enumerate(zip(sizes[:2], components[:2], strict=True)):
        if size > noise:
            points[:, axis] = centered @ component * np.sign(component[np.argmax(np.abs(component))])
    variance = float(np.sum(sizes**2))
    return Projection(points, float(np.sum(sizes[:2] ** 2)) / variance if variance > noise**2 else 1.0)
