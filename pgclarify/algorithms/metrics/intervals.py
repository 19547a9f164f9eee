"""How much of a figure is due to chance.

Questions are resampled, because the questions are a sample of all that could be asked. The random seed is fixed, so
results are reproducible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Takes samples of rows, shape (samples, n) or (samples, n, columns), and returns one value for each sample."""

_ENDS: Final = (0.025, 0.975)
_SAMPLES: Final = 2_000
# Numbers in memory at a time, 16 MiB.
_BLOCK: Final = 1 << 21
# Two sums of the same numbers in another order differ by at most this.
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The difference between two methods on the same questions.

    Attributes:
        difference: The statistic of the second method minus that of the first.
        low: Lower end of its 95 % interval.
        high: Upper end.
        p: The probability of a difference at least this large, in either direction, if the two results of each question
            were assigned to the methods at random; greater than 0, up to 1.
    """

    difference: float
    low: float
    high: float
    p: float


def mean(values: Floats) -> Floats:
    """Mean over questions of each sample."""
    averages: Floats = values.mean(axis=1)
    return averages


def f1_of_means(values: Floats) -> Floats:
    """Harmonic mean of the means of two columns: takes shape (samples, n, 2), returns (samples,); 0 where both are 0.

    Source: VERDICT, Table 2 ("G-F1").
    """
    averages = values.mean(axis=1)
    total = averages.sum(axis=1)
    harmonic: Floats = np.divide(2 * averages.prod(axis=1), total, out=np.zeros_like(total), where=total > 0)
    return harmonic


def f1s_of_labels(labels: NDArray[np.bool_], called: NDArray[np.bool_]) -> Floats:
    """F1 of each of many samples: both of shape (..., n), n at least 1; returns shape (...). 0 if nothing is True."""
    hits = np.sum(labels & called, axis=-1)
    found: Floats = 2 * hits / np.maximum(1, np.sum(labels, axis=-1) + np.sum(called, axis=-1))
    return found


def bootstrap_interval(
    values: ArrayLike, statistic: Statistic = mean, *, samples: int = _SAMPLES
) -> tuple[float, float]:
    """The middle 95 % of a statistic over questions that are resampled with replacement.

    Args:
        values: One row a question: float64, shape (n,) or (n, columns), n at least 1.
        statistic: The mean, `f1_of_means`, or another.
        samples: How many samples are drawn.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §13.3 (percentile interval).
    """
    rows = np.asarray(values, dtype=np.float64)
    low, high = np.quantile(np.concatenate([statistic(rows[drawn]) for drawn, _ in _draws(rows, samples)]), _ENDS)
    return float(low), float(high)


def paired_bootstrap(
    first: ArrayLike, second: ArrayLike, statistic: Statistic = mean, *, samples: int = _SAMPLES
) -> PairedDifference:
    """Compare two methods on the same questions.

    Args:
        first: One row a question, as for `bootstrap_interval`.
        second: Of the same shape, rows for the same questions.
        statistic: As for `bootstrap_interval`.
        samples: As for `bootstrap_interval`.

    Returns:
        Second minus first. The interval comes from resampled pairs. p comes from a randomization test: each sample
        swaps the two results of some questions. With few questions p proves nothing.

    Source: Efron and Tibshirani (1993), §13.3; Smucker, Allan and Carterette (CIKM 2007) on the randomization test.
    """
    one, other = (np.asarray(side, dtype=np.float64) for side in (first, second))
    observed = float((statistic(other[None]) - statistic(one[None]))[0])
    differences, as_far = [], 1
    for drawn, swaps in _draws(one, samples):
        differences.append(statistic(other[drawn]) - statistic(one[drawn]))
        chosen = swaps if one.ndim == 1 else swaps[..., None]
        swapped = statistic(np.where(chosen, one, other)) - statistic(np.where(chosen, other, one))
        as_far += int(np.sum(np.abs(swapped) >= abs(observed) - _ROUNDING))
    low, high = np.quantile(np.concatenate(differences), _ENDS)
    # The observed assignment is one of the possible ones.
    return PairedDifference(observed, float(low), float(high), as_far / (1 + samples))


def _draws(rows: Floats, samples: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Yield the drawn rows of samples, and which rows each sample swaps: blocks that fit into memory."""
    chance = np.random.default_rng(0)
    size = max(1, _BLOCK // rows.size)
    for start in range(0, samples, size):
        shape = (min(size, samples - start), len(rows))
        yield chance.integers(len(rows), size=shape), chance.random(shape) < 0.5
