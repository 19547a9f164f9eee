from __future__ import annotations

import pytest

from pgclarify.language.sentences import Kind
from pgclarify.providers.extractive.answer_types import AnswerType
from pgclarify.providers.extractive.evidence import Evidence
from pgclarify.providers.extractive.statements import draft_readings
from pgclarify.providers.extractive.topics import read_topic, stand_alone


def first_draft(sentence: str, heading: str = "Rental reimbursement") -> tuple[AnswerType, str, str] | None:
    topic = read_topic("Auto guide", heading, sentence)
    draft = next(iter(draft_readings(Evidence(sentence, 0, Kind.PROSE), topic, sentence)), None)
    return (draft.kind, draft.question, draft.answer) if draft else None


@pytest.mark.parametrize(
    ("sentence", "kind", "question", "answer"),
    [
        (
            "Rental reimbursement pays up to $40 a day for a rental car while yours is being repaired.",
            AnswerType.AMOUNT,
            "How much does rental reimbursement pay for a rental car while mine is being repaired?",
            "up to $40 a day",
        ),
        (
            "We pay up to $40 a day for a taxi, for at most 30 days.",
            AnswerType.AMOUNT,
            "How much does rental reimbursement pay for a taxi?",
            "up to $40 a day",
        ),
        ("There is a $25 fee for late returns.", AnswerType.AMOUNT, "How much is the fee for late returns?", "$25"),
        (
            "A fee of thirty dollars applies to every late return.",
            AnswerType.AMOUNT,
            "How much is the fee for every late return?",
            "thirty dollars",
        ),
        (
            "After the first 14 days, a cancellation fee of $35 applies.",
            AnswerType.AMOUNT,
            "How much is the cancellation fee after the first 14 days?",
            "$35",
        ),
        (
            "The plan pays 80% of repair costs after the deductible.",
            AnswerType.PERCENTAGE,
            "What percentage of repair costs does the plan pay after the deductible?",
            "80%",
        ),
        (
            "Students with good grades get a 10% discount.",
            AnswerType.PERCENTAGE,
            "How large is the discount for students with good grades?",
            "10%",
        ),
        (
            "Rental reimbursement lasts up to 30 days.",
            AnswerType.DURATION,
            "How long does rental reimbursement last?",
            "up to 30 days",
        ),
        (
            "You must report a theft within 24 hours.",
            AnswerType.DURATION,
            "How soon must I report a theft?",
            "within 24 hours",
        ),
        (
            "A 14-day waiting period applies to trip claims.",
            AnswerType.DURATION,
            "How long is the waiting period for trip claims?",
            "14-day",
        ),
        (
            "We must give you at least 30 days' notice before we cancel your policy.",
            AnswerType.DURATION,
            "How much notice must you give me before you cancel my policy?",
            "at least 30 days' notice",
        ),
        (
            "Premiums are billed every three months.",
            AnswerType.FREQUENCY,
            "How often are premiums billed?",
            "every three months",
        ),
        (
            "Your coverage starts on January 1, 2025.",
            AnswerType.DATE,
            "When does my coverage start?",
            "January 1, 2025",
        ),
        (
            "Ana Brill became chief executive in May 2023.",
            AnswerType.DATE,
            "When did Ana Brill become chief executive?",
            "May 2023",
        ),
        (
            "The policy covers two drivers in the household.",
            AnswerType.COUNT,
            "How many drivers does the policy cover in the household?",
            "two",
        ),
        ("Maria Lopez approves long rentals.", AnswerType.PERSON, "Who approves long rentals?", "Maria Lopez"),
        ("Janet McBride approves long rentals.", AnswerType.PERSON, "Who approves long rentals?", "Janet McBride"),
        ("APT checks the signatures of packages.", AnswerType.NAME, "What checks the signatures of packages?", "APT"),
        (
            "A deductible is the amount you pay before insurance pays.",
            AnswerType.DEFINITION,
            "What is a deductible?",
            "the amount you pay before insurance pays",
        ),
        (
            "To cancel your policy, call 1-800-555-0100 or sign in.",
            AnswerType.STEPS,
            "How do I cancel my policy?",
            "call 1-800-555-0100 or sign in",
        ),
        (
            "You may drive a rental car abroad only with our written consent.",
            AnswerType.CLAUSE,
            "When may I drive a rental car abroad?",
            "only with our written consent",
        ),
        (
            "If you cancel within 14 days, we refund the full premium.",
            AnswerType.CLAUSE,
            "What happens if I cancel within 14 days?",
            "we refund the full premium",
        ),
        (
            "The plan covers hail, fire, theft and falling trees.",
            AnswerType.LIST,
            "What does the plan cover?",
            "hail, fire, theft and falling trees",
        ),
        (
            "Flood damage is not covered by the standard policy.",
            AnswerType.YES_NO,
            "Is flood damage covered by the standard policy?",
            "No",
        ),
        (
            "The program lowers your deductible by $100 for every year without a claim.",
            AnswerType.AMOUNT,
            "By how much does the program lower my deductible for every year without a claim?",
            "$100",
        ),
        ("Repairs cost from $39 a day.", AnswerType.AMOUNT, "How much do repairs cost?", "from $39 a day"),
        (
            "Drivers must be at least 21 years old.",
            AnswerType.COUNT,
            "How old must drivers be?",
            "at least 21 years old",
        ),
        (
            "You may pay once a year, every three months or every month.",
            AnswerType.FREQUENCY,
            "How often may I pay?",
            "once a year, every three months or every month",
        ),
        (
            "You may appeal within one year of our answer.",
            AnswerType.DURATION,
            "Within what time may I appeal?",
            "within one year of our answer",
        ),
        (
            "Send us the receipts within 60 days.",
            AnswerType.DURATION,
            "How soon must I send you the receipts?",
            "within 60 days",
        ),
        ("Small repairs take two days.", AnswerType.DURATION, "How long do small repairs take?", "two days"),
        (
            "Body Works guarantees paint for five years.",
            AnswerType.DURATION,
            "How long does Body Works guarantee paint?",
            "for five years",
        ),
        (
            "Jewelry, watches and furs are covered for up to $3,000.",
            AnswerType.AMOUNT,
            "Up to what amount are jewelry, watches and furs covered?",
            "up to $3,000",
        ),
        (
            "A car is a total loss if the repair costs too much.",
            AnswerType.CLAUSE,
            "When is a car a total loss?",
            "if the repair costs too much",
        ),
        (
            "The policy does not cover your car while it is rented out.",
            AnswerType.YES_NO,
            "Does the policy cover my car while it is rented out?",
            "No",
        ),
        (
            "Travel claims must be filed within 45 days.",
            AnswerType.DURATION,
            "How soon must travel claims be filed?",
            "within 45 days",
        ),
        (
            "The rate for theft applies to fire as well, at least $30 a month.",
            AnswerType.YES_NO,
            "Does the rate for theft apply to fire?",
            "Yes",
        ),
        (
            "The plan pays half of the cost of a hotel.",
            AnswerType.PERCENTAGE,
            "What percentage of the cost of a hotel does the plan pay?",
            "half",
        ),
        (
            "Homes with a valve get a discount of 5 percent on their premium.",
            AnswerType.PERCENTAGE,
            "How large is the discount for homes with a valve?",
            "5 percent",
        ),
        (
            "A discount of 8 percent is given for a sprinkler.",
            AnswerType.PERCENTAGE,
            "How large is the discount for a sprinkler?",
            "8 percent",
        ),
        (
            "The discount is 10 percent for cars that are driven less than 7,500 miles a year.",
            AnswerType.PERCENTAGE,
            "What is the discount for cars that are driven less than 7,500 miles a year?",
            "10 percent",
        ),
        (
            "Pupils with a permit are covered at no extra cost.",
            AnswerType.AMOUNT,
            "At what cost are pupils with a permit covered?",
            "at no extra cost",
        ),
        (
            "The plan pays up to $900 for the house and up to $60 for the shed.",
            AnswerType.AMOUNT,
            "How much does the plan pay for the house?",
            "up to $900",
        ),
        (
            "Overpayments are refunded within 5 days to the account from which they came.",
            AnswerType.DURATION,
            "How soon are overpayments refunded to the account?",
            "within 5 days",
        ),
        (
            "The storm of 22 January led to 96 claims in Sandry County.",
            AnswerType.COUNT,
            "How many claims did the storm of 22 January lead to in Sandry County?",
            "96",
        ),
        (
            "After an accident that you caused, the premium rises by 20 percent.",
            AnswerType.PERCENTAGE,
            "By how much does the premium rise after an accident that I caused?",
            "20 percent",
        ),
        (
            "Members get a car for up to three days after a breakdown.",
            AnswerType.DURATION,
            "How long do members get a car after a breakdown?",
            "for up to three days",
        ),
        (
            "If you wait, the premium is 25 percent lower.",
            AnswerType.PERCENTAGE,
            "How much lower is the premium if I wait?",
            "25 percent",
        ),
        (
            "From 1 July 2026, premiums rise by 4 percent.",
            AnswerType.PERCENTAGE,
            "By how much do premiums rise from 1 July 2026?",
            "4 percent",
        ),
        (
            "The plan pays up to $900 for lawyers, lost wages and fees.",
            AnswerType.AMOUNT,
            "How much does the plan pay for lawyers, lost wages and fees?",
            "up to $900",
        ),
        (
            "A flood is water that rises from the sea, a river or the street.",
            AnswerType.DEFINITION,
            "What is a flood?",
            "water that rises from the sea, a river or the street",
        ),
        (
            "Any ring worth more than $2,500 needs an appraisal, and it must be new.",
            AnswerType.CLAUSE,
            "What does any ring worth more than $2,500 need?",
            "an appraisal",
        ),
    ],
)
def test_every_kind_of_statement_becomes_a_question(
    sentence: str, kind: AnswerType, question: str, answer: str
) -> None:
    assert first_draft(sentence) == (kind, question, answer)


