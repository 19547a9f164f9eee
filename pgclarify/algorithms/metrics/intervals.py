"""How much of a figure is due to chance.

Questions are resampled, because the questions are a sample of all that could be asked. The random seed is fixed, so
results are reproducible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgclarify.errors import InputError

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]

_LEVEL = 0.95
_SAMPLES = 10_000
# With many questions there are fewer samples: at most this many drawn rows in all, but at least _LEAST_SAMPLES.
_MOST_DRAWN = 20_000_000
_LEAST_SAMPLES = 200
# How many numbers are in memory at a time, 16 MiB.
_BLOCK = 1 << 21
# Two sums of the same numbers in another order differ by at most this.
_ROUNDING = 1e-12


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
    """Mean over questions; values as for a Statistic of one column, shape (samples, n)."""
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


def ratio_of_sums(values: Floats) -> Floats:
    """Sum of the first column divided by that of the second: takes shape (samples, n, 2), returns (samples,).

    Args:
        values: The second column is above 0.
    """
    sums = values.sum(axis=1)
    ratios: Floats = sums[:, 0] / sums[:, 1]
    return ratios


def bootstrap_interval(
    values: ArrayLike, statistic: Statistic = mean, *, samples: int | None = None, seed: int = 0
) -> tuple[float, float]:
    """The middle 95 % of a statistic over questions that are resampled with replacement.

    Args:
        values: One row a question: float64, shape (n,) or (n, columns), n at least 1.
        statistic: Takes samples of rows, shape (samples, n) or (samples, n, columns), and returns one value for each
            sample, shape (samples,). The mean, `f1_of_means`, or another.
        samples: How many samples are drawn, at least 1. None means 10,000, or fewer if n is above 2,000: 20 million
            rows in all, but at least 200 samples.
        seed: Seed of the random numbers.

    Returns:
        The interval's ends. With one question both are its value, which says nothing about other questions.

    Raises:
        InputError: If there are no values.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §13.3 (percentile interval).
    """
    rows = _rows(values)
    return _middle(np.concatenate([statistic(rows[places]) for places in _draws(rows, samples, seed)]))


def bootstrap_means(values: ArrayLike, *, seed: int = 0) -> list[tuple[float, float]]:
    """The interval of the mean of each column, as by `bootstrap_interval`, with the same draws for all columns.

    Args:
        values: One row a question: float64, shape (n, columns), n at least 1.
        seed: Seed of the random numbers.

    Returns:
        The ends for each column.

    Raises:
        InputError: If there are no values.

    Source: Efron and Tibshirani (1993), §13.3. The weight of a question is how often it was drawn.
    """
    rows = _rows(values)
    drawn = []
    for places in _draws(rows, None, seed):
        # The counts of each sample are in a row of their own.
        places += np.arange(len(places))[:, None] * len(rows)
        counts = np.bincount(places.ravel(), minlength=places.size).reshape(places.shape)
        drawn.append(counts.astype(np.float64) @ rows / len(rows))
    return [_middle(column) for column in np.concatenate(drawn).T]


def paired_bootstrap(
    first: ArrayLike, second: ArrayLike, statistic: Statistic = mean, *, samples: int | None = None, seed: int = 0
) -> PairedDifference:
    """Compare two methods on the same questions.

    Args:
        first: One row a question: float64, shape (n,) or (n, columns), n at least 1.
        second: Of the same shape, rows for the same questions.
        statistic: As for `bootstrap_interval`.
        samples: As for `bootstrap_interval`.
        seed: Seed of the random numbers.

    Returns:
        Second minus first. The interval comes from resampled questions; the two results of a question stay together. p
        comes from a randomization test: each sample swaps the two results of some questions. With n questions p is at
        least about 2 / 2ⁿ, so few questions prove nothing.

    Raises:
        InputError: If there are no values, or the shapes differ.

    Source: Efron and Tibshirani (1993), §13.3; Smucker, Allan and Carterette (CIKM 2007) on the randomization test.
    """
    one, other = _rows(first), _rows(second)
    if one.shape != other.shape:
        raise InputError(
            "two methods are compared on the same questions", detail=f"Their shapes are {one.shape} and {other.shape}."
        )
    samples = samples or _most_samples(len(one))
    observed = float((statistic(other[None]) - statistic(one[None]))[0])
    drawn = [statistic(other[places]) - statistic(one[places]) for places in _draws(one, samples, seed)]
    as_far = sum(
        int(np.sum(np.abs(_swapped(one, other, swaps, statistic)) >= abs(observed) - _ROUNDING))
        for swaps in _swaps(one, samples, seed)
    )
    low, high = _middle(np.concatenate(drawn))
    # The observed assignment is one of the possible ones.
    return PairedDifference(observed, low, high, (1 + as_far) / (1 + samples))


def _rows(values: ArrayLike) -> Floats:
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim not in {1, 2} or not len(rows):
        raise InputError("no values to draw from", detail=f"Their shape is {rows.shape}.")
    return rows


def _middle(drawn: Floats) -> tuple[float, float]:
    low, high = np.quantile(drawn, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def _most_samples(questions: int) -> int:
    return min(_SAMPLES, max(_LEAST_SAMPLES, _MOST_DRAWN // questions))


def _blocks(rows: Floats, samples: int) -> list[int]:
    """Sizes of blocks of samples that fit into memory."""
    size = max(1, _BLOCK // rows.size)
    return [min(size, samples - start) for start in range(0, samples, size)]


def _draws(rows: Floats, samples: int | None, seed: int) -> Iterator[NDArray[np.int64]]:
    chance = np.random.default_rng(seed)
    for size in _blocks(rows, samples or _most_samples(len(rows))):
        yield chance.integers(len(rows), size=(size, len(rows)))


def _swaps(rows: Floats, samples: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    chance = np.random.default_rng(seed)
    for size in _blocks(rows, samples):
        yield chance.random((size, len(rows))) < 0.5


def _swapped(one: Floats, other: Floats, swaps: NDArray[np.bool_], statistic: Statistic) -> Floats:
    chosen = swaps if one.ndim == 1 else swaps[..., None]
    return statistic(np.where(chosen, one, other)) - statistic(np.where(chosen, other, one))
