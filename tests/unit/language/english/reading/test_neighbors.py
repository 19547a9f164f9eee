"""Which texts are about a neighbor of what is asked."""

from __future__ import annotations

import pytest

from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.neighbors import is_of_neighbor
from pgclarify.language.english.words import content_stems


@pytest.mark.parametrize(
    ("question", "text", "is_about_another"),
    [
        ("What does the policy pay if my phone is stolen?", "The policy pays 2,500 dollars for a stolen car.", True),
        ("What does the policy pay if my phone is stolen?", "The policy pays 300 dollars for a stolen phone.", False),
        ("How many days of holiday do drivers get?", "Drivers get 25 days.", True),
        # One word says all.
        ("How much is membership?", "Every year, 20 pounds are due.", False),
        # Another form, the noun that says the kind of the answer, and a preposition.
        ("How long are the numbers of visitors stored?", "Numbers of each visit are stored for a year.", False),
        ("At what temperature are red vaccines kept?", "Keep red vaccines below 4 degrees.", False),
        ("What do members outside the district pay?", "Other members of the district pay 20 pounds.", False),
        # No measure.
        ("Does a factory reset delete snapshots?", "A factory reset deletes all data.", False),
    ],
)
def test_a_measure_is_told_of_all_nouns(question: str, text: str, is_about_another: bool) -> None:
    assert is_of_neighbor(Asked.read(question), content_stems(text)) is is_about_another
