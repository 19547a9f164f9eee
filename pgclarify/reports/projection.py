"""A map of readings: their vectors, seen from where they differ most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Projection:
    """Vectors in two dimensions.

    Attributes:
        points: float64, shape (n, 2); the mean is at the origin, and one unit is the same along both axes.
        share: How much of the variance the two dimensions hold, 0 to 1; 1 where there is none.
    """

    points: NDArray[np.float64]
    share: float


def project(vectors: NDArray[np.float32]) -> Projection:
    """Project vectors onto their first two principal components.

    A component may point either way; here the coordinate that is largest in it, the first of equals, is positive, so
    that equal vectors always give the same map.

    Args:
        vectors: float32, shape (n, dimensions), n >= 1.

    Returns:
        Where a component has no variance, all points have 0 there.
    """
    centered = np.asarray(vectors, dtype=np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    _, sizes, components = np.linalg.svd(centered, full_matrices=False)
    points = np.zeros((len(centered), 2))
    # Below that, what is left of equal vectors is rounding.
    noise = 1e-6
    for axis, (size, component) in enumerate(zip(sizes[:2], components[:2], strict=True)):
        if size > noise:
            points[:, axis] = centered @ component * np.sign(component[np.argmax(np.abs(component))])
    variance = float(np.sum(sizes**2))
    return Projection(points, float(np.sum(sizes[:2] ** 2)) / variance if variance > noise**2 else 1.0)
