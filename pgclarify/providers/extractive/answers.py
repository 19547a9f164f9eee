"""The short answer to a specific question, in the sentence that holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from pgclarify.language.words import Word, words
from pgclarify.providers.extractive.answer_types import AnswerType
from pgclarify.providers.extractive.grammar import PREPOSITIONS, parse_clause
from pgclarify.providers.extractive.spans import Span, clause_end, find_spans

TYPED = frozenset(
    [
        AnswerType.AMOUNT, AnswerType.PERCENTAGE, AnswerType.DURATION, AnswerType.FREQUENCY, AnswerType.DATE,
        AnswerType.COUNT, AnswerType.PERSON, AnswerType.PLACE, AnswerType.ORGANIZATION,
        AnswerType.REASON,
    ]
)  # fmt: skip
"""Kinds whose answers have a shape: a sentence without such a span does not answer."""

# What else may answer a question of a kind, when no span of the kind itself is there.
_SECOND_CHOICE = {
    AnswerType.PERSON: (AnswerType.ORGANIZATION,),
    AnswerType.ORGANIZATION: (AnswerType.NAME,),
    AnswerType.PLACE: (AnswerType.NAME,),
    AnswerType.AMOUNT: (AnswerType.PERCENTAGE,),
}

_DEFINES = re.compile(r"\b(?:is|are|was|were|means|mean|refers to|refer to|is defined as|describes)\s")
_KIND = re.compile(r"(?:an?|the|any|one|when|what|how)\s", re.IGNORECASE)
_SERIES = re.compile(r"\b(?:including|includes?|such as|covers?|excludes?|consists? of|are|requires?|needs?)\s|:\s")
_AGENT = re.compile(r"\bby ((?:(?:the|a|an|some|our|your) )?(?:[a-z][a-z'\u2019-]{1,20} ?){1,6})(?!(?:to|of) )")
_APPOSITION = re.compile(r", ([a-z]{2,20}(?: [a-z][a-z'\u2019-]{1,20}){1,2})(?=[,.;)]|$)")
_PLACE = re.compile(
    r"\b(?:(?:only )?(?:in|at|on|opposite|behind|beside|near|under|above|inside|outside|between|next to)) (?=\S)"
)
_NEAR_NOUN_WORDS = 4
_AKIN = 5
_MAX_PHRASE_WORDS = 14
# Chosen on the tuning half of the calibration pairs.
_SIZE_WEIGHT = 0.0
_AFTER_WEIGHT = 0.3


def pick_answer(question: str, sentence: str, kind: AnswerType, topic: str) -> Span | None:
    """The span of a sentence that best answers a question.

    Args:
        question: A specific question.
        sentence: The sentence that is to answer it.
        kind: What the question asks for.
        topic: Title and heading of the passage; where a text has no capitals, a title is still known as a name.

    Returns:
        The span, or None if the sentence has nothing of the kind that the question does not say itself.
    """
    asked = frozenset(word.stem for word in words(question) if word.is_content)
    for one in (kind, *_SECOND_CHOICE.get(kind, ())):
        spans = [span for span in find_spans(sentence, one) if not _is_said(sentence, span, asked)]
        if one is AnswerType.COUNT:
            spans = _counted(question, sentence, spans)
        if one is AnswerType.PERSON:
            spans = [span for span in spans if _is_name(sentence, span) or _acts(sentence, span, asked)]
        if spans:
            return min(spans, key=lambda span: _distance(sentence, span, asked))
    if kind in (AnswerType.PERSON, AnswerType.ORGANIZATION, AnswerType.PLACE):
        who = _agent(sentence, asked) or _title_in(sentence, topic, asked, kind)
        return who or (_where(sentence, asked) if kind is AnswerType.PLACE else _subject(sentence, asked))
    if kind is AnswerType.DEFINITION:
        return _predicate(sentence, _DEFINES, kind) if _is_about(sentence, asked) else None
    if kind is AnswerType.LIST:
        series = _predicate(sentence, _SERIES, kind, whole=True)
        if series:
            return series
    return None if kind in TYPED else _unsaid_stretch(sentence, asked)


def _is_said(sentence: str, span: Span, asked: frozenset[str]) -> bool:
    """Whether the question itself already says what the span says."""
    content = [word.stem for word in words(sentence[span.start : span.end]) if word.is_content]
    return bool(content) and all(one in asked for one in content)


def _distance(sentence: str, span: Span, asked: frozenset[str]) -> float:
    """Mean distance, in characters, of a span to the words that the question shares with the sentence."""
    gaps = [
        max(span.start - word.end, word.start - span.end, 0)
        for word in words(sentence)
        if word.stem in asked and not span.start <= word.start < span.end
    ]
    return sum(gaps) / len(gaps) if gaps else float(span.start)


def _is_name(sentence: str, span: Span) -> bool:
    return any(word.is_capitalized and word.is_content for word in words(sentence[span.start : span.end]))


def _acts(sentence: str, span: Span, asked: frozenset[str]) -> bool:
    """Whether a role ("the claims team") stands right before a verb that the question asks about, or after "by"."""
    following = words(sentence[span.end : span.end + 40])[:2]
    return any(word.stem in asked for word in following) or sentence[: span.start].endswith(" by ")


def _counted(question: str, sentence: str, spans: list[Span]) -> list[Span]:
    """Of the numbers in a sentence, those that count what the question counts; all of them if it names nothing."""
    asking = words(question)
    many = next((index for index, word in enumerate(asking) if word.lower == "many"), None)
    if many is None or many + 1 >= len(asking):
        return spans
    noun = asking[many + 1].stem
    counted = []
    for span in spans:
        after = words(sentence[span.end : span.end + 80])[:_NEAR_NOUN_WORDS]
        if any(word.stem == noun for word in after):
            counted.append(span)
    return counted


def _agent(sentence: str, asked: frozenset[str]) -> Span | None:
    """Who did it, named without capitals: "by some hunters" after a word that the question says too.

    Where the question asks for an office ("the prime minister"), "by the prime minister, jo brill" names who holds it.
    """
    for match in _AGENT.finditer(sentence):
        before = words(sentence[: match.start()])[-_NEAR_NOUN_WORDS:]
        name = list(takewhile(_belongs_to_name, words(match[1])))
        start = match.start(1)
        is_office = any(word.stem in asked for word in name)
        apposition = _APPOSITION.match(sentence, start + name[-1].end) if is_office else None
        if apposition:
            return Span(apposition.start(1), apposition.end(1), AnswerType.PERSON)
        is_deed = any(word.stem in asked for word in before) or (bool(before) and _is_akin(before[-1], asked))
        if is_deed and any(word.is_content for word in name):
            return Span(start, start + name[-1].end, AnswerType.PERSON)
    return None


def _is_akin(word: Word, asked: frozenset[str]) -> bool:
    """Whether a word and one that was asked for begin alike, as "chaired" and "chairman" do."""
    return len(word.stem) >= _AKIN and any(one[:_AKIN] == word.stem[:_AKIN] for one in asked)


def _subject(sentence: str, asked: frozenset[str]) -> Span | None:
    """The subject of a sentence in lower case that tells who did something, if the question does not name it."""
    clause = None if any(map(str.isupper, sentence)) else parse_clause(sentence)
    if clause is None or clause.verb.is_negated or clause.verb.auxiliary not in ("did", "was", "is", "has"):
        return None
    found = words(clause.subject)
    is_bare = found[0].is_content or (found[0].lower == "the" and len(found) > 2)
    if len(found) < 2 or not is_bare or any(word.stem in asked for word in found):
        return None
    return Span(clause.subject_start, clause.subject_start + len(clause.subject), AnswerType.PERSON)


def _belongs_to_name(word: Word) -> bool:
    return word.lower not in PREPOSITIONS and (
        word.is_content or word.lower in ("the", "a", "an", "some", "our", "your")
    )


def _where(sentence: str, asked: frozenset[str]) -> Span | None:
    """The place that a sentence ends with, if the sentence has all that was asked: "opposite the main entrance"."""
    clause = parse_clause(sentence)
    if clause is None or clause.lead or not asked <= {word.stem for word in words(sentence)}:
        return None
    for match in _PLACE.finditer(sentence, clause.verb.end):
        span = Span(match.start(), clause_end(sentence, match.end()), AnswerType.PLACE)
        if not any(word.stem in asked for word in words(sentence[span.start : span.end])):
            return span
    return None


def _title_in(sentence: str, topic: str, asked: frozenset[str], kind: AnswerType) -> Span | None:
    """The passage's title where the sentence repeats it, unless the question says it already."""
    name = topic.split(" > ")[0].lower()
    start = sentence.lower().find(name) if 1 < len(name.split()) <= 4 else -1
    span = Span(start, start + len(name), kind)
    return None if start < 0 or any(word.stem in asked for word in words(name)) else span


