"""Quotes in their passages."""

from __future__ import annotations

import pytest

from pgclarify.language.excerpts import Excerpt, flowing
from pgclarify.reports.run_page import marked
from tests.unit.reports.reported import QUOTE, passage

PASSAGE = passage(1)


@pytest.mark.parametrize(
    ("start_char", "why"),
    [
        (58, "where it is said to be"),
        (0, "before the passage"),
        (9_999, "behind it"),
        (51, "elsewhere"),
        (None, "unknown"),
    ],
)
def test_a_quote_is_found_wherever_it_is_said_to_be(start_char: int | None, why: str) -> None:
    assert marked(PASSAGE, QUOTE, start_char) == Excerpt("Before. ", QUOTE, " After. "), why


def test_the_quote_at_the_cited_position_is_marked() -> None:
    twice = passage(1, content=f"{QUOTE} {QUOTE}", start_char=50)
    assert marked(twice, QUOTE, 50 + len(QUOTE) + 1) == Excerpt(f"{QUOTE} ", QUOTE, "")


def test_a_paragraph_is_one_line_and_its_quote_is_marked_all_the_same() -> None:
    text = "A rental car is paid\nfor 30\ndays.\n\nThen no more."
    found = marked(passage(1, content=text, start_char=0), "30\ndays.", text.index("30"))
    assert found == Excerpt("A rental car is paid for ", "30 days.", "\n\nThen no more.")


@pytest.mark.parametrize(
    "text",
    [
        "# Heading\nText",
        "Cars:\n- small\n- large\n  ones\n* other\n1. first\n2) second",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "> said\n> so",
        "```\ncode\nof two lines\n```\ntext",
        "a break  \nand\\\nanother",
        "Heading\n=======",
        "Vehicle: E-bike; Discount: 10 %\nVehicle: City bike; Discount: 15 %",
    ],
)
def test_lines_that_mean_something_stay_by_themselves(text: str) -> None:
    assert flowing(text) == text


def test_a_quote_that_is_not_in_the_passage_is_not_marked() -> None:
    assert marked(PASSAGE, "elsewhere", 58) == Excerpt(PASSAGE.content or "", "", "")
    assert marked(PASSAGE, None, None) == Excerpt(PASSAGE.content or "", "", "")


def test_passages_that_may_not_be_read_are_not_shown() -> None:
    assert marked(passage(1, content=None, start_char=None), QUOTE, 58) is None
    assert marked(None, QUOTE, 58) is None
