"""Whether texts have the numbers of an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.english.amounts import find_units, has_amounts, is_below_zero


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        # Notations of a number.
        ("1,000", "1000 people"),
        ("10,000", "10 000 people"),
        ("100", "5 100 m races"),
        ("3", "3.0"),
        ("12", "twelve"),
        ("2", "World War II"),
        ("5 million", "5,000,000 people"),
        ("10kg", "10 kg"),
        # Ranges.
        ("20", "10 -20 days"),
        ("10-20", "10 to 20 days"),
        ("2018", "2017-18"),
        ("1962 - 1965", "1962\u201365"),
        # Signs and units.
        ("-20 °C", "minus 20 °C"),
        ("-20", "(-20)"),
        ("40 dollars", "$40"),
        ("US$40", "$40"),
        ("$40", "40 USD"),
        ("40 per cent", "40%"),
        ("50 cents", "$0.50"),
        ("€0.50", "50 cents"),
        ("10 to 20 °C", "10 °C \u201320 °C"),
        # Letters that equal "s" and "i" if case is ignored.
        ("5 thou\u017fand", "5 thou\u017fand"),
        ("5 m\u0131llion", "5 M\u0130LLION"),
        ("2024", "5 apr\u0131l 2024"),
        # Dates and times.
        ("2024-05-12", "signed on May 12, 2024"),
        ("May 5, 2024", "5 May 2024"),
        ("12 May 2024", "12/05/2024"),
        ("2024-05-12", "05/12/2024"),
        ("5/12/2024", "05.12.2024"),
        ("May 2020", "2020-05-01"),
        ("9 am", "9:00 a.m."),
        ("9 am", "from 9 to 11 am"),
        ("9.30", "9:30 am"),
        ("21:00", "9 pm"),
        ("9:30 pm", "9:30"),
        ("12 am", "00:00"),
        # Measures.
        ("9 km", "nine kilometres"),
        ("90 minutes", "an hour and a half"),
        ("30 days", "90 or 30 calendar days"),
        ("21 years", "21 or older"),
        ("24", "two dozen"),
        # No number in digits.
        ("twelve", "ten"),
        ("A380", "A320"),
    ],
)
def test_a_number_is_there_in_another_notation(answer: str, text: str) -> None:
    assert has_amounts(answer, ["nothing", f"This is {text}, then."])


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("5.1", "1.5"),
        ("3", "3.5"),
        ("45", "45,123 people"),
        ("$45", "$45,000"),
        ("12/05/2024", "05/12/2024"),
        ("20 °C", "-20 °C"),
        ("20", "minus twenty"),
        ("20 °F", "20 °C"),
        ("$40", "€40"),
        ("$50", "50 cents"),
        ("50 cents", "0.50%"),
        ("2024-05-12", "signed on May 13, 2024"),
        ("1.5 million", "1.5 billion"),
        ("9 am", "9 pm"),
        ("9 am", "9:30 am"),
        ("9", "no number"),
        ("9 miles", "9 km"),
        ("30 hours", "thirty days"),
        ("three weeks", "three months"),
        ("10 GB", "10 MB"),
        (f"{'1' * 28}2", f"{'1' * 28}3"),
    ],
)
def test_a_number_counts_as_a_whole(answer: str, text: str) -> None:
    assert not has_amounts(answer, ["nothing", f"This is {text}, then."])


def test_a_hyphen_before_an_item_is_no_minus() -> None:
    items = "You can return within:\n-30 days for the clothing\n -14 days for the rest"
    assert has_amounts("30 days", [items])
    assert has_amounts("14 days", [items])
    assert has_amounts("30 days", ["-30 days for the clothing"])
    assert has_amounts("-30", ["-30"])
    assert not has_amounts("-30", ["30"])


def test_all_numbers_must_be_there() -> None:
    assert has_amounts("$40 and 30 days", ["30 days", "$40"])
    assert not has_amounts("$40 and 31 days", ["30 days", "$40"])


def test_units_of_numbers() -> None:
    assert find_units("$40, 5 %, and 20 °C; 3 days") == {"dollar", "percent", "celsius"}
    assert find_units("many dollars") == frozenset()


def test_numbers_below_zero() -> None:
    assert all(map(is_below_zero, ("from -20 to 5 °C", "minus twenty", "-$1.5 million")))
    assert not any(map(is_below_zero, ("10-20 and 5 -3", "the payout minus tax", "minus tensor", "minus a share")))


@given(st.text(max_size=60) | st.text(alphabet="0123456789 .,:/-$€%apm\n\u0663", max_size=60))
def test_any_text_has_its_own_numbers(text: str) -> None:
    assert has_amounts(text, [text])
    assert isinstance(find_units(text), frozenset)
