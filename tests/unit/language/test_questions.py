"""Comparing questions by their words: equal ones, other wordings, and questions that depend on earlier text."""

import pytest

from pgclarify.language.names import names
from pgclarify.language.questions import ask_for, asks_same


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Who founded the museum?", "who founded  the museum"),
        ("Who founded \u201cRed Harbor\u201d?", 'Who founded "Red Harbor"?'),
        ("Who was founder of the Lindvik Museum?", "Who was the founder at Lindvik Museum?"),
        ("Who painted the altar of Lindvik?", "Who paints the altar in Lindvik?"),
    ],
)
def test_the_same_question(first: str, second: str):
    assert asks_same(first, second)
    assert asks_same(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("When was Ida Holm born?", "Where was Ida Holm born?"),
        ("How many people lived in Lindvik in 2010?", "How many people lived in Lindvik in 2011?"),
        ("Who founded Lindvik Museum?", "Who founded Ortval Museum?"),
        ("Who is the father of Ida Holm?", "Who is the mother of Ida Holm?"),
        ("Who is the mother of Ida Holm?", "Who is the mother of the mother of Ida Holm?"),
        ("Who is the mother of the father of Ida Holm?", "Who is the father of the mother of Ida Holm?"),
        ("Who directed the film Red Harbor?", "Who directed the sequel of the film Red Harbor?"),
        ("Who was the mayor of Ortval?", "Who was the first mayor of Ortval?"),
        ("Is Ida Holm older than Greta Lind?", "Is Greta Lind older than Ida Holm?"),
        ("Who defeated Norway?", "Who did Norway defeat?"),
        ("Who defeated Norway?", "Who was defeated by Norway?"),
    ],
)
def test_another_question_however_close_it_sounds(first: str, second: str):
    assert not asks_same(first, second)
    assert not asks_same(second, first)


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
