from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pgclarify.algorithms.uncertainty import confidence, relevance_to_unit_interval, semantic_sets, to_unit_interval


def entailment(n_answers: int, *pairs: tuple[int, int]) -> NDArray[np.bool_]:
    entails = np.zeros((n_answers, n_answers), dtype=np.bool_)
    for premise, hypothesis in pairs:
        entails[premise, hypothesis] = True
    return entails


def both_ways(*pairs: tuple[int, int]) -> list[tuple[int, int]]:
    return [*pairs, *((other, one) for one, other in pairs)]


# Sparse enough that several sets, chains and one-way pairs occur.
matrices = st.integers(0, 10).flatmap(
    lambda n_answers: st.builds(
        lambda pairs: entailment(n_answers, *pairs),
        st.lists(st.tuples(*[st.integers(0, n_answers - 1)] * 2), max_size=40) if n_answers else st.just([]),
    )
)


def test_sets_come_by_size_then_by_lowest_member():
    assert semantic_sets(entailment(7, *both_ways((5, 6), (1, 2), (3, 4), (4, 5)))) == [(3, 4, 5, 6), (1, 2), (0,)]


def relation(sets: list[tuple[int, ...]], n_answers: int) -> NDArray[np.bool_]:
    return entailment(n_answers, *((one, other) for members in sets for one in members for other in members))


@given(matrices)
def test_sets_are_the_smallest_equivalence_that_contains_two_way_entailment(entails):
    n_answers = len(entails)
    sets = semantic_sets(entails)
    assert sorted(index for members in sets for index in members) == list(range(n_answers))
    # Reflexive, symmetric and transitive closure by powers of the matrix.
    closure = np.eye(n_answers, dtype=np.bool_) | (entails & entails.T)
    for _ in range(n_answers):
        closure |= closure @ closure
    assert np.array_equal(relation(sets, n_answers), closure)


@given(st.floats(-700, 30), st.floats(-700, 30))
def test_logits_keep_their_order(lower, higher):
    assume(higher - lower > 0.01)
    below, above = to_unit_interval([lower, higher])
    assert below < above


def test_the_logistic_function():
    assert to_unit_interval([0.0, 1.0, -1.0]) == pytest.approx([0.5, 1 / (1 + math.exp(-1)), 1 / (1 + math.e)])
    assert ((extremes := to_unit_interval([-math.inf, math.inf])) > 0).all()
    assert (extremes < 1).all()


@given(st.floats(-700, 30), st.floats(-700, 30))
def test_scores_of_rerankers_keep_their_order(lower, higher):
    assume(higher - lower > 0.01)
    below, above = relevance_to_unit_interval([lower, higher])
    assert 0 < below < above < 1


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_scores_of_rerankers_are_between_0_and_1(scores):
    found = relevance_to_unit_interval(scores)
    assert ((found > 0) & (found < 1)).all()
    assert (np.diff(found[np.argsort(scores, kind="stable")]) >= 0).all()


def test_probabilities_stay_what_they_are_within_a_hundredth():
    probabilities = np.linspace(0, 1, 11)
    assert relevance_to_unit_interval(probabilities) == pytest.approx(probabilities, abs=0.0101)


def test_confidence_is_the_share_of_answers_that_mean_the_same():
    sets = semantic_sets(entailment(10, *both_ways((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (7, 8))))
    assert [confidence(sets, answer) for answer in (3, 6, 8)] == [0.6, 0.1, 0.2]
