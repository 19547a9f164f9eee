from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.english.contradictions import exclude_each_other, relate, relate_readings
from pgclarify.language.relations import Relation

ASKED = "How long do contestants get to answer?"


def relation(one: tuple[str, str], other: tuple[str, str]) -> Relation:
    relations = relate_readings([one[0], other[0]], [one[1], other[1]])
    assert relations[0, 1] == relations[1, 0]
    return Relation(int(relations[0, 1]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("indefinitely", "a few minutes"),
        ("Thabo Mbeki", "Denis Sassou-nguesso"),
        ("it goes on without interruption", "constantly"),
        ("Division III", "Division I-A"),
        (".5 €", ".5 $"),
    ],
)
@pytest.mark.parametrize(
    "other_asked", [ASKED, "how long do the contestants get to answer", "How long do contestants get?"]
)
def test_where_both_ask_the_same_only_the_answers_can_tell(one: str, other: str, other_asked: str) -> None:
    assert relation((ASKED, one), (other_asked, other)) == Relation.CONFLICT


def test_readings_that_ask_something_else_are_compared_as_a_whole() -> None:
    one, other = (ASKED, "indefinitely"), ("What is the limit of time in the online test?", "a few minutes")
    assert relation(one, other) == Relation.UNKNOWN
    clothing, electronics = (f"What is the window to return {one} that was bought online?" for one in ("coats", "cups"))
    assert relation((clothing, "a month"), (electronics, "as agreed")) == Relation.CONFLICT
    assert relation((clothing, "30 days"), (electronics, "30 days")) == Relation.UNKNOWN


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), max_size=6))
def test_only_what_is_unknown_may_conflict_by_what_is_asked(readings: list[tuple[str, str]]) -> None:
    asked, told = [reading[0] for reading in readings], [reading[1] for reading in readings]
    relations = relate_readings(asked, told)
    words = np.array([[relate(one, other) for other in readings] for one in readings]).reshape(relations.shape)
    np.fill_diagonal(words, Relation.AGREE)
    assert relations.dtype == np.int8
    assert np.array_equal(relations, relations.T)
    changed = relations != words
    assert set(words[changed]) <= {Relation.UNKNOWN}
    assert set(relations[changed]) <= {Relation.CONFLICT}


@pytest.mark.parametrize(
    ("asked", "one", "other"),
    [
        ("How long is the notice?", "30 days", "60 days"),
        ("When was it built?", "in 1870", "It was built in 1920."),
        ("Which city is it in?", "Paris", "Lyon"),
        ("parking", "Parking is free for staff.", "Parking costs $9 for staff."),
        ("parking", "free", "nine dollars"),
        ("pets", "Yes, in all rooms", "No"),
        ("pets", "Pets are allowed in the lobby.", "Pets are not allowed in the lobby."),
        ("deductible", "The deductible is $500 for each claim.", "The deductible is $700 for any claim."),
    ],
)
def test_answers_exclude_each_other_if_they_say_something_else_of_the_same(asked: str, one: str, other: str) -> None:
    assert exclude_each_other((asked, one), (asked, other))
    assert exclude_each_other((asked, other), (asked, one))


@pytest.mark.parametrize(
    ("asked", "one", "other"),
    [
        ("Which city is it in?", "Paris", "in Paris, France"),
        ("How do I record a call?", "Select Record", "Ask the host"),
        ("What are the benefits?", "a gym", "a bus ticket"),
        ("Which colors are there?", "red", "blue"),
        ("recording", "The recording must be accessible.", "Switching the view will not change the tiles."),
        ("vouchers", "It is reviewed in 3 to 5 days.", "Claims above $2,500 need a manager and two receipts."),
        ("guests", "No guests can be added by the filter.", "No guests can be added by the attribute."),
        ("When was it built?", "about 1820", "1820"),
    ],
)
def test_answers_that_can_both_hold_do_not_exclude_each_other(asked: str, one: str, other: str) -> None:
    assert not exclude_each_other((asked, one), (asked, other))
    assert not exclude_each_other((asked, other), (asked, one))
