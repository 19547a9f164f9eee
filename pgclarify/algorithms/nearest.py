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
        is_near_first = similarities > lists.least[first : first + _TILE, np.newaxis]
        is_near_second = similarities > lists.least[np.newaxis, second : second + _TILE]
        _keep_best(is_near_first, similarities, depth)
        _keep_best(is_near_second.T, similarities.T, depth)
        below = np.divmod(np.flatnonzero(is_near_first), similarities.shape[1])
        above = np.divmod(np.flatnonzero(is_near_second), similarities.shape[1])
        return (
            np.concatenate([below[0] + first, above[1] + second]),
            np.concatenate([below[1] + second, above[0] + first]),
            np.concatenate([similarities[below], similarities[above]]),
        )

    # First compare each tile with itself. Then the lists are full, and few pairs of the other tiles are candidates.
    with ThreadPoolExecutor(threads, thread_name_prefix="nearest") as pool:
        for pairs in ([(start, start) for start in starts], [(a, b) for a in starts for b in starts if a < b]):
            for found in _in_order(pool, threads, compare, pairs):
                lists.enter(*found)
    return lists.rows, np.minimum(lists.similarities, 1)


class _Lists:
    """The best neighbors of every row so far, by falling similarity."""

    def __init__(self, count: int, depth: int) -> None:
        self.rows = np.full((count, depth), -1, dtype=np.int32)
        self.similarities = np.full((count, depth), -np.inf, dtype=np.float32)
        self.least = np.full(count, -np.inf, dtype=np.float32)

    def enter(self, rows: NDArray[np.int64], near: NDArray[np.int64], similarities: NDArray[np.float32]) -> None:
        depth = self.rows.shape[1]
        changed = np.unique(rows)
        owners = np.concatenate([np.repeat(changed, depth), rows])
        all_near = np.concatenate([self.rows[changed].ravel(), near])
        all_similarities = np.concatenate([self.similarities[changed].ravel(), similarities])
        order = np.lexsort((-all_similarities, owners))
        # Each list has at least depth entries, of which the best stay.
        starts = np.searchsorted(owners[order], changed)
        kept = order[starts[:, np.newaxis] + np.arange(depth)]
        self.rows[changed] = all_near[kept]
        self.similarities[changed] = all_similarities[kept]
        self.least[changed] = all_similarities[kept[:, -1]]


def _keep_best(is_near: NDArray[np.bool_], similarities: NDArray[np.float32], depth: int) -> None:
    """Keep at most depth entries of a row. Copies of one text are all near, and would take quadratic memory."""
    crowded = np.flatnonzero(np.count_nonzero(is_near, axis=1) > depth)
    best = np.argpartition(similarities[crowded], -depth, axis=1)[:, -depth:] if len(crowded) else crowded
    is_near[crowded] = False
    is_near[crowded[:, np.newaxis], best] = True


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
