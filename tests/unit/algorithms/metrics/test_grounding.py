"""Diversity and grounding of readings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.algorithms.metrics import (
    Quadrants,
    f1,
    grounded_gold,
    grounded_precision,
    grounded_recall,
    quadrants,
    recall,
    sufficient,
)

judged = st.lists(st.booleans(), max_size=6)


def test_ungrounded_shares() -> None:
    assert recall([True, False, False]) == pytest.approx(1 / 3)
    assert grounded_precision([True, True, False]) == pytest.approx(2 / 3)
    assert recall([]) == grounded_precision([]) == 0


def test_sufficient_is_as_many_as_people_know() -> None:
    assert sufficient(3, 3)
    assert sufficient(4, 3)
    assert not sufficient(2, 3)


def test_grounded_gold_is_what_is_supported_of_both() -> None:
    assert grounded_gold([True, False], [False, True, True]) == [0, 3, 4]


def test_grounded_recall_by_hand() -> None:
    # Two readings; the first is supported. People know three; the last two are supported. The first reading repeats the
    # second one of people, so Q̄ is the first reading and the third one of people. One of these two is covered.
    gold = grounded_gold([True, False], [False, True, True])
    assert grounded_recall([place for place in gold if place != 3], 2, [False, True, False]) == 0.5
    # With the repetition, two of three are covered.
    assert grounded_recall(gold, 2, [False, True, False]) == pytest.approx(2 / 3)


def test_an_unsupported_reading_covers_nothing() -> None:
    # Taken literally, Eq. 21 would count the reading of people because the corpus supports it.
    assert grounded_recall(grounded_gold([False], [True]), 1, [False]) == 0
    assert grounded_recall([], 0, []) == 0


@pytest.mark.parametrize(
    ("both", "published"),
    [
        ((83.72, 8.14), 14.84),
        ((52.75, 44.43), 48.23),
        ((84.27, 17.43), 28.89),
        ((81.50, 58.04), 67.80),
        ((92.82, 57.25), 70.82),
    ],
)
def test_f1_of_table_2(both: tuple[float, float], published: float) -> None:
    assert f1(*both) == pytest.approx(published, abs=0.02)


def test_f1_of_nothing() -> None:
    assert f1(0, 0) == f1(1, 0) == 0


def test_quadrants_of_figure_3() -> None:
    shares = quadrants([True, True, True, False, False], [True, True, False, True, False])
    assert shares == Quadrants(0.4, 0.2, 0.2, 0.2)
    assert quadrants([], []) == Quadrants(0, 0, 0, 0)


def test_quadrants_are_of_the_same_readings() -> None:
    with pytest.raises(ValueError, match="zip"):
        quadrants([True], [])


@given(judged, judged, st.data())
def test_laws(supported: list[bool], human_supported: list[bool], data: st.DataObject) -> None:
    covered = data.draw(st.lists(st.booleans(), min_size=len(human_supported), max_size=len(human_supported)))
    gold = grounded_gold(supported, human_supported)
    value = grounded_recall(gold, len(supported), covered)
    assert 0 <= value <= 1
    assert value >= grounded_recall(gold, len(supported), [False] * len(covered))
    assert grounded_recall(gold, len(supported), [True] * len(covered)) == bool(gold)
    assert grounded_recall(gold[::-1], len(supported), covered) == value


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_quadrants_add_up(pairs: list[tuple[bool, bool]]) -> None:
    relevant, answerable = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    shares = quadrants(relevant, answerable)
    assert shares.relevant_answerable + shares.irrelevant_answerable == pytest.approx(grounded_precision(answerable))
    assert shares.relevant_answerable + shares.relevant_unanswerable == pytest.approx(sum(relevant) / len(relevant))
