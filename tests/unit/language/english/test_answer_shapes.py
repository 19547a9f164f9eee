"""Shapes of answers: a number, a time, or neither, as the question asks."""

from __future__ import annotations

import pytest

from pgclarify.language.english.answer_shapes import has_asked_shape


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many boats does the museum have?", "twelve"),
        ("How much is a ticket?", "forty crowns"),
        ("When does the museum open?", "9 am"),
        ("When was the pier added?", "after the war"),
        ("Where do they meet?", "Room 12"),
        ("What does it measure?", "50 m"),
        ("Why was it closed?", "1931"),
        ("dogs", "1931"),
    ],
)
def test_an_answer_of_the_asked_shape_may_answer(question: str, answer: str) -> None:
    assert has_asked_shape(question, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many boats does the museum have?", "Ida Holm"),
        ("What percentage of visitors are children?", "the harbor"),
        ("When does the museum open?", "Lindvik"),
        ("In which year was it built?", "the pier"),
        ("The museum opens in what month?", "the harbor"),
        ("Who painted it?", "in 1931"),
        ("Whose boat is it?", "3 May 2019"),
        ("Where is the museum?", "from the end of May 2019"),
    ],
)
def test_an_answer_of_another_shape_may_not(question: str, answer: str) -> None:
    assert not has_asked_shape(question, answer)
