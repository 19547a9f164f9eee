"""Name what tells readings apart: those in the same words with different answers, and those of sibling documents."""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.language.english.contradictions import relate_readings
from pgclarify.language.english.numbers import MONTHS
from pgclarify.language.english.word_classes import STOP_WORDS
from pgclarify.language.english.words import Word, content_stems, words
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
# A copy has at most this share of other words, without those of the answers.
_MOST_CHANGED: Final = 0.1
_PUNCTUATION: Final = f"{string.punctuation}\u2018\u2019\u201c\u201d\u2013\u2014"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the answer of a reading stands.

    Attributes:
        title: The title of the document; "" if there is none.
        heading: The innermost heading above the passage; "" if there is none.
        content: The passage.
        quote: The words of the passage that prove the answer.
    """

    title: str
    heading: str
    content: str
    quote: str


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
        is_contested: Whether another one may still ask the same, or stands in a copy of the passage, and has another
            answer.
    """

    interpretation: str
    is_contested: bool


def are_siblings(one: str, other: str) -> bool:
    """Tell whether the titles of two documents name two things of one kind: two offices, years, versions, models.

    They have a word in common, and each has one or two words that the other lacks, but no more than the common ones.

    Args:
        one: "Leave policy 2024"; "" if the document has no title.
        other: "Leave policy 2025".
    """
    here, there = _title_words(one), _title_words(other)
    own, others = len(here - there), len(there - here)
    if not (0 < own <= _MOST_OWN and 0 < others <= _MOST_OWN):
        return False
    return max(own, others) <= sum(map(_is_telling, here & there))


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
            for member, phrase in zip(members, _distinctions(readings, source), strict=True):
                if phrase:
                    completed[member] = _with(completed[member], phrase)
    contested = _contested(interpretations, completed, answers) | _of_copies(answers, places)
    return [Apart(one, place in contested) for place, one in enumerate(completed)]


@lru_cache(maxsize=1_024)
def _title_words(title: str) -> frozenset[str]:
    return frozenset(word.lower for word in words(title))


def _is_telling(word: str) -> bool:
    return word not in STOP_WORDS and not word.isdigit()


def _among_siblings(reading: _Reading, titles: Iterable[str]) -> str:
    """Return a reading, with the title of its document if the reading could be one of a sibling."""
    title, said = reading.place.title, _title_words(reading.text)
    is_named = all(said & (_title_words(title) - _title_words(one)) for one in titles if are_siblings(title, one))
    phrase = "" if is_named else _new_parts(title, reading)
    return _with(reading.text, phrase) if phrase else reading.text


def _in_the_same_words(
    interpretations: Sequence[str], answers: Sequence[str]
) -> Iterator[tuple[list[int], NDArray[np.bool_]]]:
    """Yield the places of readings that ask in the same words, and which of these contradict each other."""
    groups: dict[frozenset[str], list[int]] = defaultdict(list)
    for place, one in enumerate(interpretations):
        groups[content_stems(one)].append(place)
    for members in groups.values():
        if len(members) > 1:
            relations = relate_readings([interpretations[one] for one in members], [answers[one] for one in members])
            yield members, relations == Relation.CONFLICT


def _clashing(interpretations: Sequence[str], answers: Sequence[str]) -> list[list[int]]:
    """Return the groups of readings in the same words, each of which contradicts another one of its group."""
    return [
        [one for one, row in zip(members, conflicts, strict=True) if row.any()]
        for members, conflicts in _in_the_same_words(interpretations, answers)
        if conflicts.any()
    ]


def _contested(interpretations: Sequence[str], completed: Sequence[str], answers: Sequence[str]) -> set[int]:
    """Return the readings that another one may mean too, with another answer: "(Alabama)", "(Livingston, Alabama)".

    A reading that could not be completed may be about each thing that the others name, so it alone is contested.
    """
    contested = set[int]()
    for members, conflicts in _in_the_same_words(interpretations, answers):
        asked = content_stems(interpretations[members[0]])
        told = [content_stems(completed[one]) for one in members]
        for one, other in permutations(range(len(members)), 2):
            if conflicts[one, other] and told[one] <= told[other]:
                contested |= {members[one], members[other]} if told[one] != asked else {members[one]}
    return contested


