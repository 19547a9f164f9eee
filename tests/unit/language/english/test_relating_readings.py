from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.english.contradictions import relate, relate_readings
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
