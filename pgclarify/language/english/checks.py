"""The checks of verdicts on English passages, each with its own reason to refuse or to doubt. No model is called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import wraps
from typing import Final

from pgclarify.data.verdicts import Refusal
from pgclarify.language.checks import AskedReading, Check, Language, QuotedPassage
from pgclarify.language.english.amounts import find_amounts, has_amounts
from pgclarify.language.english.answers import find_variant, relate_answers
from pgclarify.language.english.borrowed_words import find_lenders
from pgclarify.language.english.denials import is_denied
from pgclarify.language.english.exceptions import is_amount_of_another, write_amounts
from pgclarify.language.english.identifiers import names_other_identifier
from pgclarify.language.english.measures import write_spoken
from pgclarify.language.english.numbers import write_numbers
from pgclarify.language.english.questions import ask_for, without_asking
from pgclarify.language.english.restated_quotes import find_restated
from pgclarify.language.english.retractions import is_reserved, is_taken_back, without_retractions
from pgclarify.language.english.rewriting_faithfulness import find_fault
from pgclarify.language.english.splitting import split
from pgclarify.language.english.support import says_answer, shared_words, topic_of, unmentioned_names
from pgclarify.language.english.word_classes import THIRD_PERSON
from pgclarify.language.languages import is_english, is_foreign
from pgclarify.language.quotes import find_quote
from pgclarify.language.sentences import named_fields

# If a reading has this many words that neither its quote nor the rest of the passage has, it is not answered there.
_TELLING: Final = 2
_DIGIT: Final = re.compile(r"\d")
# A cell with a number, or an amount of money.
_NUMBER: Final = re.compile(r"[-\u2212\u2013]?\s?[$€£¥]?\s?\d")
_PRONOUN: Final = re.compile(rf"\b(?:{'|'.join(sorted(THIRD_PERSON))})\b", re.IGNORECASE)


def _of_english_questions(check: Check) -> Check:
    """Make a check only if the question and its reading are in English, because it compares their words."""

    @wraps(check)
    def checked(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
        return None if _is_asked_abroad(reading) else check(reading, passage)

    return checked


@_of_english_questions
def check_names_are_mentioned(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
    """Doubt a passage that lacks a name, year or number of the reading or of the question."""
    text = "\n".join((*passage.headings, passage.content))
    is_lacking = any(unmentioned_names(one, text) for one in _asked(reading))
    return Refusal.ABOUT_ANOTHER if is_lacking else None


@_of_english_questions
def check_no_other_identifier_is_named(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
    """Doubt a proof with another identifier than the one that is asked for: INV-1043 for INV-1042."""
    support = "\n".join((*passage.headings, *passage.leading, *_before(passage), passage.quote))
    has_other = any(names_other_identifier(one, support) for one in _asked(reading))
    return Refusal.ABOUT_ANOTHER if has_other else None


@_of_english_questions
def check_answer_is_not_denied(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
    """Doubt a proof that negates what is asked: "not open on Saturdays" for "when is it open on Saturdays?"."""
    asked, sentences = _asked(reading), [one.text for one in passage.whole_sentences]
    said = without_retractions(sentences, asked, reading.answer) or passage.quote
    return Refusal.ABOUT_ANOTHER if is_denied(asked, said, reading.answer) else None


@_of_english_questions
def check_answer_is_not_taken_back(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
    """Refuse a proof that takes the answer back: "Nobody believes that the fee is 40 euros"."""
    sentences = [one.text for one in passage.whole_sentences]
    is_withdrawn = is_taken_back(_asked(reading), sentences, reading.answer)
    return Refusal.ABOUT_ANOTHER if is_withdrawn else None


@_of_english_questions
def check_amount_is_the_one_asked_for(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
    """Doubt an amount that each sentence of the proof gives for something else: "for guests 9 EUR"."""
    amounts = _amounts(reading.answer)
    if not amounts:
        return None
    quote = passage.quote
    quoted = [one.text for one in passage.sentences if one.text in quote or quote in one.text]
    proofs = [text for text in quoted if not amounts.isdisjoint(_amounts(text))]
    are_of_another = (is_amount_of_another(reading.interpretation, reading.answer, proof) for proof in proofs)
    return Refusal.ABOUT_ANOTHER if proofs and all(are_of_another) else None


@_of_english_questions
def check_cell_is_the_one_asked_for(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
    """Doubt a number of another column of a row that names its columns: "Days: 10" for "How much is the deposit?"."""
    if not _DIGIT.search(reading.answer):
        return None
    topic = topic_of(reading.interpretation)
    asked = "\n".join(_asked(reading))
    start, end = passage.span
    for row in (named_fields(one.text) for one in passage.sentences if one.start < end and start < one.end):
        names = [name for name, value in row if has_amounts(reading.answer, [value])]
        if not names or any(shared_words(topic, name) for name in names):
            continue
        # A number of the question says which row is meant.
        others = [name for name, value in row if _NUMBER.match(value) and not has_amounts(value, [asked])]
        if any(shared_words(topic, name) for name in others):
            return Refusal.ABOUT_ANOTHER
    return None


def check_answer_is_in_passage(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
    """Refuse an answer whose words or amounts the passage does not have, unless it has the answer as it is written."""
    texts = (*passage.headings, passage.content)
    if any(find_quote(reading.answer, text) for text in texts) or _say_answer(texts, reading):
        return None
    return Refusal.ANSWER_NOT_QUOTED


def check_answer_is_quoted(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
    """Doubt an answer whose words or amounts the proof does not have."""
    # "She" refers to the person in the title.
    headings = passage.headings if _PRONOUN.search(passage.quote) else ()
    is_said = _say_answer((passage.quote, *passage.leading, *headings), reading)
    return None if is_said else Refusal.ANSWER_NOT_QUOTED


@_of_english_questions
def check_proof_is_to_the_point(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
    """Doubt a proof without a word of the reading, if the reading has two words, or one that the passage has."""
    if not is_english(passage.content):
        # A few words need not repeat those of the question: "Bags: 1800".
        return None
    # The title applies to every sentence.
    topic = topic_of(reading.interpretation, *passage.headings)
    if shared_words(topic, passage.quote, *passage.leading, *_before(passage)):
        return None
    is_elsewhere = len(topic) >= _TELLING or any(shared_words(topic, one.text) for one in passage.sentences)
    return Refusal.BESIDE_THE_POINT if is_elsewhere else None


ENGLISH: Final = Language(
    "en",
    of_claims=(check_answer_is_not_taken_back,),
    of_passage=(check_answer_is_in_passage,),
    doubts_of_sentences=(
        check_names_are_mentioned,
        check_no_other_identifier_is_named,
        check_answer_is_not_denied,
        check_amount_is_the_one_asked_for,
        check_cell_is_the_one_asked_for,
    ),
    doubts_of_quote=(check_answer_is_quoted, check_proof_is_to_the_point),
    leaves_out=lambda passage: is_reserved(*passage.left_out),
    find_copied=find_restated,
    find_lenders=find_lenders,
    relate_answers=relate_answers,
    ask_for=ask_for,
    find_variant=find_variant,
    split=split,
    find_fault=find_fault,
    without_asking=without_asking,
)


def _say_answer(texts: Sequence[str], reading: AskedReading) -> bool:
    """Whether texts have the words and the amounts of an answer, except those that the question has."""
    is_question = reading.interpretation.rstrip().endswith("?")
    # If the reading is a statement, it may contain the answer.
    given = write_spoken(reading.interpretation if is_question else reading.question)
    answer = write_spoken(reading.answer)
    spoken = [*map(write_spoken, texts)]
    # 1.5 percent are "1,5 Prozent".
    if not _is_asked_abroad(reading) and not has_amounts(answer, [*spoken, given]):
        return False
    return says_answer(answer, spoken, asked=given) or says_answer(
        write_numbers(answer), [*map(write_numbers, spoken)], asked=write_numbers(given)
    )


def _asked(reading: AskedReading) -> tuple[str, str]:
    return reading.interpretation, reading.question


def _is_asked_abroad(reading: AskedReading) -> bool:
    """Whether an English passage is asked about in another language."""
    return is_foreign(reading.interpretation) or is_foreign(reading.question)


def _amounts(text: str) -> set[tuple[str, str]]:
    return {(amount.value, amount.unit) for amount in find_amounts(write_amounts(text))}


def _before(passage: QuotedPassage) -> list[str]:
    """Return the sentence before a quote that begins with a pronoun, because that names its thing."""
    start, _ = passage.span
    first = next((place for place, one in enumerate(passage.sentences) if one.end > start), 0)
    if first == 0 or not _PRONOUN.match(passage.sentences[first].text):
        return []
    return [passage.sentences[first - 1].text]
