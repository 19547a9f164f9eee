from __future__ import annotations

import pytest

from pgclarify.language.english.reading.answer_types import AnswerType, expected_type, is_question
from pgclarify.language.english.reading.spans import find_spans


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much does towing cost?", AnswerType.AMOUNT),
        ("What is the price of a rental car?", AnswerType.AMOUNT),
        ("What does the policy pay if my phone is stolen?", AnswerType.AMOUNT),
        ("What do I pay for parking?", AnswerType.AMOUNT),
        ("What does the policy pay for?", AnswerType.CLAUSE),
        ("What does the policy pay for if my phone is stolen?", AnswerType.CLAUSE),
        ("What percentage of the bill is paid?", AnswerType.PERCENTAGE),
        ("How long does it last?", AnswerType.DURATION),
        ("How many days do I have?", AnswerType.DURATION),
        ("How often are premiums due?", AnswerType.FREQUENCY),
        ("In what year was it founded?", AnswerType.DATE),
        ("When does coverage start?", AnswerType.DATE),
        ("How many drivers are insured?", AnswerType.COUNT),
        ("Who approves a claim?", AnswerType.PERSON),
        ("Where is the office?", AnswerType.PLACE),
        ("Which company runs the line?", AnswerType.ORGANIZATION),
        ("What is a deductible?", AnswerType.DEFINITION),
        ("How do I cancel my policy?", AnswerType.STEPS),
        ("Does the policy cover floods?", AnswerType.YES_NO),
        ("What documents do I need?", AnswerType.LIST),
        ("Why did the premium rise?", AnswerType.REASON),
        ("China announced what in 2006?", AnswerType.CLAUSE),
    ],
)
def test_a_question_tells_what_it_asks_for(question: str, expected: AnswerType) -> None:
    assert expected_type(question) is expected
    assert is_question(question)


@pytest.mark.parametrize("text", ["rental cars", "deductible", "", "?", "can opener"])
def test_a_few_words_are_no_question(text: str) -> None:
    assert not is_question(text)


@pytest.mark.parametrize(
    ("kind", "sentence", "expected"),
    [
        (AnswerType.AMOUNT, "We pay up to $1,250.50 per trip.", ["up to $1,250.50 per trip"]),
        (AnswerType.AMOUNT, "It was sold for 3.5 million dollars, or €20.", ["3.5 million dollars", "€20"]),
        (AnswerType.AMOUNT, "| Ten visits | 48 € | 25 € |", ["48 €", "25 €"]),
        (AnswerType.PERCENTAGE, "About 12.5% of it, and 3 percent more.", ["About 12.5%", "3 percent"]),
        (
            AnswerType.DURATION,
            "It takes 10 business days or at least two weeks.",
            ["10 business days", "at least two weeks"],
        ),
        (AnswerType.DURATION, "We pay $40 a day.", []),
        (AnswerType.FREQUENCY, "Billed every three months, twice a year.", ["every three months", "twice a year"]),
        (
            AnswerType.DATE,
            "From 2 November 2006 to May 3, 2010 at 5 p.m.",
            ["2 November 2006 to May 3, 2010", "5 p.m."],
        ),
        (AnswerType.DATE, "In the late 19th century and the 1920s.", ["late 19th century", "1920s"]),
        (AnswerType.COUNT, "It has 1,200 employees and two dogs but $5.", ["1,200", "two"]),
        (AnswerType.PERSON, "In 1921 Ada Quill founded it.", ["Ada Quill"]),
        (AnswerType.PLACE, "The office is at 12 Harbor Street, Salem.", ["Harbor Street"]),
        (AnswerType.ORGANIZATION, "She left the Harbor Insurance Company.", ["Harbor Insurance Company"]),
    ],
)
def test_spans_of_each_kind(kind: AnswerType, sentence: str, expected: list[str]) -> None:
    assert [sentence[span.start : span.end] for span in find_spans(sentence, kind)] == expected
