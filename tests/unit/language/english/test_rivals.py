"""A sentence that names another thing than the question is no proof of an answer."""

from __future__ import annotations

import pytest

from pgclarify.language.english.rivals import names_rival, says_opposite
from pgclarify.language.english.support import unmentioned_names


@pytest.mark.parametrize(
    ("question", "support"),
    [
        ("What is the total of INV-1042?", "The total of INV-1043 is 90 euros."),
        ("How many cups does the Model A brew?", "Model B coffee machine\nThe Model B brews four cups."),
        ("How many days of leave were there in 2024?", "Leave policy 2025\nEmployees get 27 days of leave."),
        ("How much does the Alpina desk cost?", "The Alpina chair costs 240 euros."),
        ("How old is the Alpina desk?", "The Alpina shed is two years old."),
        ("Who leads the Hamburg office?", "The Berlin office is led by Petra Lang."),
        ("How much does the Tern NBD cost?", "The Tern GSD costs 4,990 euros."),
        ("What does version 2.6 fix?", "Version 2.4 fixes the login."),
        ("When is check-in?", "Check-out is until 11 am."),
        ("When does the summer course end?", "The winter course ends in May."),
        ("How much do full-time staff get?", "Part-time staff get 12 euros."),
        ("Who is the head of sales?", "Mia Long is the deputy head of sales."),
        ("mayor", "Deputy mayor: Luis Ferrand"),
        ("Who is the treasurer?", "Tim Roth was the treasurer from 2010 to 2018."),
    ],
)
def test_a_support_that_names_another_thing_is_noticed(question: str, support: str) -> None:
    assert names_rival(question, support)


@pytest.mark.parametrize(
    ("question", "support"),
    [
        ("What is the total of INV-1042?", "Invoice inv_1042\nIt follows INV-1041. The total is 90 euros."),
        ("How many cups does the Model A brew?", "Model A and Model B brew four cups."),
        ("When can I leave?", "When A leaves, B stays."),
        ("Who ruled in the mid-1990s?", "In the early 1990s, Ida Holm ruled."),
        ("How many days of leave were there in 2024?", "Employees got 25 days of leave."),
        ("How much does the Alpina desk cost?", "The Alpina chair costs 240 euros, the desk 300."),
        ("How much does the Alpina desk cost?", "The Alpina costs 240 euros."),
        ("How was the BBC signal sent?", "The BBC announced that it transmits from Astra."),
        ("How much does the Tern NBD cost?", "The Tern GSD and the Tern NBD cost 4,990 euros."),
        ("When was Ina Emporor crowned?", "Ina Emperor was crowned in 1700."),
        ("Where did Diogo Cao go?", "Diogo Cão went to the Congo."),
        ("What does version 2.4 fix?", "Version 2.4 fixes the login of version 2.3."),
        ("When does the summer course end?", "Summer and winter course end in May."),
        ("How long is the tour?", "The first is two hours long."),
        ("Who is the head of sales?", "The head of sales is Mia Long, the deputy head Ole Lund."),
        ("Who is the deputy head of sales?", "Mia Long is the deputy head of sales."),
        ("Whom did President Holm meet?", "Former President Holm met Ole Lund."),
        ("When did her career begin?", "Her acting career began in 1999."),
        ("Who was the treasurer?", "Tim Roth was the treasurer from 2010 to 2018."),
    ],
)
def test_a_support_that_names_the_thing_itself_or_none_passes(question: str, support: str) -> None:
    assert not names_rival(question, support)


def test_a_title_for_several_things_names_no_other_thing() -> None:
    assert not names_rival("How long are backups kept on the Seed plan?", "Backups are kept for 7 days.", "Alder plans")
    assert names_rival("How long are backups kept in 2024?", "Backups are kept for 7 days.", "Plans of 2025")


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


def test_a_sentence_with_the_opposite_of_a_word_says_nothing_about_the_word() -> None:
    closed = "The canteen is closed from 24 December to 2 January."
    assert says_opposite("When is the canteen open?", closed, "24 December to 2 January")
    assert not says_opposite("When is the canteen open?", closed, "closed from 24 December on")
    assert not says_opposite("When does the pool open?", "It opens at 7 am and closes at 10 pm.", "7 am")
    free = "A card is free for children and costs 15 euros for adults."
    assert says_opposite("How much is a card for children?", free, "15 euros")
    assert not says_opposite("How much is a card for adults?", free, "15 euros")
    assert not says_opposite("How much do children pay?", "Children and adults pay 7 euros.", "7 euros")
    assert not says_opposite("When is the canteen closed?", closed, "24 December to 2 January")
