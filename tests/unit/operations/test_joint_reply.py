"""What a reply about several passages says of each: whose a quote is, and whose words a reading has."""

from __future__ import annotations

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.language.english import borrowed_words
from pgclarify.language.english.words import all_stems
from pgclarify.operations.judging.joint_reply import Said, settled
from pgclarify.prompts.joint_verdicts import JointVerdicts, ProvenReading

QUESTION = "What does it cost?"
CAR = "A car costs 30 dollars a day."
BOAT = "A boat costs 90 dollars a day."
HOUSE = "The house was built in 1931."
OF_CAR = ProvenReading("What does a car cost a day?", "30 dollars", ((0, CAR),))
OF_BOAT = ProvenReading("What does a boat cost a day?", "90 dollars", ((1, BOAT),))


def passages(*contents: str) -> list[Passage]:
    return [Passage(f"document-{place}", place, content) for place, content in enumerate(contents)]


def said(
    *readings: ProvenReading, contents: tuple[str, ...] = (CAR, BOAT, HOUSE), is_whole: bool = True
) -> list[Said | None]:
    return settled(JointVerdicts(readings, is_whole), QUESTION, passages(*contents))


def answers(one: Said | None) -> list[tuple[str, int]] | StopCode | None:
    return [(each.answer, each.ordinal) for each in one] if isinstance(one, tuple) else one


def test_each_passage_has_what_it_proves() -> None:
    assert [*map(answers, said(OF_CAR, OF_BOAT))] == [
        [("30 dollars", 1)],
        [("90 dollars", 2)],
        StopCode.NOT_ANSWERED,
    ]


def test_a_passage_may_have_several_readings() -> None:
    day, place = "The fair is on 3 May.", "It is at the pier."
    both = (
        ProvenReading("When is the fair?", "3 May", ((0, day),)),
        ProvenReading("Where is the fair?", "the pier", ((0, place),)),
    )
    assert answers(said(*both, contents=(f"{day} {place}", HOUSE))[0]) == [("3 May", 1), ("the pier", 2)]


def test_a_quote_of_one_other_passage_belongs_to_that_one() -> None:
    mixed_up = ProvenReading("What does a boat cost a day?", "90 dollars", ((2, BOAT),))
    assert [*map(answers, said(mixed_up))] == [StopCode.NOT_ANSWERED, [("90 dollars", 1)], StopCode.NOT_ANSWERED]


def test_a_quote_of_several_other_passages_is_asked_about_again() -> None:
    mixed_up = ProvenReading("What does a boat cost a day?", "90 dollars", ((2, BOAT),))
    assert answers(said(mixed_up, contents=(BOAT, BOAT + " Always.", HOUSE))[2]) is None


def test_a_quote_that_its_passage_does_not_prove_is_asked_about_again() -> None:
    mixed_up = ProvenReading("What does a car cost a day?", "40 dollars", ((2, BOAT),))
    assert answers(said(mixed_up)[2]) is None


def test_a_quote_that_stands_nowhere_is_asked_about_again() -> None:
    invented = ProvenReading("What does a car cost a day?", "30 dollars", ((0, "Cars are 30 dollars."),))
    assert [*map(answers, said(invented, OF_BOAT))] == [None, [("90 dollars", 2)], StopCode.NOT_ANSWERED]


@pytest.mark.parametrize("place", [-1, 3])
def test_a_quote_with_a_number_of_no_passage_belongs_to_the_one_that_has_it(place: int) -> None:
    miscounted = ProvenReading("What does a boat cost a day?", "90 dollars", ((place, BOAT),))
    assert [*map(answers, said(miscounted))] == [StopCode.NOT_ANSWERED, [("90 dollars", 1)], StopCode.NOT_ANSWERED]
    invented = ProvenReading("What does a boat cost a day?", "90 dollars", ((place, "Boats are dear."),))
    assert [*map(answers, said(invented))] == [StopCode.NOT_ANSWERED] * 3


def test_a_passage_without_a_quote_is_asked_about_again() -> None:
    unproven = ProvenReading("What does a car cost a day?", "30 dollars", ((0, ""),))
    assert [*map(answers, said(unproven, OF_BOAT))] == [None, [("90 dollars", 2)], StopCode.NOT_ANSWERED]


def test_after_a_cut_passages_without_a_reading_are_asked_about_again() -> None:
    assert [*map(answers, said(OF_CAR, is_whole=False))] == [[("30 dollars", 1)], None, None]


@pytest.mark.parametrize(
    ("own", "other", "answer", "is_again"),
    [
        ("Boats are insured.", "No car is insured.", "no", True),
        ("Cars aren't insured.", "No boat is insured.", "no", False),
        ("Boats are insured.", "Cars cost 90 dollars.", "insured for 90 dollars", True),
        # Words without meaning tell nothing.
        ("Boats are insured.", "It depends if it rains.", "if they are boats", False),
    ],
)
def test_words_without_meaning_and_negations_of_the_own_passage_lean_on_none(
    own: str, other: str, answer: str, is_again: bool
) -> None:
    reading = ProvenReading("Are they insured?", answer, ((0, own),))
    (found, _) = said(reading, contents=(own, other))
    assert (found is None) is is_again


def leaning(interpretation: str, contents: tuple[str, ...] = (CAR, BOAT, HOUSE)) -> tuple[str, ...]:
    (reading,) = said(ProvenReading(interpretation, "30 dollars", ((0, CAR),)), contents=contents)[0] or ()
    assert isinstance(reading, Reading)
    return reading.leans_on


def test_a_reading_leans_on_the_first_passage_that_has_its_other_words() -> None:
    assert leaning("What does a car cost a day?") == ()
    assert leaning("What does a car of 1931 cost?") == ("document-2",)
    assert leaning("What does a car cost, not a boat built in 1931?") == ("document-1", "document-2")
    assert leaning("What does a car of 1931 cost?", (CAR, HOUSE, HOUSE + " Really.")) == ("document-1",)


def test_a_word_of_no_passage_is_the_models_own() -> None:
    assert leaning("How expensive is a car?") == ()


def test_the_words_of_a_passage_are_read_once_for_all_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    # No other run of the worker goes on meanwhile.
    read: list[str] = []

    def stems(text: str) -> frozenset[str]:
        read.append(text)
        return all_stems(text)

    monkeypatch.setattr(borrowed_words, "all_stems", stems)
    contents = tuple(f"Boat {place} costs {place + 10} dollars." for place in range(20))
    readings = [
        ProvenReading(f"What does boat {place} cost?", f"{place + 10} dollars", ((place, content),))
        for place, content in enumerate(contents)
    ]
    assert all(isinstance(one, tuple) for one in said(*readings, contents=contents))
    assert all(read.count(one) == 1 for one in contents)


def test_an_answer_with_words_of_another_document_is_asked_about_again() -> None:
    # As a hostile document may bring a model to write it.
    mixed = ProvenReading("What does a car cost a day?", "30 dollars, built in 1931", ((0, CAR),))
    assert answers(said(mixed)[0]) is None


def test_words_of_scripts_without_blanks_are_told_apart() -> None:
    own, other = "每天的费用是四十欧元。", "费用已被王小明取消。"
    honest = ProvenReading("每天的费用是多少?", "四十欧元", ((0, own),))
    mixed = ProvenReading("每天的费用是多少?", "四十欧元 已被王小明取消", ((0, own),))
    asked, shown = "费用是多少?", passages(own, other)
    assert answers(settled(JointVerdicts((honest,)), asked, shown)[0]) == [("四十欧元", 1)]
    assert answers(settled(JointVerdicts((mixed,)), asked, shown)[0]) is None
