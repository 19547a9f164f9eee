"""Amounts that a sentence gives for one thing do not answer a question about another one."""

from __future__ import annotations

import pytest

from pgclarify.language.english.exceptions import is_amount_of_another

HOTELS = "Hotels are paid up to 120 EUR a night, in Paris and London up to 180 EUR."
LUNCH = "Lunch costs 6.50 EUR, for guests 9 EUR."
ENTRY = "Adults pay 12 EUR and children 6 EUR."
MEMBERS = "Membership costs 30 EUR a month, or 300 EUR a year if paid in advance."


@pytest.mark.parametrize(
    ("sentence", "asked", "right", "wrong"),
    [
        (HOTELS, "How much is paid for a hotel in Paris?", "up to 180 EUR", "up to 120 EUR a night"),
        (LUNCH, "How much is lunch for guests?", "9 EUR", "6.50 EUR"),
        (ENTRY, "What do children pay?", "6 EUR", "12 EUR"),
        (MEMBERS, "How much is membership a year?", "300 EUR a year", "30 EUR a month"),
        ("A card costs 37 EUR; for guests it costs 22 EUR.", "How much is a card for guests?", "22 EUR", "37 EUR"),
        ("Parking costs 5 EUR; the gym costs 20 EUR.", "How much is parking?", "5 EUR", "20 EUR"),
        ("The tour takes 2 hours, the registration 10 minutes.", "How long is the tour?", "2 hours", "10 minutes"),
        ("The tour takes two hours, the registration one day.", "How long is the tour?", "two hours", "one day"),
        ("A room costs CHF 90, a towel CHF 3.", "How much is a room?", "CHF 90", "CHF 3"),
        ("Staff in Berlin get 28 days, those in Paris 25 days.", "days of staff in Berlin", "28 days", "25 days"),
    ],
)
def test_an_amount_belongs_to_its_part_of_the_sentence(sentence: str, asked: str, right: str, wrong: str) -> None:
    assert not is_amount_of_another(asked, right, sentence)
    assert is_amount_of_another(asked, wrong, sentence)


@pytest.mark.parametrize(
    ("sentence", "asked", "answer"),
    [
        # Several amounts, other units, or one part.
        (ENTRY, "What does entry cost?", "Adults pay 12 EUR and children 6 EUR"),
        ("It takes 3 days and costs 40 EUR.", "How long does delivery take, and what does it cost?", "3 days"),
        ("Bags of 10, 20 or 30 kg are sold.", "How heavy are the bags?", "20 kg"),
        ("Founded in 1999 in Paris, the company moved to London in 2005.", "When was the company founded?", "1999"),
        (
            "In 2024 the budget was 5 million EUR, of which 2 million EUR went to Paris.",
            "budget in 2024",
            "5 million EUR",
        ),
    ],
)
def test_other_amounts_are_no_amounts_of_another(sentence: str, asked: str, answer: str) -> None:
    assert not is_amount_of_another(asked, answer, sentence)
