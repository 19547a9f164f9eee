"""Questions by their words: the same one, another wording, one that leans on something."""

import pytest

from pgclarify.algorithms import asks_same, names, rephrases, stands_alone


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Who founded the museum?", "who founded  the museum"),
        ("Who founded \u201cRed Harbor\u201d?", 'Who founded "Red Harbor"?'),
        ("Who founded Lindvik Museum?", "Who was the founder of Lindvik Museum?"),
    ],
)
def test_the_same_question(first: str, second: str):
    assert asks_same(first, second, 0.97, threshold=0.96)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("When was Ida Holm born?", "Where was Ida Holm born?"),
        ("How many people lived in Lindvik in 2010?", "How many people lived in Lindvik in 2011?"),
        ("Who founded Lindvik Museum?", "Who founded Ortval Museum?"),
    ],
)
def test_another_question_however_close_it_sounds(first: str, second: str):
    assert not asks_same(first, second, 0.99, threshold=0.96)
    assert not rephrases(first, second, 0.99, threshold=0.85)


def test_other_words_count_from_the_threshold_on():
    pair = ("Who founded Lindvik Museum?", "Who was the founder of Lindvik Museum?")
    assert asks_same(*pair, 0.96, threshold=0.96)
    assert not asks_same(*pair, 0.95, threshold=0.96)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Who directed Red Harbor?", "Who was the director of the film Red Harbor?", True),
        ("Who is the father of Ida Holm?", "Who is the mother of Ida Holm?", False),
        ("Who was the first mayor of Ortval?", "Who was the second mayor of Ortval?", False),
        ("Who was the mayor of Ortval?", "Who was the first mayor of Ortval?", True),
    ],
)
def test_a_rephrased_question_exchanges_no_word(first: str, second: str, expected: bool):
    assert rephrases(first, second, 0.9, threshold=0.85) is expected
    assert rephrases(second, first, 0.9, threshold=0.85) is expected
    assert not rephrases(first, second, 0.84, threshold=0.85)


@pytest.mark.parametrize(
    "question",
    [
        "Where was he born?",
        "When was it built?",
        "What is the capital of that country?",
        "Where was #1 born?",
        "Where was [answer] born?",
        "Who is the mother of the answer to question 1?",
    ],
)
def test_a_question_that_leans_on_another(question: str):
    assert not stands_alone(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where was Ida Holm born?",
        "Who is the sibling of the actress that played the queen?",
        "Who is Ida Holm and where did she live?",
        "who painted the altar",
        "What happened in 1903 and who saw it?",
    ],
)
def test_a_question_that_stands_on_its_own(question: str):
    assert stands_alone(question)


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