def _is_about(sentence: str, asked: frozenset[str]) -> bool:
    """Whether a sentence says what is meant by the words that were asked for, and not only something of it."""
    match = _DEFINES.search(sentence)
    before = sentence[: match.start()] if match else ""
    is_meaning = match is not None and (match[0][0] not in "iaw" or _KIND.match(sentence, match.end()) is not None)
    return is_meaning and ":" not in before and asked <= {word.stem for word in words(before)}


def _predicate(sentence: str, opening: re.Pattern[str], kind: AnswerType, *, whole: bool = False) -> Span | None:
    """What follows the first opening, to the end of the clause (of the sentence, for a series)."""
    match = opening.search(sentence)
    if not match:
        return None
    end = len(sentence.rstrip(' .!?"”')) if whole else clause_end(sentence, match.end())
    if whole and not re.search(r",| and | or |\n", sentence[match.end() : end]):
        return None
    return Span(match.end(), end, kind) if end > match.end() else None


def _unsaid_stretch(sentence: str, asked: frozenset[str]) -> Span | None:
    """What a sentence tells anew: words of one phrase that the question does not say, next to words that it does."""
    found = words(sentence)
    said = [index for index, word in enumerate(found) if word.stem in asked]
    best: tuple[float, Span] | None = None
    for first, last in _phrases(sentence, found, asked):
        near = sum(1 / (1 + min(abs(index - first), abs(index - last))) for index in said)
        size = sum(word.is_content for word in found[first : last + 1])
        is_after = bool(said) and first > said[0]
        weight = near + _SIZE_WEIGHT * min(size, 4) + _AFTER_WEIGHT * is_after
        if best is None or weight > best[0]:
            best = (weight, Span(found[first].start, found[last].end, AnswerType.CLAUSE))
    return best[1] if best else None


def _phrases(sentence: str, found: list[Word], asked: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Runs of words without punctuation or said words between them, and no small words at the ends: (first, last)."""
    start = 0
    for index in range(1, len(found) + 1):
        is_end = index == len(found) or index - start >= _MAX_PHRASE_WORDS
        gap = "" if is_end else sentence[found[index - 1].end : found[index].start]
        if (
            is_end
            or found[index].stem in asked
            or found[index - 1].stem in asked
            or any(mark in gap for mark in ",;:()\u2013—")
        ):
            first, last = start, index - 1
            while first <= last and (not found[first].is_content or found[first].stem in asked):
                first += 1
            while last >= first and not found[last].is_content:
                last -= 1
            if first <= last:
                is_led = first > start and found[first - 1].lower in ("a", "an", "the", "no", "not")
                yield (first - 1 if is_led else first), last
            start = index
