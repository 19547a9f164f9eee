"""Metrics of rankings, by known relevant documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from pgclarify.algorithms.metrics import mrecall_at, ndcg_at, pooled, recall_at, reciprocal_rank_at
from pgclarify.errors import InputError

rankings = st.lists(st.integers(0, 9), max_size=12)
relevants = st.sets(st.integers(0, 9), min_size=1)
depths = st.integers(1, 12)


def test_by_hand() -> None:
    ranking, relevant = ["a", "b", "c", "d"], {"b", "d", "x"}
    assert recall_at(ranking, relevant, 2) == pytest.approx(1 / 3)
    assert recall_at(ranking, relevant, 4) == pytest.approx(2 / 3)
    assert reciprocal_rank_at(ranking, relevant, 10) == 0.5
    assert reciprocal_rank_at(ranking, relevant, 1) == 0
    best = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert ndcg_at(ranking, relevant, 4) == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / best)
    # Of three relevant documents, only two fit into two places.
    assert ndcg_at(["b", "d"], relevant, 2) == 1


def test_grades_of_the_paper_on_cumulated_gain() -> None:
    # Järvelin and Kekäläinen (2002), §2.1: G' = <3, 2, 3, 0, 0, 1, 2, 2, 3, 0>; grades are gains.
    grades = dict(enumerate([3, 2, 3, 0, 0, 1, 2, 2, 3, 0]))
    gains = [grades[place] / math.log2(place + 2) for place in range(10)]
    ideal = [grade / math.log2(place + 2) for place, grade in enumerate([3, 3, 3, 2, 2, 2, 1, 0, 0, 0])]
    assert ndcg_at(range(10), grades, 10) == pytest.approx(sum(gains) / sum(ideal))
    assert reciprocal_rank_at([3, 4, 5], grades, 10) == pytest.approx(1 / 3)
    assert recall_at([3, 0], grades, 10) == pytest.approx(1 / 7)


def test_what_comes_twice_counts_once_and_takes_one_place() -> None:
    assert recall_at(["a", "a", "b"], {"b"}, 2) == 1
    assert reciprocal_rank_at(["a", "a", "b"], {"b"}, 10) == 0.5
    assert ndcg_at(["b", "b"], {"b", "c"}, 10) < 1


def test_rankings_are_pooled_place_by_place() -> None:
    assert pooled([["a", "b", "c"], ["d", "a"], [], ["e"]]) == ["a", "d", "e", "b", "c"]
    assert pooled([["a", "b", "a"]]) == ["a", "b"]
    assert pooled([]) == pooled([[]]) == []


@pytest.mark.parametrize("measure", [recall_at, ndcg_at, reciprocal_rank_at])
def test_what_cannot_be_measured(measure: Callable[..., float]) -> None:
    nothing: tuple[Collection[str], ...] = ((), {"a": 0.0}, {"a": -1.0, "b": 1.0})
    for relevant in nothing:
        with pytest.raises(InputError):
            measure(["a"], relevant, 5)
    with pytest.raises(InputError):
        measure(["a"], {"a"}, 0)


@pytest.mark.parametrize(
    ("answers", "k", "expected"),
    [
        (3, 1, True),
        (3, 2, True),
        (3, 3, False),
        (3, 4, True),
        (4, 2, True),
        (4, 3, False),
        (4, 4, False),
        (5, 9, False),
    ],
)
def test_mrecall_by_hand(answers: int, k: int, *, expected: bool) -> None:
    assert mrecall_at([[2], [1, 2], [], [0]], answers, k) is expected


def test_mrecall_of_a_single_answer_is_whether_it_was_found() -> None:
    assert [mrecall_at([[], [0]], 1, k) for k in (1, 2, 3)] == [False, True, True]
    assert not mrecall_at([], 1, 5)
    for answers, k in ((0, 5), (1, 0)):
        with pytest.raises(InputError):
            mrecall_at([[0]], answers, k)


@given(rankings, relevants, depths)
def test_laws(ranking: list[int], relevant: set[int], k: int) -> None:
    for measure in (recall_at, ndcg_at, reciprocal_rank_at):
        value = measure(ranking, relevant, k)
        assert 0 <= value <= 1 + 1e-9
        # Equal grades have the same effect at any value above 0.
        assert measure(ranking, dict.fromkeys(relevant, 3.0), k) == pytest.approx(value)
        assert measure([], relevant, k) == 0
    assert recall_at(ranking, relevant, k) <= recall_at(ranking, relevant, k + 1)
    assert recall_at(sorted(relevant), relevant, 10) == 1
    assert ndcg_at(sorted(relevant), relevant, k) == pytest.approx(1)
    assert reciprocal_rank_at(sorted(relevant), relevant, k) == 1


@given(st.permutations(range(8)), st.lists(st.integers(0, 3), min_size=8, max_size=8).filter(any), st.integers(1, 8))
def test_ndcg_as_scikit_learn_has_it(ranking: list[int], grades: list[int], k: int) -> None:
    places = np.argsort(ranking)
    expected = ndcg_score([grades], [-places.astype(float)], k=k)
    assert ndcg_at(ranking, dict(enumerate(grades)), k) == pytest.approx(expected)
