"""Which texts are the same answer, in another spelling or with more or fewer words."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.english.answers import find_variant, is_variant

SAME = [
    ("Nkosazana Dlamini Zuma", "Nkosazana Dlamini-Zuma"),
    ("Jean Ping", "J. Ping"),
    ("A. P. J. Abdul Kalam", "A.P.J. Abdul Kalam"),
    ("Dr. Nora Blum", "Nora Blum"),
    ("Jean Ping (2008-2012)", "Jean Ping"),
    ("National Fascist Party", "NFP"),
    ("The Beatles", "beatles."),
    ("Beyoncé", "Beyonce"),
    ("Dolce & Gabbana", "Dolce and Gabbana"),
    ("10", "ten"),
    ("30 dollars", "$30"),
    ("in London", "London"),
    ("3 million", "3,000,000"),
    ("3.50", "3.5"),
    ("30%", "30 percent"),
    ("1 May 2003", "May 1, 2003"),
    ("1 May 2003", "2003-05-01"),
    ("October 1919", "1919"),
    ("!!!", "!!!"),
    ("", " "),
]

DIFFERENT = [
    ("May 2003", "June 2003"),
    ("May 2003", "May 2003 and 2004"),
    ("2003", "May 2003 and June 2003"),
    ("2003", "Ann, May 2003"),
    ("5", "5 May"),
    ("10 years", "10 months"),
    ("-5", "5"),
    ("1.5", ".5"),
    ("2-1", "1-2"),
    ("1-1", "1"),
    ("$30", "30%"),
    ("Elizabeth II", "Elizabeth"),
    ("elizabeth ii", "elizabeth"),
    ("John Smith", "Jane Smith"),
    ("John Smith Jr.", "John Smith"),
    ("George W. Bush", "George H. W. Bush"),
    ("Mussolini's party", "Mussolini"),
    ("not Ann", "Ann"),
    ("National Fascist Party", "Italian fascists"),
    ("Ann", ""),
    ("?", "!"),
    # One word more makes another answer: after the answer, ...
    ("New York", "New York Jets"),
    # ... inside it, ...
    ("vitamin deficiency", "vitamin D deficiency"),
    # ... and before it.
    ("King", "Stephen King"),
    ("Mr. John Smith", "Mrs. John Smith"),
    # Other endings make other words.
    ("Christoph", "Christopher"),
    ("Alien", "Aliens"),
    # Other counted things make other answers.
    ("10", "10%"),
    ("ten", "10 episodes"),
    ("30 dollars", "30 dollars a day"),
    # A single letter is not the initial of the last word.
    ("Act B", "Act Baker"),
    ("April 2, 2026", "April 24, 2026"),
]

WORDS = ["Ann", "Bob", "the", "north", "May", "2003", "1", "ten", "J.", "NFP", "II", "Lee's", "and", "(old)", ",", "-"]
answers = st.one_of(
    st.text(max_size=20), st.text(string.printable, max_size=20), st.lists(st.sampled_from(WORDS)).map(" ".join)
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same(one: str, other: str) -> None:
    assert is_variant(one, other)
    assert is_variant(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one: str, other: str) -> None:
    assert not is_variant(one, other)
    assert not is_variant(other, one)


@given(answers)
def test_every_answer_is_a_variant_of_itself(answer: str) -> None:
    assert is_variant(answer, answer)


@given(answers, answers)
def test_which_comes_first_makes_no_difference(one: str, other: str) -> None:
    assert is_variant(one, other) == is_variant(other, one)


@given(
    st.integers(0, 10**7),
    st.integers(0, 10**7),
    st.sampled_from(
        ["{}", "season {}", "{:,}", "{} episodes", "$ {}", "Apollo {} and Ann", "Ann ({})", "-{}", "{}th", "{}%"]
    ),
)
def test_different_numbers_never_merge(one: int, other: int, said: str) -> None:
    assert is_variant(said.format(one), said.format(other)) == (one == other)


class TestFindVariant:
    def test_nothing_found_so_far(self) -> None:
        assert find_variant("Ann", []) is None

    def test_is_one_of_all_variants_of_an_answer(self) -> None:
        found = [["Jean Ping"], ["2003", "May 2003"]]
        assert find_variant("J. Ping", found) == 0
        assert find_variant("1 May 2003", found) == 1
        assert find_variant("June 2003", found) is None

    def test_the_first_that_fits(self) -> None:
        assert find_variant("J. Goldwyn", [["John Goldwyn"], ["Jane Goldwyn"]]) == 0

    def test_the_same_words_are_that_answer(self) -> None:
        found = [["John Goldwyn", "J. Goldwyn"], ["Jane Goldwyn", "Goldwyn"]]
        assert find_variant("JANE goldwyn", found) == 1
        assert find_variant("j. goldwyn", [["Jane Goldwyn"], *found]) == 1
