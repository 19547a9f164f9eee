from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.english.contradictions import relate
from pgclarify.language.relations import Relation

PLAIN = "What is the answer?"


def relation(one: tuple[str, str], other: tuple[str, str]) -> Relation:
    found = relate(one, other)
    assert relate(other, one) is found
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How many episodes are in season 1 of the series?", "How many episodes does the second season have?"),
        ("What happened in World War I?", "What happened in World War II?"),
        ("What does volume one contain?", "What does volume two contain?"),
        ("How warm is it in May?", "How warm is it in October?"),
        ("What closes at 6 pm?", "What closes at 20:00?"),
    ],
)
def test_interpretations_that_name_different_numbers_conflict(one: str, other: str) -> None:
    assert relation((one, "the same"), (other, "the same")) == Relation.CONFLICT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("five seconds", "30 seconds"),
        ("July 16, 1948", "17 July 1948"),
        ("$6.22 billion", "6.3 billion dollars"),
        ("Yes, with a permit", "No"),
        ("Moussa Faki", "Jean Ping"),
        # Units and signs.
        ("$40", "€40"),
        ("-20 °C", "20 °C"),
        ("20 °C", "20 °F"),
        # Negations.
        ("covered", "It isn't covered"),
        ("Goods can be returned", "Goods cannot be returned"),
        ("with a permit", "without a permit"),
        ("nothing is paid", "paid"),
        ("refundable", "non-refundable"),
        ("members, but not guests", "guests, but not members"),
        ("Theft is covered, loss is not covered", "Loss is covered, theft is not covered"),
        ("Flood is not covered, but fire is covered", "Fire is not covered"),
        ("Bags are covered at home, bags are not covered abroad", "No bags are covered"),
        ("No 24-hour service is offered", "A 24-hour service is offered"),
        ("valid after 2020", "not valid after 2020"),
        ("not valid before 2020", "not valid after 2020"),
        # Limits.
        ("over 30 days", "no more than 30 days"),
        ("at least thirty days", "up to thirty days"),
        ("30 days or more", "30 days or less"),
        ("at least 5 days after the trip", "at most 5 days after the trip"),
        ("before May 2020", "after May 2020"),
    ],
)
def test_answers_that_plainly_differ_conflict(one: str, other: str) -> None:
    assert relation((PLAIN, one), (PLAIN, other)) == Relation.CONFLICT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("July 16, 1948", "1948-07-16"),
        ("6 am to 9 pm", "6:00-21:00"),
        ("the 2017-18 season", "season 2017/18"),
        ("Moussa Faki", "Moussa Faki Mahamat"),
        ("the U.S.", "US"),
        ("Elizabeth II", "Elizabeth the Second"),
        ("Yes, with a permit", "Yes, a permit is needed"),
        ("1919", "In 1919, on a flight from London to Paris, for three shillings a box"),
        ("40", "$40"),
        ("-20", "minus 20"),
        ("30 days", "up to 30 days"),
        ("30 days", "at least 30 days"),
        ("not covered", "No, it isn't covered"),
        ("Flood is not covered, but fire is covered", "Fire is covered"),
        ("Not covered: theft; covered: loss", "Theft is not covered"),
        ("a spot not many miles from Lion Head called Twin Rocks", "Twin Rocks"),
        # Both say no, in other words.
        ("Pets are not allowed", "No pets are allowed"),
        ("Refunds are not given after 30 days", "No refunds after 30 days"),
        ("not only cars but also trucks", "cars and trucks"),
        ("Theft, loss and hail are not covered", "No theft, loss or hail is covered"),
        ("Valid until 2020", "It is not valid after 2020"),
    ],
)
def test_answers_that_say_the_same_agree(one: str, other: str) -> None:
    assert relation((PLAIN, one), (PLAIN, other)) == Relation.AGREE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 months", "1 year"),
        ("5 miles an hour", "5 mph"),
        ("Yes", "yes"),
        ("", ""),
        ("one of the chairs", "two seats"),
        ("may be deducted", "in October"),
        # Without its comma, "since" would not be the limit of a number.
        ("Since the merger, two offices are closed", "The shops are not sold since the merger"),
        ("At puberty", "It starts at puberty and goes on without any pause until death, if ever more slowly"),
    ],
)
def test_answers_that_words_cannot_compare_are_unknown(one: str, other: str) -> None:
    assert relation((PLAIN, one), (PLAIN, other)) == Relation.UNKNOWN


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Which damage is covered?", "Which damage is not covered?"),
        ("Who pays for trips of over 30 days?", "Who pays for trips of under 30 days?"),
    ],
)
def test_opposite_questions_never_agree(one: str, other: str) -> None:
    assert relation((one, "30 days"), (other, "30 days")) == Relation.UNKNOWN
    assert relation((one, "theft"), (other, "hail")) == Relation.CONFLICT


def test_a_fuller_question_is_not_another_one() -> None:
    assert (
        relation(("Is parking free?", "in garage B"), ("Is parking free for visitors?", "garage B")) == Relation.AGREE
    )


def test_a_month_is_not_read_into_a_verb_nor_a_number_into_a_pronoun() -> None:
    assert relation(("May one park in October?", "garage B"), ("May guests park in October?", "garage B")) != (
        Relation.CONFLICT
    )
    assert (
        relation(("Which one is 2 meters long?", "the boat"), ("What is 2 meters long?", "the boat")) == Relation.AGREE
    )


@given(st.text(alphabet="abc 0123456789.,-:$IVX", max_size=30), st.text(alphabet="abc 0123456789.,-:$IVX", max_size=30))
def test_equal_readings_never_conflict(interpretation: str, answer: str) -> None:
    assert relation((interpretation, answer), (interpretation, answer)) != Relation.CONFLICT
