"""Another identifier than the one that is asked for, and identifiers that a text does not mention."""

from __future__ import annotations

import pytest

from pgclarify.language.english.identifiers import names_other_identifier
from pgclarify.language.english.support import unmentioned_names


@pytest.mark.parametrize(
    ("question", "support"),
    [
        ("What is the total of INV-1042?", "The total of INV-1043 is 90 euros."),
        ("What is the total of inv_1042?", "It follows INV-1041. The total is 90 euros."),
        ("How many cups does the Model A brew?", "Model B coffee machine\nThe Model B brews four cups."),
        ("What does Lunar 3.1 fix?", "Lunar 3.2 fixes the login."),
        # One of two is another one.
        ("How do INV-1042 and INV-1043 differ?", "INV-1043 is paid."),
    ],
)
def test_another_identifier_with_the_same_letters_is_noticed(question: str, support: str) -> None:
    assert names_other_identifier(question, support)


@pytest.mark.parametrize(
    ("question", "support"),
    [
        ("What is the total of INV-1042?", "Invoice inv_1042\nIt follows INV-1041. The total is 90 euros."),
        ("What is the total of INV-1042?", "The total is 90 euros. PO-7 is another paper."),
        ("How many cups does the Model A brew?", "Model A and Model B brew four cups."),
        ("When can I leave?", "When A leaves, B stays."),
        ("Who ruled in the mid-1990s?", "In the early-1980s, Ida Holm ruled."),
        ("What does Lunar 3.1 fix?", "Lunar 3.1 fixes the login of Lunar 3.0."),
        ("What is the total?", "The total of INV-1043 is 90 euros."),
    ],
)
def test_the_identifier_itself_or_none_of_its_kind_is_no_other(question: str, support: str) -> None:
    assert not names_other_identifier(question, support)


@pytest.mark.parametrize(
    ("identifier", "text"),
    [
        ("3.2", "2.9 and 13.2"),
        ("INV-9", "INV-99 is paid."),
        ("PO2033", "PO20331 is paid."),
        ("Heron-112", "Heron-7, 112 m"),
    ],
)
def test_a_part_of_an_identifier_does_not_mention_it(identifier: str, text: str) -> None:
    assert unmentioned_names(f"When is {identifier} due?", text) == [identifier.lower()]


def test_a_part_of_a_title_in_quotation_marks_does_not_mention_it() -> None:
    question = 'When was the album "Red Harbor" released?'
    assert unmentioned_names(question, 'The single "Old Harbor" was released in 1965.') == ["red"]
    assert not unmentioned_names(question, "It came after Red Harbor.")
    assert not unmentioned_names("When was Red Harbor released?", "Harbor was released in 1965.")
