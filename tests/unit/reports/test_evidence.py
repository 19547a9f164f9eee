"""Quotes in their passages."""

from __future__ import annotations

import pytest

from pgclarify.reports.evidence import Excerpt, marked, marked_proof
from tests.reported import QUOTE, passage, proof

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


def test_of_equal_quotes_the_one_that_is_meant_is_marked() -> None:
    twice = passage(1, content=f"{QUOTE} {QUOTE}", start_char=50)
    assert marked(twice, QUOTE, 50 + len(QUOTE) + 1) == Excerpt(f"{QUOTE} ", QUOTE, "")


def test_what_does_not_stand_there_is_not_marked() -> None:
    assert marked(PASSAGE, "elsewhere", 58) == Excerpt(PASSAGE.content or "", "", "")
    assert marked(PASSAGE, None, None) == Excerpt(PASSAGE.content or "", "", "")


def test_what_cannot_be_read_is_not_shown() -> None:
    unseen = passage(1, content=None, start_char=None)
    assert marked(unseen, QUOTE, 58) is None
    assert marked_proof(proof(PASSAGE), unseen) is None
    assert marked_proof(proof(PASSAGE), None) is None
