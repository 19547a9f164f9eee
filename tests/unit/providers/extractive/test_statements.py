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
        ("Rental reimbursement pays up to $40 a day for a rental car while yours is being repaired.",
         AnswerType.AMOUNT,
         "How much does rental reimbursement pay for a rental car while mine is being repaired?",
         "up to $40 a day"),
        ("We pay up to $40 a day for a taxi, for at most 30 days.", AnswerType.AMOUNT,
         "How much does rental reimbursement pay for a taxi?", "up to $40 a day"),
        ("A deductible is the amount you pay before insurance pays.", AnswerType.DEFINITION, "What is a deductible?",
         "the amount you pay before insurance pays"),
        ("To cancel your policy, call 1-800-555-0100 or sign in.", AnswerType.STEPS, "How do I cancel my policy?",
         "call 1-800-555-0100 or sign in"),
        ("If you cancel within 14 days, we refund the full premium.", AnswerType.CLAUSE,
         "What happens if I cancel within 14 days?", "we refund the full premium"),
        ("Flood damage is not covered by the standard policy.", AnswerType.YES_NO,
         "Is flood damage covered by the standard policy?", "No"),
        ("The program lowers your deductible by $100 for every year without a claim.", AnswerType.AMOUNT,
         "By how much does the program lower my deductible for every year without a claim?", "$100"),
        ("You can cancel your policy by calling us.", AnswerType.STEPS, "How can I cancel my policy?", "by calling us"),
        ("A fee of thirty dollars applies to every late return.", AnswerType.AMOUNT,
         "How much is the fee for every late return?", "thirty dollars"),
        ("After the first 14 days, a cancellation fee of $35 applies.", AnswerType.AMOUNT,
         "How much is the cancellation fee after the first 14 days?", "$35"),
        ("Repairs cost from $39 a day.", AnswerType.AMOUNT, "How much do repairs cost?", "from $39 a day"),
        ("Repairs cost FROM $39 a day.", AnswerType.AMOUNT, "How much do repairs cost?", "FROM $39 a day"),
        ("Jewelry, watches and furs are covered for up to $3,000.", AnswerType.AMOUNT,
         "Up to what amount are jewelry, watches and furs covered?", "up to $3,000"),
        ("The policy does not cover your car while it is rented out.", AnswerType.YES_NO,
         "Does the policy cover my car while it is rented out?", "No"),
        ("The rate for theft applies to fire as well, at least $30 a month.", AnswerType.YES_NO,
         "Does the rate for theft apply to fire?", "Yes"),
        ("Pupils with a permit are covered at no extra cost.", AnswerType.AMOUNT,
         "At what cost are pupils with a permit covered?", "at no extra cost"),
        ("The plan pays up to $900 for the house and up to $60 for the shed.", AnswerType.AMOUNT,
         "How much does the plan pay for the house?", "up to $900"),
        ("The plan pays up to $900 for lawyers, lost wages and fees.", AnswerType.AMOUNT,
         "How much does the plan pay for lawyers, lost wages and fees?", "up to $900"),
        ("Small repairs take two to four days, and large ones more.", AnswerType.DURATION,
         "How long do small repairs take?", "two to four days"),
        ("The transfer can take up to 24 hours to complete.", AnswerType.DURATION,
         "How long can the transfer take to complete?", "up to 24 hours"),
        ("The waiting period lasts for three months.", AnswerType.DURATION, "How long does the waiting period last?",
         "three months"),
        ("A flood is water that rises from the sea, a river or the street.", AnswerType.DEFINITION,
         "What is a flood?", "water that rises from the sea, a river or the street"),
    ],
)  # fmt: skip
def test_some_forms_of_statements_become_a_question(
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
        "No repair takes two days.",
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
        "The end of the lease is the first of the dates that matter.",
        "If in doubt, the team helps.",
        "If such a claim was filed, the fee is paid.",
        "If a claim was filed late, and the fee was paid, the rules differ.",
        "Cancel the policy by calling us.",
        "An array detailing the covered claims of the year.",
        "Repairs took two days.",
        "Repairs do not take two days.",
        "Repairs take two days of work.",
        "Take five minutes to read this.",
        "A two-day repair takes planning.",
        "It takes three days to reply.",
        "",
    ],
)
def test_sentences_that_only_touch_a_topic_answer_nothing(sentence: str) -> None:
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
        ("Rent was $900 a month.", "How much was rent?"),
        ("Fuel costs $5 a gallon.", "How much does fuel cost a gallon?"),
        ("The plan costs $9, the Theft plan $5.", "How much does the plan cost?"),
        # A time or place that says what a thing is does not become the question.
        ("Forest Acres is a city in Richland County.", "What is Forest Acres?"),
        ("The Golden 8 is an album that was recorded in 1961.", "What is the Golden 8?"),
        ("Rain Man is a 1988 film about two brothers.", "What is Rain Man?"),
    ],
)
def test_a_question_has_the_capitals_of_names_and_no_more_than_the_subject(sentence: str, question: str) -> None:
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
        ("Young drivers", "Rates", "How large is the surcharge?", "How large is the surcharge (Young drivers)?"),
        ("Gold Policy", None, "Does the Home Policy cover it?", "Does the Home Policy cover it?"),
        ("Letter", "Rental car", "How soon is the receipt due?", "How soon is the receipt due (Rental car)?"),
        ("Letter", "Your vote", "How often is it held?", "How often is it held (Your vote)?"),
        ("FAQ", "Canceling your order", "How much is the fee?", "How much is the fee (Canceling your order)?"),
        ("FAQ", "How do I cancel my order?", "How much is the fee?", "How much is the fee?"),
    ],
)  # fmt: skip
def test_a_question_is_made_to_stand_on_its_own(title: str, heading: str | None, question: str, expected: str) -> None:
    assert stand_alone(read_topic(title, heading, ""), question) == expected


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
