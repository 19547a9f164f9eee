"""Comparing questions by their words: equal ones, and questions that depend on earlier text."""

import pytest

from pgclarify.language.english.names import names
from pgclarify.language.english.questions import ask_for
from pgclarify.language.words import asks_same_words


@pytest.mark.parametrize("other", ["who founded the museum", "Who founded the museum?!", "Who founded the  museum ?"])
def test_the_same_words(other: str):
    assert asks_same_words("Who founded the museum?", other)
    assert not asks_same_words("Who founds the museum?", other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where was Ida Holm's painting of 1903 shown?", {"ida", "holm", "1903"}),
        ("where was she born", set()),
        ("Lindvik has a castle", set()),
        ("Who led the Saint-Cyr mission?", {"saint", "cyr"}),
    ],
)
def test_names_and_numbers_of_a_text(text: str, expected: set[str]):
    assert names(text) == expected


@pytest.mark.parametrize("question", ["When was the church built?", "when was the church built"])
def test_a_statement_with_the_answer_becomes_the_question(question: str):
    assert ask_for("in 1872", "The church of Lindvik was built in 1872.", question) == question


@pytest.mark.parametrize(
    ("answer", "reading", "question"),
    [
        ("in 1872", "When was the church built that burned down in 1872?", "When was the church built?"),
        ("in 1872", "Year of the church of Lindvik", "When was the church built?"),
        ("up to 30 dollars", "Rental cars are covered up to 30 dollars a day.", "rental cars"),
        ("Lindvik", "The church of Lindvik", "Where is the church of Lindvik?"),
        ("Lindvik", "The church of Lindvik", "Where is Lindvik?"),
        ("2週間", "本は2週間借りられます。", "本は何週間借りられますか"),
    ],
)
def test_other_readings_stay(answer: str, reading: str, question: str):
    assert ask_for(answer, reading, question) == reading