def _of_copies(answers: Sequence[str], places: Sequence[Place]) -> set[int]:
    """Return the readings whose passage is a copy of that of another one, with another answer.

    A passage with another name or number than those of the answers is no copy: it tells of another thing.
    """
    found = [_bare_words(f"{one.title} {one.heading} {one.content}") for one in places]
    given = [frozenset(_bare_words(answer)) for answer in answers]
    words_of = [*map(frozenset, found)]
    contested = set[int]()
    for one, other in combinations(range(len(places)), 2):
        here, there = words_of[one], words_of[other]
        most = _MOST_CHANGED * min(len(here), len(there))
        # Nearly all pairs end here: they differ in more words than a copy may change beside those of both answers.
        # Counting the common words takes a fifth of the time of listing the others.
        if len(here) + len(there) - 2 * len(here & there) > most + len(given[one]) + len(given[other]):
            continue
        own = here ^ there
        rest = own - given[one] - given[other]
        if not own or len(rest) > most:
            continue
        written = found[one] | found[other]
        if not any(written[word][0].isupper() or written[word][0].isdigit() for word in rest):
            contested |= {one, other}
    return contested


def _bare_words(text: str) -> dict[str, str]:
    """Return the words of a text, without punctuation around them and "'s", by their lower case.

    It is rough, and fast enough for whole passages.
    """
    parts = (part.strip(_PUNCTUATION).removesuffix("'s") for part in text.split())
    return {part.lower(): part for part in parts if part}


def _distinctions(readings: Sequence[_Reading], source: Callable[[_Reading], str]) -> list[str]:
    """Return for each reading what a source says of it and not of all the others, or ""."""
    found = [_new_parts(source(reading), reading) for reading in readings]
    is_told_by_all = len({content_stems(phrase) for phrase in found}) == 1
    return [""] * len(readings) if is_told_by_all else found


def _name_in_passage(reading: _Reading) -> str:
    """Return the first name with a name of the reading in it and another word, or ""."""
    asked = {word.stem for word in words(reading.text) if word.is_content and word.is_capitalized}
    opening = reading.place.content[: _OPENING_CHARS + _LONGEST_CHARS].split("\n")[0]
    for text, end in ((opening, _OPENING_CHARS), (reading.place.quote[:_QUOTE_CHARS], _QUOTE_CHARS)):
        for match in _NAME.finditer(_DATE.sub("", _DOUBLED.sub(r"\1", text))):
            if match.start() < end and asked & content_stems(match[0]) and _new_parts(match[0], reading):
                return match[0]
    return ""


_SOURCES: Final[tuple[Callable[[_Reading], str], ...]] = (
    lambda reading: reading.place.title,
    lambda reading: reading.place.heading,
    _name_in_passage,
)


def _new_parts(phrase: str, reading: _Reading) -> str:
    """Return the parts of a phrase that say more than the reading, joined by commas, without dates that answer it."""
    known = {word.stem for word in words(reading.text)}
    told = content_stems(reading.answer)
    parts = [
        part
        for part in _PARTS.split(" ".join(phrase.split()))
        if any(_says_something(word) and word.stem not in known for word in words(part))
        # "Died 22 August 1765" gives the answer away; "Aretha Franklin album" is how people name the album.
        and not (told <= content_stems(part) and any(map(str.isdigit, part)))
    ]
    joined = ", ".join(parts)
    return joined if len(joined) <= _LONGEST_CHARS else ""


def _says_something(word: Word) -> bool:
    return word.is_content and (len(word.text) > _SHORTEST or (word.text.isdigit() and len(word.text) > 1))


def _with(reading: str, phrase: str) -> str:
    """Put a phrase in parentheses behind a reading, before its question mark."""
    mark = "?" if reading.endswith("?") else ""
    bare = reading.removesuffix("?").rstrip()
    return f"{bare[:-1]}, {phrase}){mark}" if bare.endswith(")") else f"{bare} ({phrase}){mark}"
