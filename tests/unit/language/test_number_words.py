"""Numbers in texts of other languages than English: whole, in one notation, and some number words."""

from __future__ import annotations

import pytest

from pgclarify.language.number_words import digits, numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1.200,50 €", {"1200.50"}),
        ("1,200.50 € or 1 200,50 €", {"1200.50"}),
        ("1,25", {"1.25"}),
        ("12,5000", {"12.5000"}),
        ("5,00", {"5"}),
        ("14.10.2026, 14. 10. 2026", {"14.10.2026"}),
        ("17 h 30, 17:30, 17.30", {"17.30"}),
        ("Am 5. Mai zahlt 1 Person", {"5", "1"}),
        ("２０００円", {"2000"}),
        ("50²", {"50"}),
        ("zwei", set()),
    ],
)
def test_digits_are_read_in_one_notation(text: str, found: set[str]) -> None:
    assert digits(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("14.10.2026 um neun", {"14.10.2026", "14", "10", "2026", "9"}),
        ("Raum 12 500 Personen", {"12500", "12", "500"}),
        ("19.30 Uhr", {"19.30"}),
        ("DREISSIG Bücher, fünf Filme", {"30", "5"}),
        ("三十五台, 二百, 二〇二六年", {"35", "200", "2026"}),
        ("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf", set(map(str, range(2, 13)))),
        ("dos tres cuatro cinco seis siete ocho nueve diez once doce", set(map(str, range(2, 13)))),
    ],
)
def test_parts_and_words_of_a_text_are_numbers_too(text: str, found: set[str]) -> None:
    assert numbers(text) == found
