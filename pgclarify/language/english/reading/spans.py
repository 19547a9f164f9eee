"""Finds short answers of a known kind in a sentence: sums, shares, times, names and places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pgclarify.language.english.numbers import CARDINALS, MONTHS, TENS
from pgclarify.language.english.reading.answer_types import AnswerType
from pgclarify.language.english.word_classes import PREPOSITIONS_OF_PLACE, STOP_WORDS
from pgclarify.language.english.words import Word, words
from pgclarify.language.words import word_set


@dataclass(frozen=True, slots=True)
class Span:
    """Part of a sentence that answers questions of one kind: sentence[start:end]."""

    start: int
    end: int
    kind: AnswerType

    def of(self, sentence: str) -> str:
        """Return its text."""
        return sentence[self.start : self.end]

    def overlaps(self, start: int, end: int) -> bool:
        """Whether it shares a character with sentence[start:end]."""
        return self.start < end and start < self.end


MEASURED = frozenset(
    [
        AnswerType.AMOUNT,
        AnswerType.PERCENTAGE,
        AnswerType.DURATION,
        AnswerType.FREQUENCY,
        AnswerType.DATE,
        AnswerType.COUNT,
    ]
)
"""Kinds of answers that are found by their shape."""

# All repetitions are bounded, so that a search takes at most a fixed number of steps for each character.
_DIGITS = r"(?<![\w.,])\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,4})?|(?<![\w.,])\d{1,12}(?:\.\d{1,4})?"
_NUMBER_WORDS = "|".join([*CARDINALS[1:], *TENS, "hundred", "thousand", "dozen"])
_SPELLED = rf"\b(?:{_NUMBER_WORDS})(?:[- ](?:{_NUMBER_WORDS})){{0,3}}\b"
_MAGNITUDE = r"(?:\s?(?:hundred|thousand|million|billion|trillion|bn|mn|[km](?!\w)))?"
_NUMBER = rf"(?:(?:{_DIGITS}){_MAGNITUDE}|{_SPELLED})"
_BOUND = (
    r"(?:\b(?:up to|the first|at least|at most|no more than|not more than|no less than|less than|more than|a maximum of"
    r"|maximum of|a minimum of|about|around|approximately|roughly|nearly|almost|over|under|only"
    r"|an? (?:additional|extra|total of)) )?"
)
_UNIT = r"(?:second|minute|hour|night|day|weekday|week|month|quarter|year|decade|centur(?:y|ie))s?"
_PER = (
    r"(?:\s(?:(?:a|per|each|every)\s(?:day|night|week|month|year|hour|person|claim|accident|incident|vehicle|trip|item|"
    r"visit|occurrence|event|mile|rental|traveler|traveller|policy|driver|household)|annually|monthly|daily|yearly)\b"
    r"|/(?:day|month|year|week)\b)?"
)
_RANGE = rf"(?:\s?(?:to|or|and|-|\u2013)\s?{_NUMBER})?"
_CURRENCY = r"(?:US|CA|A)?[$€£¥₹]"
_CURRENCY_NAME = r"(?:dollars|euros|pounds|francs|cents|yen|rupees|USD|EUR|GBP|CHF)\b"
_MONTH = rf"(?:{'|'.join(map(str.title, MONTHS))}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?)"
_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_YEAR = r"(?:1\d{3}|20\d{2})"

_IGNORE_CASE = re.IGNORECASE
_PATTERNS: dict[AnswerType, tuple[re.Pattern[str], ...]] = {
    AnswerType.AMOUNT: (
        re.compile(
            rf"{_BOUND}(?:{_CURRENCY}\s?(?:\d{{1,3}}(?:,\d{{3}}){{1,5}}|\d{{1,12}})(?:\.\d{{1,4}})?{_MAGNITUDE}"
            rf"(?:\s?(?:to|and|-|\u2013)\s?{_CURRENCY}\s?[\d,]{{1,15}}(?:\.\d{{1,4}})?)?"
            rf"|{_NUMBER}\s?(?:{_CURRENCY_NAME}|[$€£](?!\s?\d))){_PER}",
            _IGNORE_CASE,
        ),
        re.compile(r"\b(?:free of charge|at no (?:extra |additional )?(?:cost|charge)|free(?! to\b))\b", _IGNORE_CASE),
    ),
    AnswerType.PERCENTAGE: (
        re.compile(rf"{_BOUND}(?:{_NUMBER}{_RANGE}\s?(?:%|per\s?cent\b|percent(?:age points?)?\b))", _IGNORE_CASE),
        re.compile(r"\b(?:half|a third|a quarter|two[- ]thirds|three[- ]quarters)(?= of\b)", _IGNORE_CASE),
    ),
    AnswerType.DURATION: (
        re.compile(
            rf"{_BOUND}(?:{_NUMBER}{_RANGE}|\b(?:half )?an?(?: full)?|\bseveral|\ba few)"
            rf"[- ](?:(?:business|calendar|working|consecutive|full|more)[- ])?{_UNIT}\b"
            rf"(?! old\b| of age\b)(?:['\u2019]? notice\b)?",
            _IGNORE_CASE,
        ),
        re.compile(r"\b(?:overnight|indefinitely|for life|immediately)\b", _IGNORE_CASE),
    ),
    AnswerType.FREQUENCY: (
        re.compile(rf"\b(?:every|each)\s(?:(?:other|{_NUMBER})\s)?{_UNIT}\b", _IGNORE_CASE),
        re.compile(
            rf"\b(?:once|twice|three times|{_NUMBER} times)(?:\s(?:a|an|per|each|every|in any)\s"
            rf"(?:{_NUMBER}\s)?(?:policy )?{_UNIT}\b)",
            _IGNORE_CASE,
        ),
        re.compile(
            r"\b(?:daily|weekly|biweekly|monthly|quarterly|annually|yearly|hourly|nightly|continuously)\b", _IGNORE_CASE
        ),
    ),
    AnswerType.DATE: (
        re.compile(
            rf"\b(?:{_WEEKDAY},? )?(?:{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? {_YEAR})?"
            rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? {_YEAR})?|{_MONTH},? {_YEAR})\b",
            _IGNORE_CASE,
        ),
        re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b"),
        re.compile(
            r"\b\d{1,2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?\s?(?:to|until|-|\u2013)\s?\d{1,2}(?:(?::\d{2})?\s?[ap]\.?m\b|:\d{2}\b)"
            r"|\b\d{1,2}(?::\d{2})?\s?(?:a\.?m\b|p\.?m\b)\.?(?: on [A-Z][a-z]{2,9})?"
            r"|\b\d{1,2}:\d{2}\b|\b(?:noon|midnight)\b"
        ),
        re.compile(
            rf"(?:\b(?:(?:the )?(?:early|mid|late)[- ]|(?:about|around|circa) ))?"
            rf"\b{_YEAR}s?\b(?!%)(?:\s?(?:BC|AD|BCE|CE)\b)?"
        ),
        re.compile(
            r"(?:\b(?:early|mid|late)[- ])?\b(?:\d{1,2}(?:st|nd|rd|th)|[a-z]{3,12}(?:th|st|nd))"
            r" century\b(?:\s?(?:BC|AD)\b)?",
            _IGNORE_CASE,
        ),
        re.compile(rf"\b{_NUMBER} years ago\b|\b\d{{1,4}} (?:BC|AD|BCE|CE)\b|\b{_MONTH}\b(?=[ ,.;]|$)"),
        re.compile(rf"\b{_WEEKDAY}\b(?: to {_WEEKDAY})?"),
        re.compile(
            r"\bthe (?:first|last|\d{1,2}(?:st|nd|rd|th)) (?:\w{2,12} )?of (?:the|each|every) \w{3,12}\b", _IGNORE_CASE
        ),
    ),
    AnswerType.COUNT: (re.compile(rf"{_BOUND}{_NUMBER}", _IGNORE_CASE),),
}

_NAME_LINKS = word_set("of de la van von zu der del di bin ibn da le for")
_PLACE_WORDS = word_set(
    """street avenue road river city county island islands lake mount mountain mountains ocean sea bay square
    valley park airport station states kingdom republic province region district north south east west
    northern southern eastern western africa america asia europe"""
)
_ROLE = re.compile(
    r"\b(?:the|your|our|an?|any) (?:[a-z-]{2,15} ){0,2}(?:adjuster|agent|team|desk|manager|officer|department"
    r"|policyholder|driver|insurer|lender|garage|owner|tenant|landlord|doctor|court|board|committee|broker|underwriter|administrator)s?\b",
    _IGNORE_CASE,
)
_MAX_NAME_WORDS = 7

_NAMES = frozenset([AnswerType.PERSON, AnswerType.PLACE, AnswerType.ORGANIZATION])


@lru_cache(maxsize=4096)
def find_spans(sentence: str, kind: AnswerType) -> tuple[Span, ...]:
    """Return all spans of one kind from left to right, none inside another. Kinds without a shape have no spans."""
    if kind in _NAMES:
        found = [*_names(sentence, kind)]
        if kind is AnswerType.PERSON:
            found += [Span(match.start(), match.end(), kind) for match in _ROLE.finditer(sentence)]
    else:
        found = [
            Span(match.start(), match.end(), kind)
            for pattern in _PATTERNS.get(kind, ())
            for match in pattern.finditer(sentence)
        ]
        found = [span for span in found if not _is_part_of_other(sentence, span)]
    if kind is AnswerType.DATE:
        return _ranges(sentence, _outermost(found))
    return _outermost(found)


# A number belongs to the sum, share or time that it measures, and "a day" to "$40 a day".
_WHOLES = {
    AnswerType.DURATION: (AnswerType.AMOUNT, AnswerType.FREQUENCY),
    AnswerType.FREQUENCY: (AnswerType.AMOUNT,),
    AnswerType.COUNT: (
        AnswerType.AMOUNT, AnswerType.PERCENTAGE, AnswerType.DATE, AnswerType.FREQUENCY, AnswerType.DURATION,
    ),
}  # fmt: skip


def _is_part_of_other(sentence: str, span: Span) -> bool:
    """Return whether a span is part of a span of a more specific kind."""
    return any(
        other.overlaps(span.start, span.end)
        for kind in _WHOLES.get(span.kind, ())
        for other in find_spans(sentence, kind)
    )


def _outermost(found: list[Span]) -> tuple[Span, ...]:
    kept: list[Span] = []
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return tuple(kept)


def _ranges(sentence: str, found: tuple[Span, ...]) -> tuple[Span, ...]:
    """Join the two times of a range into one span: "from 1 July to 31 August"."""
    joined: list[Span] = []
    for span in found:
        last = joined[-1] if joined else None
        if last and sentence[last.end : span.start] in (" to ", " until ", " - ", "\u2013"):
            joined[-1] = Span(last.start, span.end, span.kind)
        else:
            joined.append(span)
    return tuple(joined)


def _names(sentence: str, kind: AnswerType) -> Iterator[Span]:
    """Yield runs of capitalized words, with their linking words, that probably name something of this kind."""
    for run, before in _capitalized_runs(sentence):
        is_place = before in PREPOSITIONS_OF_PLACE or not _PLACE_WORDS.isdisjoint(word.lower for word in run)
        if kind is AnswerType.PLACE and not is_place:
            continue
        yield Span(run[0].start, run[-1].end, kind)


def _capitalized_runs(sentence: str) -> Iterator[tuple[Sequence[Word], str]]:
    """Yield each run with the lower-case word before it ("" at the start)."""
    found = words(sentence)
    index = 0
    while index < len(found):
        word = found[index]
        if not word.is_capitalized or (word.lower in STOP_WORDS and not _next_is_name(found, index)):
            index += 1
            continue
        end = index + 1
        while end < len(found) and end - index < _MAX_NAME_WORDS and _joins(sentence, found, end):
            end += 1
        while found[end - 1].lower in _NAME_LINKS and end - 1 > index:
            end -= 1
        first = index + 1 if word.lower in STOP_WORDS and end - index > 1 else index
        run = found[first:end]
        # The first word of a sentence always has a capital, so that it alone marks no name.
        is_just_first = first == 0 and len(run) == 1 and not run[0].text.isupper()
        if not is_just_first:
            yield run, found[first - 1].lower if first else ""
        index = max(end, index + 1)


def _next_is_name(found: Sequence[Word], index: int) -> bool:
    return found[index].lower == "the" and index + 1 < len(found) and found[index + 1].is_capitalized


def _joins(sentence: str, found: Sequence[Word], index: int) -> bool:
    """Return whether the word at index continues the name before it."""
    gap = sentence[found[index - 1].end : found[index].start]
    if gap not in (" ", "-", " & ", ". ", ".", "/"):
        return False
    if gap == ". " and len(found[index - 1].text) > 2:
        return False
    word = found[index]
    if word.is_capitalized:
        return word.lower not in STOP_WORDS or word.lower in _NAME_LINKS
    follows_name = index + 1 < len(found) and found[index + 1].is_capitalized
    if word.lower in _NAME_LINKS:
        return follows_name or (
            index + 2 < len(found) and found[index + 1].lower == "the" and found[index + 2].is_capitalized
        )
    return word.lower == "the" and found[index - 1].lower in ("of", "for") and follows_name
