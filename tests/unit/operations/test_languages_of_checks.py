"""The core asks a passage's language for its checks, and knows none by itself."""

from __future__ import annotations

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.language.catalog import language_of
from pgclarify.language.checks import AskedReading, Language, QuotedPassage
from pgclarify.language.english.checks import ENGLISH
from pgclarify.language.relations import Relation
from pgclarify.operations.judging.verdict_check import Quoted, check_quote_in

UNKNOWN = Language("xx")
MUSEUM = Passage("d", 1, "The museum in Lindvik opens at 9 am on weekdays. Dogs are welcome.")
QUESTION = "When does the castle open?"
WRONG = Reading(QUESTION, "at noon", "The museum in Lindvik opens at 9 am on weekdays.")


def test_an_unknown_language_has_no_checks_so_that_any_answer_with_a_quote_of_the_passage_passes() -> None:
    assert check_quote_in(UNKNOWN, WRONG, QUESTION, MUSEUM) == Quoted(WRONG.quote, 0, len(WRONG.quote))
    assert check_quote_in(ENGLISH, WRONG, QUESTION, MUSEUM) is Refusal.ANSWER_NOT_QUOTED


def test_in_an_unknown_language_the_passage_must_have_the_quote_word_for_word() -> None:
    shortened = Reading(QUESTION, "9 am", "The museum opens at 9 am on weekdays.")
    assert check_quote_in(UNKNOWN, shortened, QUESTION, MUSEUM) is Refusal.UNPROVEN


def test_a_language_is_added_by_its_checks_alone() -> None:
    def check_is_at_noon(reading: AskedReading, passage: QuotedPassage) -> Refusal | None:
        return None if "noon" in passage.quote else Refusal.ANSWER_NOT_QUOTED

    language = Language("xx", of_passage=(check_is_at_noon,))
    assert check_quote_in(language, WRONG, QUESTION, MUSEUM) is Refusal.ANSWER_NOT_QUOTED


def test_in_an_unknown_language_words_decide_nothing_and_any_word_of_another_text_may_tell_something() -> None:
    read = AskedReading("Is the castle open?", "at noon", "open?")
    assert UNKNOWN.find_lenders(read, "open at nine", ["the bells", "at nine", "noon bells"]) == [0, 2]
    assert UNKNOWN.relate_answers("at noon", "at nine") is Relation.UNKNOWN
    assert UNKNOWN.ask_for("at noon", "It opens at noon.", QUESTION) == "It opens at noon."


@pytest.mark.parametrize(
    ("text", "question", "code"),
    [
        (MUSEUM.content, QUESTION, "en"),
        ("Bags: 1800", "How many bags?", "en"),
        ("Das Museum ist am Sonntag nicht geöffnet, und der Eintritt ist frei.", "Wann ist es offen?", "und"),
    ],
)
def test_the_text_of_a_passage_says_its_language(text: str, question: str, code: str) -> None:
    assert language_of(text, question).code == code
