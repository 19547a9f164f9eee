from __future__ import annotations

import pytest

from pgclarify.algorithms.ambiguity.features import within
from pgclarify.algorithms.ambiguity.grams import BUCKETS, places
from pgclarify.algorithms.ambiguity.wording import coleman_liau, stands_alone, take_apart


def test_coleman_liau_of_a_worked_example() -> None:
    # 9 words, 34 letters, 2 sentences: L = 377.8, S = 22.2.
    text = "The quick fox runs. It jumps over lazy dogs."

    assert coleman_liau(text) == pytest.approx(0.0588 * 377.778 - 0.296 * 22.222 - 15.8, abs=1e-3)
    assert coleman_liau(text) == pytest.approx(-0.164, abs=1e-3)


@pytest.mark.parametrize(
    ("question", "referential"),
    [
        ("How old is he?", ("he",)),
        ("Is there a fee?", ()),
        ("What happened there?", ("there",)),
        ("Which film that won a prize is the longest?", ()),
        ("What does that mean?", ("that",)),
        ("Which one?", ("one",)),
        ("What is one mile in meters?", ()),
        ("What was the other?", ("other",)),
        ("What is the capital of France?", ()),
    ],
)
def test_words_that_stand_for_something_said_elsewhere(question: str, referential: tuple[str, ...]) -> None:
    assert take_apart(question, []).referential == referential


@pytest.mark.parametrize(
    ("question", "has_antecedent"),
    [
        ("How old is he?", False),
        ("Which company sold its shares?", True),
        ("Do cars lose their value?", True),
        ("When did Titanic open, and who made it?", True),
        ('Who wrote "dust" and when did she?', True),
    ],
)
def test_an_antecedent_is_a_name_a_quotation_or_a_noun_before(question: str, has_antecedent: bool) -> None:
    assert take_apart(question, []).has_antecedent is has_antecedent


def test_candidates_are_names_in_the_history_latest_first() -> None:
    wording = take_apart("How old is she?", ["Who won the match?", "Serena beat Venus.", "Where was that?", "In Rome."])

    assert wording.candidates[0] == "rome"
    assert "venus" in wording.candidates
    assert wording.last_names == ("rome",)


def test_the_last_exchange_is_found() -> None:
    wording = take_apart("Who?", ["Did it rain?", "No", "Was there anyone else?", "Yes"])

    assert wording.last_question == ("was", "there", "anyone", "else")
    assert wording.last_answer == ("yes",)
    assert wording.turns == 4
    assert within(wording)["short after yes or no"] == 1


def test_pieces_are_places_in_the_table_each_once() -> None:
    found = places(take_apart("Who was the first, and who was the last?", []))

    assert found == sorted(set(found))
    assert found[0] >= 0
    assert found[-1] < BUCKETS


def test_pieces_know_what_was_said_before() -> None:
    after_yes = set(places(take_apart("Who?", ["Anyone else?", "Yes"])))

    assert after_yes != set(places(take_apart("Who?", ["Anyone else?", "No"])))


@pytest.mark.parametrize(
    "question",
    [
        "Where was he born?",
        "What is the capital of that country?",
        "Where was #1 born?",
        "Where was [answer] born?",
        "Who is the mother of the answer to question 1?",
        "Who directed his first film?",
        "How old was he when the war began?",
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
        "What happened in 1903 and who saw it?",
        "which country lets employees carry over their leave?",
        "What was question 1 of the exam?",
    ],
)
def test_a_question_that_stands_on_its_own(question: str):
    assert stands_alone(question)
