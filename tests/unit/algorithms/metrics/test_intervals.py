"""Confidence intervals and p-values of figures."""

from __future__ import annotations

from statistics import harmonic_mean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgclarify.algorithms.metrics import bootstrap_interval, f1_of_means, paired_bootstrap

values = st.lists(st.floats(0, 1), min_size=1, max_size=20)


def test_bootstrap_interval_of_many_values_is_the_normal_interval() -> None:
    drawn = np.random.default_rng(1).normal(0.5, 0.2, 400)
    low, high = bootstrap_interval(drawn)
    reach = 1.96 * drawn.std() / 20
    assert low == pytest.approx(drawn.mean() - reach, abs=0.002)
    assert high == pytest.approx(drawn.mean() + reach, abs=0.002)


def test_a_clear_difference_and_none() -> None:
    chance = np.random.default_rng(4)
    first = chance.random(60)
    better = paired_bootstrap(first, first + chance.normal(0.1, 0.1, 60))
    assert 0 < better.low < better.difference < better.high
    assert better.p < 0.001
    same = paired_bootstrap(first, first)
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)


def test_p_is_that_of_all_swaps() -> None:
    # Of 32 ways to swap five results, two have a difference that is as far from 0.
    assert paired_bootstrap([0.0] * 5, [1.0] * 5).p == pytest.approx(2 / 32, abs=0.01)
    # Of 8 ways, 4 have a difference that is as far from 0: those in which both halves have the same sign.
    assert paired_bootstrap([0, 0, 0], [0.5, 0.5, -0.1]).p == pytest.approx(4 / 8, abs=0.02)


def test_pairs_make_a_difference_of_derived_figures_too() -> None:
    chance = np.random.default_rng(5)
    first = chance.random((80, 2)) * 0.5
    found = paired_bootstrap(first, first + 0.1, f1_of_means)
    assert found.difference == pytest.approx(
        harmonic_mean((first + 0.1).mean(axis=0)) - harmonic_mean(first.mean(axis=0))
    )
    assert found.low > 0
    assert found.p < 0.001


@settings(max_examples=30)
@given(values)
def test_laws_of_intervals(given_values: list[float]) -> None:
    low, high = bootstrap_interval(given_values, samples=200)
    assert min(given_values) - 1e-9 <= low <= high <= max(given_values) + 1e-9
    assert bootstrap_interval(given_values, samples=200) == (low, high)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_laws_of_differences(pairs: list[tuple[float, float]]) -> None:
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    there, back = paired_bootstrap(first, second, samples=200), paired_bootstrap(second, first, samples=200)
    assert there.difference == pytest.approx(np.mean(second) - np.mean(first))
    assert back.difference == pytest.approx(-there.difference)
    assert back.low == pytest.approx(-there.high)
    assert back.high == pytest.approx(-there.low)
    assert 0 < there.p <= 1
    assert back.p == there.p
