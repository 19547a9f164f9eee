"""Measures in one notation."""

from __future__ import annotations

import pytest

from pgclarify.language.english.measures import write_spoken


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("from nine o'clock to half past eleven", "from 9:00 to 11:30"),
        ("a quarter past six, quarter to one", "6:15, 0:45"),
        ("ten minutes to nine, twenty past 4", "8:50, 4:20"),
        ("at noon or at 12 midnight", "at 12:00 or at 0:00"),
        ("a dozen eggs, two dozen rolls", "12 eggs, 24 rolls"),
        ("half an hour, an hour and a quarter", "30 minutes, 75 minutes"),
        ("two and a half years", "2.5 years"),
        # No times of day.
        ("open from five to nine", "open from five to nine"),
        ("half past thirty", "half past thirty"),
        ("30 minutes to 2 hours", "30 minutes to 2 hours"),
        ("the quarter to 5 April", "the quarter to 5 April"),
        ("the past two years", "the past two years"),
    ],
)
def test_spoken_times_and_counts_are_written_in_digits(text: str, written: str) -> None:
    assert write_spoken(text) == written
