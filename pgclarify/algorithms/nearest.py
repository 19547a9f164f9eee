"""The nearest neighbors of every vector among all of them, exactly."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

# How many rows are compared with as many others at once: 16 MB of similarities, a fast size for a matrix product.
_TILE = 2048

# Rows, a near row for each of them, and the similarity of both.
_Found: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]


def nearest(
    vectors: NDArray[np.float32], depth: int, *, threads: int = 1
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
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
    starts = range(0, len(vectors), _TILE)

    def compare(first: int, second: int) -> _Found:
        similarities = vectors[first : first + _TILE] @ vectors[second : second + _TILE].T
        if first == second:
            return _best(similarities, depth, first)
        # If another thread improves a list meanwhile, some of these pairs are only unnecessary.
        least_first, least_second = lists.least[first : first + _TILE], lists.least[second : second + _TILE]
        width = similarities.shape[1]
        below = np.divmod(np.flatnonzero(similarities > least_first[:, np.newaxis]), width)
        above = np.divmod(np.flatnonzero(similarities > least_second), width)
        rows, near = _best_of_each(similarities, *below, depth)
        others, near_others = _best_of_each(similarities.T, *above[::-1], depth)
        return (
            np.concatenate([rows + first, others + second]),
            np.concatenate([near + second, near_others + first]),
            np.concatenate([similarities[rows, near], similarities[near_others, others]]),
        )

    # First compare each tile with itself. Then the lists are full, and few pairs of the other tiles are candidates.
    with ThreadPoolExecutor(threads, thread_name_prefix="nearest") as pool:
        for pairs in ([(start, start) for start in starts], [(a, b) for a in starts for b in starts if a < b]):
            for found in _in_order(pool, threads, compare, pairs):
                lists.enter(*found)
    order = np.argsort(-lists.similarities, axis=1, kind="stable")
    return np.take_along_axis(lists.rows, order, 1), np.minimum(np.take_along_axis(lists.similarities, order, 1), 1)


class _Lists:
    """The best neighbors of every row so far, in any order."""

    def __init__(self, count: int, depth: int) -> None:
        self.rows = np.full((count, depth), -1, dtype=np.int32)
        self.similarities = np.full((count, depth), -np.inf, dtype=np.float32)
        self.least = np.full(count, -np.inf, dtype=np.float32)

    def enter(self, rows: NDArray[np.int64], near: NDArray[np.int64], similarities: NDArray[np.float32]) -> None:
        depth = self.rows.shape[1]
        order = np.argsort(rows, kind="stable")
        changed, counts = np.unique(rows, return_counts=True)
        # A line for each changed list: its entries, and behind them the new ones.
        line = np.repeat(np.arange(len(changed)), counts)
        column = depth + np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = (len(changed), depth + int(counts.max(initial=0)))
        all_near, all_similarities = np.full(shape, -1, np.int32), np.full(shape, -np.inf, np.float32)
        all_near[:, :depth], all_similarities[:, :depth] = self.rows[changed], self.similarities[changed]
        all_near[line, column], all_similarities[line, column] = near[order], similarities[order]
        kept = np.argpartition(all_similarities, -depth, axis=1)[:, -depth:]
        self.rows[changed] = np.take_along_axis(all_near, kept, 1)
        best = np.take_along_axis(all_similarities, kept, 1)
        self.similarities[changed] = best
        self.least[changed] = best.min(axis=1)


def _best_of_each(
    similarities: NDArray[np.float32], rows: NDArray[np.int64], near: NDArray[np.int64], depth: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keep the best pairs of each row, at most depth. Copies of one text are all near, and would take much memory."""
    crowded = np.flatnonzero(np.bincount(rows, minlength=len(similarities)) > depth)
    if len(crowded) == 0:
        return rows, near
    best = np.argpartition(similarities[crowded], -depth, axis=1)[:, -depth:]
    is_kept = np.isin(rows, crowded, invert=True)
    return np.concatenate([rows[is_kept], np.repeat(crowded, depth)]), np.concatenate([near[is_kept], best.ravel()])


def _best(similarities: NDArray[np.float32], depth: int, start: int) -> _Found:
    """The depth best of each row of a tile that is compared with itself; start: the number of its first row."""
    count = len(similarities)
    np.fill_diagonal(similarities, -np.inf)
    depth = min(depth, count - 1)
    if depth == 0:
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing, np.empty(0, dtype=np.float32)
    near = np.argpartition(similarities, count - depth, axis=1)[:, count - depth :]
    rows = np.repeat(np.arange(count), depth)
    return rows + start, near.ravel() + start, similarities[rows, near.ravel()]


def _in_order(
    pool: ThreadPoolExecutor,
    threads: int,
    compare: Callable[[int, int], _Found],
    pairs: Iterable[tuple[int, int]],
) -> Iterator[_Found]:
    """Return the result of compare for each pair, in order; at most one pair more than there are threads is in work."""
    under_way: deque[Future[_Found]] = deque()
    for pair in pairs:
        under_way.append(pool.submit(compare, *pair))
        if len(under_way) > threads:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()
