"""Decides whether an answer to a whole question, and its sentence, are about the question."""

from __future__ import annotations

import re
from typing import Final

from pgclarify.data.verdicts import Reading
from pgclarify.language.english.reading.answer_types import AnswerType, asked_word
from pgclarify.language.english.reading.grammar import FINITE_FORMS, PARTICIPLES
from pgclarify.language.english.reading.question_terms import with_synonyms
from pgclarify.language.english.reading.readings import Asked
from pgclarify.language.english.reading.spans import find_spans
from pgclarify.language.english.stems import stem
from pgclarify.language.english.word_classes import ARTICLES, AUXILIARIES, DETERMINERS, PREPOSITIONS
from pgclarify.language.english.words import Word, words
from pgclarify.language.words import word_set

_NUMBERS: Final = {AnswerType.AMOUNT, AnswerType.PERCENTAGE, AnswerType.COUNT}
_TIMES: Final = {AnswerType.DURATION, AnswerType.FREQUENCY, AnswerType.DATE}
_BEFORE_PLACES: Final = PREPOSITIONS | {"opposite", "next"}
# Most words with meaning between an answer and the noun that names its kind: "the signal for that is TERM".
_NEAR: Final = 3
_MAKERS: Final = word_set("artist author creator")
# "Python 3.11" is a version without the word.
_VERSION: Final = re.compile(r"\w \d+(?:\.\d+)+\b")
_MAKING: Final = word_set("by from")


def is_relevant(asked: Asked, reading: Reading, column: str = "") -> bool:
    """Return whether a reading of a whole question may answer it, judged by its words.

    Args:
        asked: A whole question.
        reading: The reading, with the sentence as its quote.
        column: What stands above the answer in a table.
    """
    quote = " ".join(reading.quote.split())
    start = quote.find(reading.answer)
    before, after = (quote[:start], quote[start + len(reading.answer) :]) if start >= 0 else (quote, "")
    return _has_asked_word(asked, f"{before} {column} ", reading.answer, after) and _has_shape(
        asked, quote, max(start, 0), reading.answer
    )


def _has_asked_word(asked: Asked, before: str, answer: str, after: str) -> bool:
    """Return whether the noun asked for stands beside the answer, or the verb of "who" stands in the sentence."""
    wanted = asked_word(asked.query.text)
    if wanted is None:
        return True
    if asked.kind is AnswerType.PERSON:
        quote = f"{before}{answer}{after}"
        return wanted.stem in with_synonyms(_stems(quote)) or _is_made_by(wanted, quote, answer)
    around = ([word for word in words(text) if word.is_content] for text in (before, after))
    told = [word.lower for word in words(asked.query.text)]
    # "Which committee chose the plan?": a name of what chose it need not say that it is a committee.
    named = told[0].startswith("wh") and AUXILIARIES.isdisjoint(told) and find_spans(f"a {answer}", AnswerType.PERSON)
    if named or (wanted.lower == "version" and _VERSION.search(answer)):
        return True
    near = [*next(around)[-_NEAR:], *words(answer), *next(around)[:_NEAR]]
    return wanted.stem in with_synonyms(frozenset(word.stem for word in near))


def _is_made_by(role: Word, quote: str, answer: str) -> bool:
    """Return whether "by" or "from" says the role: "an album by the singer Ina Holm" names an artist."""
    made = re.compile(rf"\b(?:by|from)\b[^.,;:()]{{0,60}}{re.escape(answer)}")
    return role.lower in _MAKERS and (bool(made.search(quote)) or not _MAKING.isdisjoint(answer.split()))


def _has_shape(asked: Asked, quote: str, start: int, answer: str) -> bool:
    """Return whether the answer is of the kind that the first word asks for."""
    found = [word.lower for word in words(asked.query.text)]
    if found[:2] == ["how", "long"]:
        # "How long is the river?" asks for no time.
        kinds = _TIMES | _NUMBERS if found[2] in ("is", "are", "was", "were") else _TIMES
        return any(find_spans(answer, kind) for kind in kinds)
    if asked.kind is AnswerType.DURATION and found[:2] == ["how", "many"]:
        # "How many days?" asks for no sum a day.
        return any(find_spans(answer, kind) for kind in (AnswerType.DURATION, AnswerType.COUNT))
    if found[0] == "when" and not any(find_spans(answer, kind) for kind in (AnswerType.DATE, AnswerType.FREQUENCY)):
        # "Nearly four years" is no point in time, "within four years" is one.
        led = [word.lower for word in [*words(quote[:start])[-1:], *words(answer)]]
        return not PREPOSITIONS.isdisjoint(led) and bool(find_spans(answer, AnswerType.DURATION))
    if found[0] == "when" and _is_of_other_verb(found[-1], quote[:start]):
        return False
    if asked.kind is AnswerType.COUNT and found[0] != "how" and find_spans(answer, AnswerType.PERCENTAGE):
        return False
    if asked.kind in _NUMBERS:
        return any(find_spans(answer, kind) for kind in _NUMBERS)
    if asked.kind is AnswerType.PERSON and found[0].startswith("who"):
        names = find_spans(quote, AnswerType.PERSON)
        # A sentence in lower case does not show its names. A row of a table is often so, and has them.
        is_lower = quote.islower() and not quote.startswith("|")
        return is_lower or any(name.start < start + len(answer) and start < name.end for name in names)
    if asked.kind is AnswerType.PLACE and found[0] == "where":
        lead = [word.lower for word in words(quote[:start]) if word.lower not in ARTICLES | DETERMINERS][-1:]
        is_led = not _BEFORE_PLACES.isdisjoint([*lead, *(word.lower for word in words(answer))])
        return is_led or bool(re.search(r"[/@]|[A-Z]\w+, [A-Z]", answer) or find_spans(answer, AnswerType.PLACE))
    return True


def _is_of_other_verb(verb: str, before: str) -> bool:
    """Return whether another verb stands between that of a question and the answer: "born in Ulm, he left in 1890"."""
    told = [word.lower for word in words(before)]
    if verb not in told or not (verb.endswith("ed") or verb in PARTICIPLES | {"born"}):
        return False
    between = told[len(told) - told[::-1].index(verb) :]
    return any(word in ("was", "were") or FINITE_FORMS.get(word, ("", ""))[1] == "did" for word in between)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word.lower) for word in words(text))