@pytest.mark.parametrize(
    "sentence",
    [
        "The board discussed rental cars on 3 March.",
        "Our lobby has brochures about rental cars from local companies.",
        "I paid $45 a day for the rental car.",
        "Mr. Dole reported that glass claims rose by 12% last year.",
        "The same deductible applies as on your own car.",
        "Rental cars!",
        "A complaint may be about anything.",
        "Theft is not covered unless we have agreed to it.",
        "The policy is sold for all trips of a year.",
        "If it succeeds, you get your payment back.",
        "Send them to us within 60 days.",
        "You are free to choose another shop.",
        "You canceled your policy on 2 April.",
        "The refund should have reached you within 14 days.",
        "A refund of $318 was sent to you.",
        "Answered by the travel desk, updated on 1 April 2026.",
        "Theft and fire remain insured in the garage.",
        "Storm, hail, water: no two days are alike.",
        "Outside the city you don't: we pay up to $2,500.",
        "You get a car after a breakdown more than 100 miles from home.",
        "We met after the storm of 1 June.",
        "The company has opened three drive-in centers.",
        "Without one, the discount ends on 1 February.",
        "You need the Flood endorsement for that.",
        "There is a discount of 10 percent on both.",
        "If the answer to both is no, the plan ends.",
        "If a claim is filed, it asks for the following:",
        "To cancel your policy, see the Gold guide.",
        "The fair was held - by mail - from August 23rd to 29th, 2020.",
        "Two accidents are two claims.",
        "",
    ],
)
def test_what_only_touches_a_topic_answers_nothing(sentence: str) -> None:
    assert first_draft(sentence) is None


