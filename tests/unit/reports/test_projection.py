"""Vectors in two dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.reports.projection import project


def test_distances_in_a_plane_are_kept() -> None:
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(20, 2))
    basis, _ = np.linalg.qr(rng.normal(size=(50, 2)))
    vectors = (plane @ basis.T + 3).astype(np.float32)
    seen = project(vectors)
    before = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    after = np.linalg.norm(seen.points[:, None] - seen.points[None], axis=2)
    np.testing.assert_allclose(after, before, atol=1e-4)
    assert seen.share == pytest.approx(1.0)


def test_the_first_axis_has_the_largest_variance() -> None:
    vectors = np.random.default_rng(0).normal(size=(100, 5)).astype(np.float32) * np.array([1, 9, 2, 4, 1], np.float32)
    seen = project(vectors)
    spread = seen.points.var(axis=0)
    assert spread[0] > spread[1]
    assert 0.5 < seen.share < 1


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 100))
def test_the_projection_does_not_depend_on_the_order_of_rows(rows: int, columns: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)
    seen = project(vectors)
    assert seen.points.shape == (rows, 2)
    assert np.isfinite(seen.points).all()
    np.testing.assert_allclose(seen.points.mean(axis=0), 0, atol=1e-5)
    # The map does not depend on the order of rows.
    order = np.random.default_rng(seed + 1).permutation(rows)
    np.testing.assert_allclose(project(vectors[order]).points, seen.points[order], atol=1e-3)


@pytest.mark.parametrize("rows", [1, 2, 30])
def test_equal_vectors_are_one_point(rows: int) -> None:
    seen = project(np.full((rows, 384), 0.05, dtype=np.float32))
    assert not seen.points.any()
    assert seen.share == 1


def test_two_vectors_lie_on_the_first_axis() -> None:
    seen = project(np.array([[0, 0, 1], [1, 0, 0]], dtype=np.float32))
    np.testing.assert_allclose(np.abs(seen.points[:, 0]), np.sqrt(2) / 2)
    np.testing.assert_allclose(seen.points[:, 1], 0, atol=1e-9)
