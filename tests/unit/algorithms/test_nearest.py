"""The neighbors of every vector, compared with those by comparing all pairs."""

from __future__ import annotations

import io

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.algorithms import nearest as module
from pgclarify.algorithms.nearest import nearest
from pgclarify.worker import nearest_process
from pgclarify.worker.nearest_process import END


def vectors(count: int, dimensions: int = 12) -> NDArray[np.float32]:
    drawn = np.random.default_rng(count).standard_normal((count, dimensions), dtype=np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def naive(given: NDArray[np.float32], depth: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    similarities = given @ given.T
    np.fill_diagonal(similarities, -np.inf)
    near = np.argsort(-similarities, axis=1)[:, :depth]
    return near, np.take_along_axis(similarities, near, axis=1)


@pytest.mark.parametrize("count", [17, 49, 50, 51, 100, 333])
@pytest.mark.parametrize("threads", [1, 3])
def test_they_are_those_of_a_comparison_of_all(monkeypatch: pytest.MonkeyPatch, count: int, threads: int) -> None:
    monkeypatch.setattr(module, "_TILE", 50)
    given = vectors(count)

    near, similarities = nearest(given, 16, threads=threads)

    expected, expected_similarities = naive(given, 16)
    np.testing.assert_array_equal(near, expected)
    np.testing.assert_allclose(similarities, expected_similarities, atol=1e-6)


def test_those_that_are_alike() -> None:
    given = np.repeat(vectors(3), 4, axis=0)

    near, similarities = nearest(given, 3)

    assert [{*row, place} for place, row in enumerate(near.tolist())] == [
        set(range(place // 4 * 4, place // 4 * 4 + 4)) for place in range(12)
    ]
    assert similarities.max() <= 1


def test_copies_in_other_tiles_take_no_more_room_than_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TILE", 50)
    given = np.concatenate([vectors(50), np.repeat(vectors(1), 100, axis=0) + 0.01 * vectors(100)])
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    entered = []

    class Lists(module._Lists):
        def enter(self, pairs: module._Pairs) -> None:
            entered.append(len(pairs.rows))
            super().enter(pairs)

    monkeypatch.setattr(module, "_Lists", Lists)

    _, similarities = nearest(given, 4)

    np.testing.assert_allclose(similarities, naive(given, 4)[1], atol=1e-6)
    assert max(entered) <= 2 * 50 * 4


def test_the_process_reads_what_postgresql_sends() -> None:
    given = vectors(30).astype(np.float16)
    # The length of a vector does not matter. Zero vectors are near to nothing.
    given[3] *= 2
    given[[0, 20]] = 0
    sent = np.zeros(30, np.dtype([("header", ">u4"), ("vector", ">f2", (12,))]))
    sent["vector"] = given
    written = io.BytesIO()

    nearest_process.main(["40", "12", "4", "1"], io.BytesIO(sent.tobytes() + END), written)

    near, similarities = np.split(np.frombuffer(written.getvalue(), np.int32).reshape(-1, 4), 2)
    kept = np.array([place for place in range(30) if place not in (0, 20)])
    exact = given[kept].astype(np.float32)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    expected, expected_similarities = naive(exact, 4)
    np.testing.assert_array_equal(near[kept], kept[expected])
    np.testing.assert_allclose(similarities.view(np.float32)[kept], expected_similarities, atol=1e-6)
    assert (near[[0, 20]] == -1).all()


def test_the_process_refuses_more_than_it_has_room_for() -> None:
    sent = np.ones(30, np.dtype([("header", ">u4"), ("vector", ">f2", (12,))])).tobytes() + END
    with pytest.raises(ValueError):
        nearest_process.main(["29", "12", "4", "1"], io.BytesIO(sent), io.BytesIO())


@pytest.mark.parametrize("cut", [b"", END[:2]])
def test_the_process_computes_nothing_for_a_worker_that_has_died(cut: bytes) -> None:
    sent = np.ones(29, np.dtype([("header", ">u4"), ("vector", ">f2", (12,))])).tobytes() + cut
    with pytest.raises(ValueError):
        nearest_process.main(["29", "12", "4", "1"], io.BytesIO(sent), io.BytesIO())
