"""Numbers in text: which texts are numbers, and which are too long."""

from __future__ import annotations

import pytest

from pgclarify.language.english.numbers import find_quantities


def numbers(text: str) -> set[str]:
    return set(find_quantities(text, is_question=False)[0].get("number", ()))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Charles IV", "4"),
        ("chapter XXXVIII", "38"),
        ("chapter I", "1"),
        ("two hundred and five", "205"),
        ("two hundred thousand three hundred", "200300"),
        ("1.5 million", "1500000"),
        ("one", "1"),
    ],
)
def test_a_number_is_read(text: str, number: str) -> None:
    assert numbers(text) == {number}


# A Turkish capital I with a dot looks like an I in another case, but is not a numeral.
@pytest.mark.parametrize(
    "text",
    ["I" * 9, "I" * 10_000, "X" * 10_000 + " ", "Is this one?", "one of them", "chapter \u0130", "V\u0130", "xv"],
)
def test_letters_that_only_look_like_roman_numerals_are_no_numbers(text: str) -> None:
    assert numbers(text) == set()


def test_an_answer_but_no_question_begins_with_the_number_one() -> None:
    assert find_quantities("One day", is_question=False)[0] == {"number": {"1"}}
    assert find_quantities("One day I will leave. When?", is_question=True)[0] == {}


@pytest.mark.parametrize("separator", [" ", "\n", "-"])
@pytest.mark.parametrize("scale", ["hundred", "thousand", "trillion"])
def test_a_number_has_only_so_many_words(scale: str, separator: str) -> None:
    found = numbers(separator.join(["one", *[scale] * 5000]))

    assert all(len(number) < 40 for number in found)


def test_a_hundred_hundred_is_a_hundred() -> None:
    assert numbers("one hundred hundred hundred") == {"100"}


def test_long_digits_are_kept_as_they_are() -> None:
    one, other = "1" * 40, "1" * 39 + "2"

    assert numbers(f"{one} and {other}") == {one, other}


def test_digits_without_end_are_no_error() -> None:
    assert numbers("9" * 1_100_000) == {"9" * 1_100_000}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5 meters per second", {"5"}),
        ("1 second", {"1"}),
        ("the second", {"2"}),
    ],
)
def test_a_second_may_be_a_unit(text: str, found: set[str]) -> None:
    assert numbers(f"for {text}") == found
