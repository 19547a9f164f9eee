"""Which texts are about a neighbor of what is asked."""

from __future__ import annotations

import pytest

from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.neighbors import is_of_neighbor
from pgclarify.language.english.words import content_stems


@pytest.mark.parametrize(
    ("question", "text", "is_about_another"),
    [
        ("What happens if my phone is stolen abroad?", "If a rental car is stolen abroad, call us.", True),
        ("What happens if my phone is stolen abroad?", "If a phone is stolen abroad, call us.", False),
        ("Does a factory reset delete snapshots?", "A factory reset deletes all data.", True),
        # Other words for most of it.
        ("Does the cover hide sites from my provider?", "Your provider still sees what you visit.", False),
        ("Why are the numbers of visits different?", "The numbers of visits have many differences.", False),
        # The noun that says the kind of the answer, the verb of "who", and a preposition.
        ("At what temperature are red vaccines kept?", "Keep red vaccines below 4 degrees.", False),
        ("Who teaches field mapping?", "Field mapping: Ruth Adeyemi", False),
        ("What do members outside the district pay?", "Other members of the district pay 20 pounds.", False),
    ],
)
def test_a_text_with_most_words_but_another_noun_is_about_a_neighbor(
    question: str, text: str, is_about_another: bool
) -> None:
    assert is_of_neighbor(Asked.read(question), content_stems(text)) is is_about_another
