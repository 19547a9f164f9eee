"""Name what tells readings apart: those in the same words with different answers, and those of sibling documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Final

from pgclarify.language.english.contradictions import relate_readings
from pgclarify.language.english.numbers import MONTHS
from pgclarify.language.english.rival_answers import Place as Place
from pgclarify.language.english.rival_answers import find_rivals
from pgclarify.language.english.word_classes import STOP_WORDS
from pgclarify.language.english.words import Word, all_stems, content_stems, lower_words, words
from pgclarify.language.relations import Relation

_WORD: Final = r"[A-Z0-9](?:[^\W_]|['\u2019&.-])*(?<![.-])"
# A sentence that begins so ends a name: titles often stand before their first sentence without a full stop.
_OPENER: Final = r"(?:A|An|He|In|It|She|The|They|This)\b"
# "Clearwater County, Idaho", "Holy Smoke (Gin Wigmore album)", "University of Kansas"; but not "Gibraltar Barracks in
# 2014", where the year is that of an event.
_NAME: Final = re.compile(
    rf"{_WORD}(?:,? (?!in \d|{_OPENER})(?:(?:of|the|and|de|for|at|in) ){{0,2}}{_WORD}){{0,7}}(?: \([^()\n]{{2,40}}\))?"
)
# The parts of a title that each may tell it from another one: after a comma, a dash or a colon, and in parentheses.
_PARTS: Final = re.compile(r"\s*[()]\s*|,\s+|:\s+|\s+[-\u2013\u2014>|]+\s+")
# Pages whose first line is their title often repeat it.
_DOUBLED: Final = re.compile(r"(.{3,}) \1")
# The dates of a life are no part of a name: documents that disagree on them would seem to speak of two people.
_MONTH: Final = rf"(?:{'|'.join(map(str.title, MONTHS))})"
_DATE: Final = re.compile(rf"(?:\b(?:born|died) )?\b(?:\d{{1,2}} {_MONTH}\b|{_MONTH} \d{{1,4}}\b)(?:,? \d{{4}}\b)?")
# A name further down is often that of another thing.
_OPENING_CHARS: Final = 200
# Looking for a repeated title takes quadratic time.
_QUOTE_CHARS: Final = 500
_LONGEST_CHARS: Final = 80
# Initials and the like tell nothing.
_SHORTEST: Final = 2
# Titles of siblings differ in at most so many words on each side: "Berlin office guide", "New York office guide".
_MOST_OWN: Final = 2


@dataclass(frozen=True, slots=True)
class _Reading:
    text: str
    answer: str
    place: Place


@dataclass(frozen=True, slots=True)
class Apart:
    """A reading beside the others of its run.

    Attributes:
        interpretation: The reading, completed where another one asks in the same words.
        rivals: Places of the readings that ask the same of the same thing, and whose answer cannot hold beside its own.
    """

    interpretation: str
    rivals: frozenset[int] = frozenset()


def are_siblings(one: str, other: str) -> bool:
    """Tell whether the titles of two documents name two things of one kind: two offices, years, versions, models.

    They have a word in common, and each has one or two words that the other lacks, but no more than the common ones.

    Args:
        one: "Leave policy 2024"; "" if the document has no title.
        other: "Leave policy 2025".
    """
    here, there = _title_words(one), _title_words(other)
    own = len(here - there)
    others = len(there - here)
    if not (0 < own <= _MOST_OWN and 0 < others <= _MOST_OWN):
        return False
    common = [word for word in here & there if _is_telling(word)]
    return max(own, others) <= len(common)


def tell_apart(interpretations: Sequence[str], answers: Sequence[str], places: Sequence[Place]) -> list[Apart]:
    """Complete readings that ask in the same words and have different answers, by what their documents are about.

    "What is the population of Clearwater County?" becomes "What is the population of Clearwater County (Idaho)?". What
    is added comes from the title of the document; where that does not do, from the innermost heading; then from a name
    at the beginning of the passage or in the quote that has a name of the reading in it. It is added only if it has a
    word that is not in the reading, and if not all readings in the same words get the same.

    A reading of a document with a sibling among the documents of the run gets the title too, if it has no word of the
    title that the sibling's title lacks: "taxi rides" of the policies of 2024 and 2025.

    Args:
        interpretations: The readings of one run, after consolidation.
        answers: Their answers.
        places: Where each answer stands.

    Returns:
        One for each reading, in order.
    """
    titles = {place.title for place in places}
    completed = [
        _among_siblings(_Reading(one, answer, place), titles)
        for one, answer, place in zip(interpretations, answers, places, strict=True)
    ]
    for source in _SOURCES:
        for members in _clashing(completed, answers):
            readings = [_Reading(completed[one], answers[one], places[one]) for one in members]
            phrases = _distinctions(readings, source)
            for member, phrase in zip(members, phrases, strict=True):
                if phrase:
                    completed[member] = _with(completed[member], phrase)
    rivals: dict[int, set[int]] = defaultdict(set)
    for one, other in find_rivals(interpretations, completed, answers, places):
        rivals[one].add(other)
        rivals[other].add(one)
    return [Apart(one, frozenset(rivals[place])) for place, one in enumerate(completed)]


@lru_cache(maxsize=1_024)
def _title_words(title: str) -> frozenset[str]:
    return frozenset(lower_words(title))


def _is_telling(word: str) -> bool:
    return word not in STOP_WORDS and not word.isdigit()


def _among_siblings(reading: _Reading, titles: Iterable[str]) -> str:
    """Return a reading, with the title of its document if the reading could be one of a sibling."""
    title = reading.place.title
    said, own = _title_words(reading.text), _title_words(title)
    siblings = (one for one in titles if are_siblings(title, one))
    if all(said & (own - _title_words(sibling)) for sibling in siblings):
        return reading.text
    phrase = _new_parts(title, reading)
    if not phrase:
        return reading.text
    return _with(reading.text, phrase)


def _clashing(interpretations: Sequence[str], answers: Sequence[str]) -> Iterator[list[int]]:
    """Yield the groups of readings in the same words, each of which contradicts another one of its group."""
    groups: dict[frozenset[str], list[int]] = defaultdict(list)
    for place, one in enumerate(interpretations):
        groups[content_stems(one)].append(place)
    for members in groups.values():
        if len(members) == 1:
            continue
        relations = relate_readings([interpretations[one] for one in members], [answers[one] for one in members])
        clashes = [*compress(members, (relations == Relation.CONFLICT).any(axis=1))]
        if clashes:
            yield clashes


def _distinctions(readings: Sequence[_Reading], source: Callable[[_Reading], str]) -> list[str]:
    """Return for each reading what a source says of it and not of all the others, or ""."""
    found = [_new_parts(source(reading), reading) for reading in readings]
    told = {content_stems(phrase) for phrase in found}
    if len(told) == 1:
        # All of them say it.
        return [""] * len(readings)
    return found


def _name_in_passage(reading: _Reading) -> str:
    """Return the first name with a name of the reading in it and another word, or ""."""
    content = (word for word in words(reading.text) if word.is_content)
    asked = {word.stem for word in content if word.is_capitalized}
    place = reading.place
    opening, _, _ = place.content[: _OPENING_CHARS + _LONGEST_CHARS].partition("\n")
    quote = place.quote[:_QUOTE_CHARS]
    for text, end in ((opening, _OPENING_CHARS), (quote, _QUOTE_CHARS)):
        single = _DOUBLED.sub(r"\1", text)
        for match in _NAME.finditer(_DATE.sub("", single)):
            name = match[0]
            if match.start() >= end:
                break
            has_name = not asked.isdisjoint(content_stems(name))
            if has_name and _new_parts(name, reading):
                return name
    return ""


_SOURCES: Final[tuple[Callable[[_Reading], str], ...]] = (
    lambda reading: reading.place.title,
    lambda reading: reading.place.heading,
    _name_in_passage,
)


def _new_parts(phrase: str, reading: _Reading) -> str:
    """Return the parts of a phrase that say more than the reading, joined by commas, without dates that answer it."""
    known = all_stems(reading.text)
    told = content_stems(reading.answer)
    phrase = " ".join(phrase.split())
    parts = _PARTS.split(phrase)
    new = [part for part in parts if _says_more(part, known) and not _gives_away(part, told)]
    joined = ", ".join(new)
    return joined if len(joined) <= _LONGEST_CHARS else ""


def _says_more(part: str, known: frozenset[str]) -> bool:
    return any(_says_something(word) and word.stem not in known for word in words(part))


def _gives_away(part: str, told: frozenset[str]) -> bool:
    """Whether a part has the answer: "Died 22 August 1765"; "Aretha Franklin album" is how people name the album."""
    if not any(map(str.isdigit, part)):
        return False
    return told <= content_stems(part)


def _says_something(word: Word) -> bool:
    if not word.is_content:
        return False
    least = 2 if word.text.isdigit() else _SHORTEST + 1
    return len(word.text) >= least


def _with(reading: str, phrase: str) -> str:
    """Put a phrase in parentheses behind a reading, before its question mark."""
    bare = reading.removesuffix("?")
    mark = reading[len(bare) :]
    bare = bare.rstrip()
    if bare.endswith(")"):
        inner = bare.removesuffix(")")
        return f"{inner}, {phrase}){mark}"
    return f"{bare} ({phrase}){mark}"
