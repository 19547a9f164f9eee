"""Comparing answers with known answers, by their words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.algorithms.metrics import (
    answer_coverage,
    answer_f1,
    cover_exact_match,
    covered_answers,
    exact_match,
    normalize_answer,
)

GOLDS = [["Moussa Faki", "Moussa Faki Mahamat"], ["Jean Ping"], ["Zuma"]]
answers = st.text("ab C.7'", max_size=6)


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("The  Cat's\nhat.", "cats hat"),
        ("An apple a day", "apple day"),
        ("1,919", "1919"),
        # Articles and marks stay if the text would otherwise be empty.
        ("The The", "the the"),
        ("!!!", "!!!"),
    ],
)
def test_normalization(text: str, normalized: str) -> None:
    assert normalize_answer(text) == normalized


@given(st.text())
def test_normalization_is_done_once(text: str) -> None:
    once = normalize_answer(text)
    assert normalize_answer(once) == once or not once


def test_exact_match_takes_any_spelling() -> None:
    assert exact_match("moussa faki mahamat.", GOLDS[0])
    assert not exact_match("Moussa", GOLDS[0])
    assert not exact_match("", [""])


@pytest.mark.parametrize(
    ("text", "names", "stands"),
    [
        ("It was founded in 1973 by the Rothschilds.", ["1973"], True),
        ("It was founded in 1973.", ["7", "197"], False),
        ("The rate rose.", ["rat"], False),
        ("She won: Kris Benson did not.", ["Anna Benson", "kris benson"], True),
        ("", ["", " "], False),
        ("anything", [], False),
    ],
)
def test_cover_exact_match_is_word_for_word(text: str, names: list[str], stands: bool) -> None:
    assert cover_exact_match(text, names) is stands


def test_coverage_counts_known_answers_not_texts() -> None:
    assert answer_coverage(GOLDS, ["Jean Ping", "Chairman Jean Ping of Gabon"]) == pytest.approx(1 / 3)
    assert answer_coverage(GOLDS, ["After Zuma came Moussa Faki."]) == pytest.approx(2 / 3)
    assert answer_coverage(GOLDS, []) == 0
    assert covered_answers(GOLDS, ["After Zuma came Moussa Faki."]) == [True, False, True]
    assert covered_answers([], ["Zuma"]) == []


@pytest.mark.parametrize(
    ("predicted", "f1"),
    [
        (["jean ping", "The Zuma.", "Moussa Faki Mahamat"], 1),
        (["Jean Ping"], 0.5),
        (["Jean Ping", "Ada Berg"], 0.4),
        # Each known answer counts as found once, and equal answers count once.
        (["Moussa Faki", "Moussa Faki Mahamat"], 0.4),
        (["Chairman Jean Ping"], 0),
        ([], 0),
    ],
)
def test_answers_and_known_ones_are_paired_one_to_one(predicted: list[str], f1: float) -> None:
    assert answer_f1(predicted, [GOLDS]) == pytest.approx(f1)


@given(st.lists(answers, max_size=5), st.lists(st.lists(answers, min_size=1, max_size=3), min_size=1, max_size=4))
def test_laws_of_answer_sets(predicted: list[str], golds: list[list[str]]) -> None:
    f1 = answer_f1(predicted, [golds])
    assert 0 <= f1 <= 1
    assert answer_f1(predicted[::-1], [golds[::-1]]) == f1
    assert 0 <= answer_coverage(golds, predicted) <= 1


@given(st.sets(st.sampled_from(["Jean Ping", "Zuma", "1919", "7 pm", "The The"]), min_size=1))
def test_all_that_is_known_is_perfect(known: set[str]) -> None:
    golds = [[name, name.upper()] for name in known]
    assert answer_f1(sorted(known), [golds]) == 1
    assert answer_coverage(golds, sorted(known)) == 1
