"""How much of a figure is chance of the sample.

What is drawn again is questions: the unit that is sampled from all that could be asked. Results are the same every
time.
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
# Of many questions, fewer samples are drawn: so many numbers at most, but never fewer samples than so many.
_MOST_DRAWN = 20_000_000
_LEAST_SAMPLES = 200
# Numbers that are held at a time, 16 MiB.
_BLOCK = 1 << 21
# Two sums of the same numbers differ by their order.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """What the second of two has more than the first, over the same questions.

    Attributes:
        difference: Statistic of the second less that of the first.
        low: Lower end of its 95 % interval.
        high: Upper end.
        p: How often so large a difference, either way, comes about if it is chance which of the two a result of a
            question belongs to; greater than 0, up to 1.
    """

    difference: float
    low: float
    high: float
    p: float


def mean(values: Floats) -> Floats:
    """Mean over questions; values as for Statistic of one column, shape (samples, n)."""
    averages: Floats = values.mean(axis=1)
    return averages


def f1_of_means(values: Floats) -> Floats:
    """Harmonic mean of the means of two columns: shape (samples, n, 2) in, (samples,) out; 0 where both are 0.

    Source: VERDICT, Table 2 ("G-F1").
    """
    averages = values.mean(axis=1)
    total = averages.sum(axis=1)
    harmonic: Floats = np.divide(2 * averages.prod(axis=1), total, out=np.zeros_like(total), where=total > 0)
    return harmonic


def ratio_of_sums(values: Floats) -> Floats:
    """Sum of the first column over that of the second: shape (samples, n, 2) in, (samples,) out.

    Args:
        values: The second column is above 0.
    """
    sums = values.sum(axis=1)
    ratios: Floats = sums[:, 0] / sums[:, 1]
    return ratios


def bootstrap_interval(
    values: ArrayLike, statistic: Statistic = mean, *, samples: int | None = None, seed: int = 0
) -> tuple[float, float]:
    """The middle 95 % of a statistic over questions that are drawn again, with replacement.

    Args:
        values: One row a question: float64, shape (n,) or (n, columns), n at least 1.
        statistic: Takes samples of rows, shape (samples, n) or (samples, n, columns), and gives one value for each
            sample, shape (samples,). The mean, `f1_of_means`, or another.
        samples: How often it is drawn, at least 1. None means 10,000 times, or less often if n is above 2,000: 20
            million rows in all, but at least 200 times.
        seed: Another draws otherwise.

    Returns:
        The interval's ends. Of one question, both are its value: that says nothing of others.

    Raises:
        InputError: If there are no values.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §13.3 (percentile interval).
    """
    rows = _rows(values)
    return _middle(np.concatenate([statistic(rows[places]) for places in _draws(rows, samples, seed)]))


def bootstrap_means(values: ArrayLike, *, seed: int = 0) -> list[tuple[float, float]]:
    """The interval of the mean of each column, as `bootstrap_interval` has it, with the same draws for all columns.

    Args:
        values: One row a question: float64, shape (n, columns), n at least 1.
        seed: Another draws otherwise.

    Returns:
        The ends for each column.

    Raises:
        InputError: If there are no values.

    Source: Efron and Tibshirani (1993), §13.3; how often a question is drawn is its weight.
    """
    rows = _rows(values)
    drawn = []
    for places in _draws(rows, None, seed):
        # Each sample counts in a row of its own.
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
        second: Of the same shape, its rows of the same questions.
        statistic: As for `bootstrap_interval`.
        samples: Likewise.
        seed: Another draws otherwise.

    Returns:
        Second less first. The interval is that of questions drawn again, both results of a question together. p is that
        of a randomization test: in each sample, the results of each question are swapped or not. With n questions it
        is at least 2 / 2ⁿ or so: few questions prove nothing.

    Raises:
        InputError: If there are no values, or they are not of the same questions.

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
    # What was observed is one of the ways to swap.
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
