"""Quotes that say what a sentence of the passage says, in other words."""

from __future__ import annotations

import pytest

from pgclarify.language.checks import AskedReading
from pgclarify.language.english.restated_quotes import find_restated
from pgclarify.language.sentences import split_sentences

HOUSE = "Earle House stands in Fall River. It was built in 1870 by John M. Earle, a carpenter. It burnt in 1902."
CLUB = "Members do not pay for boats in winter. A canoe costs 12 euros an hour, for guests 20 euros."


def found(question: str, answer: str, quote: str, content: str) -> str | None:
    span = find_restated(quote, AskedReading(question, answer, question), content, split_sentences(content))
    return None if span is None else content[slice(*span)]


@pytest.mark.parametrize(
    ("answer", "quote", "sentence"),
    [
        ("1870", "The Earle House was built in 1870.", "It was built in 1870 by John M. Earle, a carpenter."),
        ("1902", "The Earle House burnt in 1902.", "It burnt in 1902."),
        # Another year, another thing that happened then, nothing that happened, and a word of no text.
        ("1871", "The Earle House was built in 1871.", None),
        ("1902", "The Earle House was built in 1902.", None),
        ("1870", "1870.", None),
        ("1870", "The Earle House was painted in 1870.", None),
        # The quote itself does not say it.
        ("1870", "The Earle House was built by a carpenter.", None),
    ],
)
def test_the_sentence_with_the_answer_has_the_words_of_the_quote(answer: str, quote: str, sentence: str | None) -> None:
    assert found("When was the Earle House built?", answer, quote, HOUSE) == sentence


@pytest.mark.parametrize(
    ("question", "answer", "quote", "content"),
    [
        (
            "When did Jon Berg win the race?",
            "1990",
            "Jon Berg won the race in 1990.",
            "Ida Holm won the race in 1990. Jon Berg came second.",
        ),
        (
            "How much is parking for guests?",
            "free",
            "Parking is free for guests.",
            "Guests may use the garage. Parking is free for members.",
        ),
        (
            "When was the Earle House built?",
            "1870",
            "The Earle House was built in 1870.",
            "The Earle House is large. The Mill House was built in 1870.",
        ),
        (
            "When did Jon Berg die?",
            "1990",
            "Jon Berg died in 1990.",
            "Jon Berg was a baker. His wife Ida died in 1990.",
        ),
    ],
)
def test_a_sentence_about_another_subject_does_not_say_it(question: str, answer: str, quote: str, content: str) -> None:
    assert found(question, answer, quote, content) is None


@pytest.mark.parametrize(
    ("question", "answer", "quote"),
    [
        ("Who pays for boats in winter?", "Members", "Members pay for boats in winter."),
        ("How much is a canoe for guests?", "12 euros", "A canoe costs 12 euros for guests."),
    ],
)
def test_a_negation_and_other_amounts_are_no_other_words(question: str, answer: str, quote: str) -> None:
    assert found(question, answer, quote, CLUB) is None