def test_pronouns_give_way_to_what_the_heading_names() -> None:
    assert first_draft("It pays up to $20 a day.") == (
        AnswerType.AMOUNT,
        "How much does rental reimbursement pay?",
        "up to $20 a day",
    )
    assert first_draft("It pays up to $20 a day.", heading="Notes") is None


@pytest.mark.parametrize(
    ("before", "sentence", "question"),
    [
        ("The glass deductible is $100.", "It lasts three years.", "How long does the glass deductible last?"),
        ("Repairs are free.", "They take two days.", "How long do repairs take?"),
        ("We pay the shop.", "It lasts three years.", None),
        ("Customers of ours can cancel.", "This takes two days.", None),
    ],
)
def test_pronouns_mean_the_subject_of_the_sentence_before(before: str, sentence: str, question: str | None) -> None:
    passage = f"{before} {sentence}"
    topic = read_topic("Notes", None, passage)
    evidence = Evidence(sentence, len(before) + 1, Kind.PROSE, before=before)
    draft = next(iter(draft_readings(evidence, topic, passage)), None)
    assert (draft and draft.question) == question


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Alice was here on Monday.", "When was Alice here?"),
        ("Alice and Bob were here on Monday.", "When were Alice and Bob here?"),
        ("Premiums rose by 12% in 2024.", "By how much did premiums rise in 2024?"),
        ("Rent was $900 a month.", "How much was rent?"),
        ("Fuel costs $5 a gallon.", "How much does fuel cost a gallon?"),
        ("Payment was due on Monday.", "When was payment due?"),
        ("The plan costs $9, the Theft plan $5.", "How much does the plan cost?"),
    ],
)
def test_names_keep_their_capitals(sentence: str, question: str) -> None:
    draft = first_draft(sentence, heading="Notes")
    assert draft is not None
    assert draft[1] == question


