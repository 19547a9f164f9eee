"""Decides whether an answer to a whole question, and its sentence, are about the question."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from pgclarify.data.verdicts import Reading
from pgclarify.language.english.reading.answer_types import AnswerType, asked_word
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.question_terms import with_synonyms
from pgclarify.language.english.reading.spans import find_spans
from pgclarify.language.english.word_classes import FINITE_BE, PREPOSITIONS
from pgclarify.language.english.words import all_stems, lower_words, words

_NUMBERS: Final = {AnswerType.AMOUNT, AnswerType.PERCENTAGE, AnswerType.COUNT}
_TIMES: Final = {AnswerType.DURATION, AnswerType.FREQUENCY, AnswerType.DATE}
_POINTS_IN_TIME: Final = {AnswerType.DATE, AnswerType.FREQUENCY}
_COUNTED_TIMES: Final = {AnswerType.DURATION, AnswerType.COUNT}
# Most words with meaning between an answer and the noun that names its kind: "the signal for that is TERM".
_NEAR: Final = 3
# "Python 3.11" is a version without the word.
_VERSION: Final = re.compile(r"\w \d+(?:\.\d+)+\b")


def is_relevant(asked: Asked, reading: Reading, column: str = "") -> bool:
    """Return whether a reading of a whole question may answer it, judged by its words.

    Args:
        asked: A whole question.
        reading: The reading, with the sentence as its quote.
        column: What stands above the answer in a table.
    """
    quote = " ".join(reading.quote.split())
    answer = reading.answer
    before, _, after = quote.partition(answer)
    is_about = _has_asked_word(asked, f"{before} {column} ", answer, after)
    start = len(before) if answer in quote else 0
    return is_about and _has_shape(asked, quote, start, answer)


def has_measure(asked: Asked, sentence: str) -> bool:
    """Return whether a sentence has a number or a time, if a question with "how" or "when" asks for one."""
    first, *_ = lower_words(asked.query.text)
    if first not in ("how", "when"):
        return True
    if asked.kind in _NUMBERS:
        return _has_any(sentence, _NUMBERS)
    return asked.kind not in _TIMES or _has_any(sentence, _TIMES)


def _has_asked_word(asked: Asked, before: str, answer: str, after: str) -> bool:
    """Return whether the noun asked for stands beside the answer, or the verb of "who" stands in the sentence."""
    wanted = asked_word(asked.query.text)
    if wanted is None:
        return True
    if asked.kind is AnswerType.PERSON:
        quote = f"{before}{answer}{after}"
        return wanted.stem in with_synonyms(all_stems(quote))
    if wanted.lower == "version" and _VERSION.search(answer):
        return True
    left = _content_stems(before)
    right = _content_stems(after)
    near = all_stems(answer).union(left[-_NEAR:], right[:_NEAR])
    return wanted.stem in with_synonyms(near)


def _has_shape(asked: Asked, quote: str, start: int, answer: str) -> bool:
    """Return whether the answer is of the kind that the first word asks for."""
    first, second, *rest = lower_words(asked.query.text)
    kind = asked.kind
    if (first, second) == ("how", "long"):
        # "How long is the river?" asks for no time.
        if rest[0] in FINITE_BE and _has_any(answer, _NUMBERS):
            return True
        return _has_any(answer, _TIMES)
    if (first, second) == ("how", "many") and kind is AnswerType.DURATION:
        # "How many days?" asks for no sum a day.
        return _has_any(answer, _COUNTED_TIMES)
    if first == "when" and not _has_any(answer, _POINTS_IN_TIME):
        return _is_within_time(quote[:start], answer)
    if first != "how" and kind is AnswerType.COUNT and find_spans(answer, AnswerType.PERCENTAGE):
        return False
    if kind in _NUMBERS:
        return _has_any(answer, _NUMBERS)
    if first.startswith("who") and kind is AnswerType.PERSON:
        return _is_named(quote, start, start + len(answer))
    return True


def _is_within_time(before: str, answer: str) -> bool:
    """Return whether an answer is a time with a preposition: "within four years", but not "nearly four years"."""
    last = lower_words(before)[-1:]
    led = [*last, *lower_words(answer)]
    if PREPOSITIONS.isdisjoint(led):
        return False
    return bool(find_spans(answer, AnswerType.DURATION))


def _is_named(quote: str, start: int, end: int) -> bool:
    """Return whether quote[start:end] has a name, or the quote shows no names because it is in lower case."""
    # A row of a table is often in lower case, and has its names.
    if quote.islower() and not quote.startswith("|"):
        return True
    names = find_spans(quote, AnswerType.PERSON)
    return any(name.overlaps(start, end) for name in names)


def _has_any(text: str, kinds: Iterable[AnswerType]) -> bool:
    return any(find_spans(text, kind) for kind in kinds)


def _content_stems(text: str) -> list[str]:
    return [word.stem for word in words(text) if word.is_content]
