"""Text of other authors is sanitized before people see it."""

from __future__ import annotations

import pytest

from pgclarify.language.foreign_text import sanitize


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with ümlauts and 漢字", "plain, with ümlauts and 漢字"),
        ("\x1b[2J\x07", "\\u001b[2J\\u0007"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("\udc80", "\\udc80"),
        ("\U000e0001", "\\U000e0001"),
        ("one\u2028two", "one\\u2028two"),
        ("क\u200dष", "क\u200dष"),
        ("\x00", "\\u0000"),
    ],
)
def test_characters_that_a_program_acts_on_are_spelt_out(text: str, shown: str) -> None:
    assert sanitize(text) == shown


def test_line_feeds_stay_where_they_are_wanted() -> None:
    assert sanitize("one\n\ttwo\r", kept="\n\t") == "one\n\ttwo\\u000d"
    assert sanitize("one\ntwo") == "one\\u000atwo"
