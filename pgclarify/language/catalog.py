"""The languages that are known. To add one, write a folder beside `english` and name its language here."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pgclarify.data.verdicts import Refusal
from pgclarify.language.checks import AskedReading, Language, QuotedPassage
from pgclarify.language.english.checks import ENGLISH
from pgclarify.language.english.support import says_answer
from pgclarify.language.languages import counts_as_english, is_foreign


def check_answer_is_in_its_words(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
    """Refuse an answer in other words than a passage and a question that are not in English: small models translate."""
    if not (is_foreign(reading.question) and is_foreign(passage.content)):
        return None
    texts = [*passage.headings, passage.content]
    is_said = says_answer(reading.answer, texts, asked=reading.question, are_foreign=True)
    return None if is_said else Refusal.ANSWER_NOT_QUOTED


OTHER: Final = replace(
    ENGLISH,
    code="und",
    of_claims=(),
    of_passage=(check_answer_is_in_its_words,),
    doubts_of_sentences=(),
    doubts_of_quote=(),
    # Words that deny or limit what a part of a sentence says are not known.
    leaves_out=lambda _: True,
    find_copied=lambda *_: None,
)
"""Any language without a folder of its own. Where nothing else is known, words are compared as in English."""


def language_of(text: str, question: str) -> Language:
    """Return the language of a passage.

    Args:
        text: The text of the passage.
        question: What is asked about it; it decides if the passage is too short to tell.
    """
    return ENGLISH if counts_as_english(text, question) else OTHER
