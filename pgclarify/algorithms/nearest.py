"""The nearest neighbors of every vector among all of them, exactly."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

# How many rows are compared with as many others at once: 16 MB of similarities, a fast size for a matrix product.
_TILE = 2048

_Floats: TypeAlias = NDArray[np.float32]
_Rows: TypeAlias = NDArray[np.int64]
_Neighbors: TypeAlias = NDArray[np.int32]


class _Pairs(NamedTuple):
    """Rows, a near row for each of them, and the similarity of both."""

    rows: _Rows
    near: _Rows
    similarities: _Floats


def nearest(
    vectors: _Floats,
    depth: int,
    *,
    threads: int = 1,
) -> tuple[_Neighbors, _Floats]:
    """Find the nearest others of every vector. Every pair is compared once.

    Args:
        vectors: float32, shape (n, n_dims), rows of unit length.
        depth: How many neighbors of each vector to find.
        threads: How many pairs of tiles are compared at the same time, 50 MB each. The library for matrix products
            should use one thread.

    Returns:
        Rows of the neighbors, int32, and their cosine similarities, float32; both of shape (n, depth), by falling
        similarity. If a vector has fewer neighbors, the row is -1 and the similarity -inf.
    """
    lists = _Lists(len(vectors), depth)

    def compare(first: int, second: int) -> list[_Pairs]:
        one = _tile(vectors, first)
        other = _tile(vectors, second)
        similarities = one @ other.T
        if first == second:
            rows, near = _best_within(similarities, depth)
            return [_Pairs(rows + first, near + first, similarities[rows, near])]

        # If another thread improves a list meanwhile, some of these pairs are only unnecessary.
        least_of_first = _tile(lists.least, first)
        least_of_second = _tile(lists.least, second)
        rows, near = _places(similarities > least_of_first[:, np.newaxis])
        rows, near = _best_of_each(similarities, rows, near, depth)
        of_first = _Pairs(rows + first, near + second, similarities[rows, near])

        near, rows = _places(similarities > least_of_second)
        rows, near = _best_of_each(similarities.T, rows, near, depth)
        of_second = _Pairs(rows + second, near + first, similarities[near, rows])
        return [of_first, of_second]

    starts = range(0, len(vectors), _TILE)
    # First compare each tile with itself. Then the lists are full, and few pairs of the other tiles are candidates.
    with_itself = [(start, start) for start in starts]
    with_others = combinations(starts, 2)
    with ThreadPoolExecutor(threads, thread_name_prefix="nearest") as pool:
        for pairs in (with_itself, with_others):
            for several in _in_order(pool, threads, compare, pairs):
                for found in several:
                    lists.enter(found)
    return lists.in_order()


def _tile(rows: _Floats, start: int) -> _Floats:
    return rows[start : start + _TILE]


class _Lists:
    """The best neighbors of every row so far, in any order."""

    def __init__(self, count: int, depth: int) -> None:
        self._depth = depth
        self._rows = np.full((count, depth), -1, dtype=np.int32)
        self._similarities = np.full((count, depth), -np.inf, dtype=np.float32)
        self.least = np.full(count, -np.inf, dtype=np.float32)

    def enter(self, pairs: _Pairs) -> None:
        """Keep the best of the known neighbors and of these."""
        changed, counts = np.unique(pairs.rows, return_counts=True)
        # A table with a line for each changed list: first its known neighbors, and behind them the new ones.
        most_new = int(counts.max(initial=0))
        shape = len(changed), self._depth + most_new
        all_near = np.full(shape, -1, np.int32)
        all_near[:, : self._depth] = self._rows[changed]
        all_similarities = np.full(shape, -np.inf, np.float32)
        all_similarities[:, : self._depth] = self._similarities[changed]

        by_row = np.argsort(pairs.rows, kind="stable")
        lines = np.arange(len(changed))
        line = np.repeat(lines, counts)
        places = np.arange(len(by_row))
        first_place = np.cumsum(counts) - counts
        column = self._depth + places - first_place[line]
        all_near[line, column] = pairs.near[by_row]
        all_similarities[line, column] = pairs.similarities[by_row]

        best = _greatest(all_similarities, self._depth)
        best_similarities = np.take_along_axis(all_similarities, best, 1)
        self._rows[changed] = np.take_along_axis(all_near, best, 1)
        self._similarities[changed] = best_similarities
        self.least[changed] = best_similarities.min(axis=1)

    def in_order(self) -> tuple[_Neighbors, _Floats]:
        """The lists by falling similarity."""
        order = np.argsort(-self._similarities, axis=1, kind="stable")
        rows = np.take_along_axis(self._rows, order, 1)
        similarities = np.take_along_axis(self._similarities, order, 1)
        # Rounding can make the product of a vector with itself larger than 1.
        return rows, np.minimum(similarities, 1)


def _greatest(values: _Floats, count: int) -> _Rows:
    """Return the columns of the greatest values of each row, in any order. count: 1 to the number of columns."""
    ordered = np.argpartition(values, -count, axis=1)
    return ordered[:, -count:]


def _best_within(similarities: _Floats, depth: int) -> tuple[_Rows, _Rows]:
    """Find the best neighbors of each row of a tile in the same tile, at most depth. Overwrites the diagonal."""
    count = len(similarities)
    depth = min(depth, count - 1)
    if depth == 0:
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing
    # No vector is its own neighbor.
    np.fill_diagonal(similarities, -np.inf)
    rows = np.arange(count)
    near = _greatest(similarities, depth)
    return np.repeat(rows, depth), near.ravel()


def _places(is_candidate: NDArray[np.bool_]) -> tuple[_Rows, _Rows]:
    """Return the rows and columns of what is true: np.nonzero, but faster."""
    flat = np.flatnonzero(is_candidate)
    return np.divmod(flat, is_candidate.shape[1])


def _best_of_each(
    similarities: _Floats,
    rows: _Rows,
    near: _Rows,
    depth: int,
) -> tuple[_Rows, _Rows]:
    """Keep the best pairs of each row, at most depth. Copies of one text are all near, and would take much memory."""
    pairs_of_row = np.bincount(rows, minlength=len(similarities))
    crowded = np.flatnonzero(pairs_of_row > depth)
    if len(crowded) == 0:
        return rows, near
    is_kept = np.isin(rows, crowded, invert=True)
    best_rows = np.repeat(crowded, depth)
    best_near = _greatest(similarities[crowded], depth).ravel()
    return (
        np.concatenate([rows[is_kept], best_rows]),
        np.concatenate([near[is_kept], best_near]),
    )


def _in_order(
    pool: ThreadPoolExecutor,
    threads: int,
    compare: Callable[[int, int], list[_Pairs]],
    pairs: Iterable[tuple[int, int]],
) -> Iterator[list[_Pairs]]:
    """Return the result of compare for each pair, in order; at most one pair more than there are threads is in work."""
    under_way: deque[Future[list[_Pairs]]] = deque()
    for pair in pairs:
        under_way.append(pool.submit(compare, *pair))
        if len(under_way) > threads:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()
