"""A sentence that names another thing than the question is no proof of an answer."""

from __future__ import annotations

import pytest

from pgclarify.language.rivals import names_rival, says_opposite
from pgclarify.language.support import unmentioned_names


@pytest.mark.parametrize(
    ("question", "support"),
    [
        ("What is the total of INV-1042?", "The total of INV-1043 is 90 euros."),
        ("How many cups does the Model A brew?", "Model B coffee machine\nThe Model B brews four cups."),
        ("How many days of leave were there in 2024?", "Leave policy 2025\nEmployees get 27 days of leave."),
        ("How much does the Alpina desk cost?", "The Alpina chair costs 240 euros."),
        ("Who leads the Hamburg office?", "The Berlin office is led by Petra Lang."),
    ],
)
def test_a_support_that_names_another_thing_is_noticed(question: str, support: str) -> None:
    assert names_rival(question, support)


@pytest.mark.parametrize(
    ("question", "support"),
    [
        ("What is the total of INV-1042?", "Invoice inv_1042\nIt follows INV-1041. The total is 90 euros."),
        ("How many cups does the Model A brew?", "Model A and Model B brew four cups."),
        ("When can I leave?", "When A leaves, B stays."),
        ("Who ruled in the mid-1990s?", "In the early 1990s, Ida Holm ruled."),
        ("How many days of leave were there in 2024?", "Employees got 25 days of leave."),
        ("How much does the Alpina desk cost?", "The Alpina chair costs 240 euros, the desk 300."),
        ("How much does the Alpina desk cost?", "The Alpina costs 240 euros."),
    ],
)
def test_a_support_that_names_the_thing_itself_or_none_passes(question: str, support: str) -> None:
    assert not names_rival(question, support)


@pytest.mark.parametrize(
    ("identifier", "text"),
    [("INV-9", "INV-99 is paid."), ("PO2033", "PO20331 is paid."), ("Heron-112", "Heron-7, 112 m")],
)
def test_a_part_of_an_identifier_does_not_mention_it(identifier: str, text: str) -> None:
    assert unmentioned_names(f"When is {identifier} due?", text) == [identifier.lower()]


def test_a_sentence_with_the_opposite_of_a_word_says_nothing_about_the_word() -> None:
    closed = "The canteen is closed from 24 December to 2 January."
    assert says_opposite("When is the canteen open?", closed, "24 December to 2 January")
    assert not says_opposite("When is the canteen open?", closed, "closed from 24 December on")
    assert not says_opposite("When does the pool open?", "It opens at 7 am and closes at 10 pm.", "7 am")
    assert not says_opposite("When is the canteen closed?", closed, "24 December to 2 January")
