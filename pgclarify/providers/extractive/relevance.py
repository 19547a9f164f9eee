"""Decides whether an answer to a whole question, and its sentence, are about the question."""

from __future__ import annotations

from typing import Final

from pgclarify.data.verdicts import Reading
from pgclarify.language.stems import stem
from pgclarify.language.words import ARTICLES, DETERMINERS, PREPOSITIONS, words
from pgclarify.providers.extractive.answer_types import AnswerType, asked_word, is_typed
from pgclarify.providers.extractive.readings import Asked
from pgclarify.providers.extractive.spans import find_spans
from pgclarify.providers.extractive.topics import Topic

# Answers of these kinds have no shape of their own, so that every sentence near the topic seems to have one.
_SHAPELESS: Final = {
    AnswerType.PLACE, AnswerType.STEPS, AnswerType.DEFINITION, AnswerType.LIST, AnswerType.YES_NO,
}  # fmt: skip
_NUMBERS: Final = {AnswerType.AMOUNT, AnswerType.PERCENTAGE, AnswerType.COUNT}
_TIMES: Final = {AnswerType.DURATION, AnswerType.FREQUENCY, AnswerType.DATE}
_PERSONS: Final = {AnswerType.PERSON, AnswerType.ORGANIZATION}
_BEFORE_PLACES: Final = PREPOSITIONS | {"opposite", "next"}
# Most words between an answer and the noun that names its kind: "the signal for that is TERM".
_NEAR: Final = 3


def is_relevant(asked: Asked, reading: Reading, topic: Topic) -> bool:
    """Return whether a reading of a whole question may answer it, judged by its words.

    Args:
        asked: A whole question.
        reading: The reading, with the sentence as its quote.
        topic: Title and headings of the passage.
    """
    quote = " ".join(reading.quote.split())
    start = quote.find(reading.answer)
    before, after = (quote[:start], quote[start + len(reading.answer) :]) if start >= 0 else (quote, "")
    return (
        _has_words(asked, quote, topic)
        and _has_asked_word(asked, before, reading.answer, after)
        and _has_shape(asked, quote, max(start, 0), reading.answer)
    )


def _has_words(asked: Asked, quote: str, topic: Topic) -> bool:
    """Return whether sentence, title and headings have all words of the question, if the answer has no shape."""
    found = words(asked.query.text)
    is_task = [found[0].lower, found[-1].lower] == ["what", "do"]
    if asked.kind not in _SHAPELESS and not is_task:
        return True
    # A city answers "in which city", so the word "city" is not needed.
    asking = {word.stem for word in found[1:3] if is_typed([word])}
    return asked.query.stems - asking <= topic.stems | _stems(quote)


def _has_asked_word(asked: Asked, before: str, answer: str, after: str) -> bool:
    """Return whether the noun asked for stands beside the answer, or the verb of "who" stands in the sentence."""
    wanted = asked_word(asked.query.text)
    if wanted is None:
        return True
    if asked.kind is AnswerType.PERSON:
        return wanted.stem in _stems(f"{before} {answer} {after}")
    near = [*words(before)[-_NEAR:], *words(answer), *words(after)[:_NEAR]]
    return wanted.stem in {word.stem for word in near}


def _has_shape(asked: Asked, quote: str, start: int, answer: str) -> bool:
    """Return whether the answer is of the kind that the first word asks for."""
    found = [word.lower for word in words(asked.query.text)]
    if found[:2] == ["how", "long"]:
        # "How long is the river?" asks for no time.
        kinds = _TIMES | _NUMBERS if found[2] in ("is", "are", "was", "were") else _TIMES
        return any(find_spans(answer, kind) for kind in kinds)
    if asked.kind in _NUMBERS:
        return any(map(str.isdigit, answer)) or any(find_spans(answer, kind) for kind in _NUMBERS)
    if asked.kind is AnswerType.PERSON and found[0].startswith("who"):
        spans = [span for kind in _PERSONS for span in find_spans(quote, kind)]
        # Text in lower case does not show its names.
        return quote.islower() or any(span.start < start + len(answer) and start < span.end for span in spans)
    if asked.kind is AnswerType.PLACE and found[0] == "where":
        lead = [word.lower for word in words(quote[:start]) if word.lower not in ARTICLES | DETERMINERS][-1:]
        is_led = not _BEFORE_PLACES.isdisjoint([*lead, *(word.lower for word in words(answer))])
        return is_led or "/" in answer or "@" in answer or bool(find_spans(answer, AnswerType.PLACE))
    return True


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word.lower) for word in words(text))
