"""How good yes-or-no judgements are, for many samples at once; scikit-learn has the same for one."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

_BINS: Final = 10


def f1s_of_labels(labels: NDArray[np.bool_], called: NDArray[np.bool_]) -> NDArray[np.float64]:
    """F1 of each of many samples: both of shape (..., n), n at least 1; returns shape (...). 0 if nothing is True."""
    hits = np.sum(labels & called, axis=-1)
    found: NDArray[np.float64] = 2 * hits / np.maximum(1, np.sum(labels, axis=-1) + np.sum(called, axis=-1))
    return found


def calibration_errors(labels: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far probabilities are from shares, in ten bins of equal width, of each of many samples.

    Args:
        labels: What each question is, shape (..., n), n at least 1.
        probabilities: Of its being True, shape (..., n), in [0, 1].

    Returns:
        0 to 1, shape (...): the expected calibration error.

    Source: Guo et al., On calibration of modern neural networks (ICML 2017), equation 3.
    """
    bins = np.minimum(probabilities * _BINS, _BINS - 1).astype(np.intp)
    gaps = labels - probabilities
    total = sum(np.abs(np.sum(gaps * (bins == one), axis=-1)) for one in range(_BINS))
    errors: NDArray[np.float64] = total / labels.shape[-1]
    return errors
