"""Which forms of a word count as one word."""

from __future__ import annotations

import pytest

from pgclarify.language.english.stems import stem


@pytest.mark.parametrize(
    "forms",
    [
        ("cancel", "cancels", "cancelled", "cancelling", "cancellation", "cancellations"),
        ("taxi", "taxis"),
        ("policy", "policies"),
        ("pie", "pies"),
        ("glass", "glasses"),
        ("status",),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    ("first", "second"), [("bus", "bu"), ("gas", "ga"), ("statue", "status"), ("pass", "past"), ("ring", "red")]
)
def test_other_words_have_other_stems(first: str, second: str) -> None:
    assert stem(first) != stem(second)