@pytest.mark.parametrize(
    ("title", "heading", "question", "expected"),
    [
        ("Gold Policy, Form GA-3", "Overview", "How much is the fee?", "How much is the fee under the Gold Policy?"),
        ("Endorsement G-1: Glass Cover", None, "Is it free?", "Is it free under the Glass Cover endorsement?"),
        ("The Gold program", None, "How much does this program pay?", "How much does the Gold program pay?"),
        ("The Gold plan", None, "How much does this plan pay?", "How much does the Gold plan pay?"),
        ("Gold Policy", None, "How much does the Gold Policy pay?", "How much does the Gold Policy pay?"),
        ("Gold Auto Policy", None, "What happens if I move?", "What happens under the Gold Auto Policy if I move?"),
        ("faq.md", None, "How much is the fee?", "How much is the fee?"),
        ("Coverage", None, "How much is the fee?", "How much is the fee?"),
        ("Young drivers", "Rates", "How large is the surcharge?", "How large is the surcharge (young drivers)?"),
        ("Gold Policy", None, "Does the Home Policy cover it?", "Does the Home Policy cover it?"),
        ("Letter", "Rental car", "How soon is the receipt due?", "How soon is the receipt due (rental car)?"),
        ("Letter", "Your vote", "How often is it held?", "How often is it held (your vote)?"),
        ("FAQ", "Canceling your order", "How much is the fee?", "How much is the fee (canceling your order)?"),
        ("FAQ", "How do I cancel my order?", "How much is the fee?", "How much is the fee?"),
    ],
)  # fmt: skip
def test_a_question_is_made_to_stand_on_its_own(title: str, heading: str | None, question: str, expected: str) -> None:
    assert stand_alone(read_topic(title, heading, ""), question) == expected


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Forest Acres is a city in Richland County.", "What is Forest Acres?"),
        ("The Golden 8 is an album that was recorded in 1961.", "What is the Golden 8?"),
        ("Rain Man is a 1988 film about two brothers.", "What is Rain Man?"),
    ],
)
def test_a_time_or_place_that_says_what_a_thing_is_is_not_asked_for(sentence: str, question: str) -> None:
    draft = first_draft(sentence, heading="Notes")
    assert draft is not None
    assert draft[1] == question


@pytest.mark.parametrize(
    "sentence",
    [
        "Dick Pointer (before 1778 \u2013 1827) was honored by all.",
        "La Stampa was read by people of the 1990s.",
    ],
)
def test_no_question_ends_in_its_middle(sentence: str) -> None:
    topic = read_topic("Notes", "Notes", sentence)
    for draft in draft_readings(Evidence(sentence, 0, Kind.PROSE), topic, sentence):
        assert draft.question.count("(") == draft.question.count(")")
        assert draft.question.rstrip("?").split()[-1] not in ("and", "or", "of", "the")
