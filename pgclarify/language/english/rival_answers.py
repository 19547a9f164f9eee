"""Finds readings that ask the same of the same thing, and whose answers cannot both hold."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from pgclarify.language.english.contradictions import exclude_each_other
from pgclarify.language.english.identifiers import years
from pgclarify.language.english.word_classes import STOP_WORDS
from pgclarify.language.english.words import content_stems

# Two passages speak of the same thing if they share at least this part of the names of that which has fewer.
_SAME_THING: Final = 0.65
# A copy has at most this share of other words, without those of the answers.
_MOST_CHANGED: Final = 0.1
_PUNCTUATION: Final = f"{string.punctuation}\u2018\u2019\u201c\u201d\u2013\u2014"
# Initials and the like tell nothing.
_SHORTEST_NAME: Final = 2


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


def find_rivals(
    interpretations: Sequence[str], completed: Sequence[str], answers: Sequence[str], places: Sequence[Place]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of readings that ask the same of the same thing, and whose answers cannot both hold.

    They ask the same if one passage is a copy of the other; or if they are in the same words, were not completed by
    different ones ("Idaho", "Alberta"), their passages share names, and they do not stand below headings of one
    document that each name another case ("Hail on cars", "Hail on houses"). The answers of copies cannot both hold
    if each has a name or a number of its own.
    """
    readings = [_Compared.of(*one) for one in zip(interpretations, completed, answers, places, strict=True)]
    for (place, one), (other_place, other) in combinations(enumerate(readings), 2):
        if _are_rivals(one, other):
            yield place, other_place


@dataclass(frozen=True, slots=True)
class _Compared:
    """A reading, as pairs of readings are compared.

    Attributes:
        asked: The stems of the reading.
        told: Those of the completed reading.
        reading: The reading and its answer.
        place: Where the answer stands.
        written: The words of the passage, its title and its heading, as written, by their lower case.
        words: Their lower case.
        given: The words of the answer.
        named: The names in the passage.
        known: The words of reading and answer.
    """

    asked: frozenset[str]
    told: frozenset[str]
    reading: tuple[str, str]
    place: Place
    written: dict[str, str]
    words: frozenset[str]
    given: frozenset[str]
    named: frozenset[str]
    known: frozenset[str]

    @classmethod
    def of(cls, interpretation: str, completed: str, answer: str, place: Place) -> _Compared:
        """Split the texts of a reading into words."""
        written = _bare_words(f"{place.title} {place.heading} {place.content}")
        given = frozenset(_bare_words(answer))
        return cls(
            content_stems(interpretation),
            content_stems(completed),
            (interpretation, answer),
            place,
            written,
            frozenset(written),
            given,
            _names(written),
            given.union(_bare_words(interpretation)),
        )


def _are_rivals(one: _Compared, other: _Compared) -> bool:
    """Tell whether two readings ask the same of the same thing, and their answers cannot both hold."""
    if _are_of_other_sections(one.place, other.place):
        return False
    own = _differing(one, other)
    are_copies = own is not None and not _name_something(own, one.written | other.written)
    if not are_copies and not _ask_the_same(one, other):
        return False
    if _are_of_other_years(one.reading, other.reading, one.place, other.place):
        return False
    if are_copies and _have_own_values(one, other):
        return True
    return exclude_each_other(one.reading, other.reading)


def _ask_the_same(one: _Compared, other: _Compared) -> bool:
    """Whether two readings are in the same words, were not completed by different ones, and share names."""
    if one.asked != other.asked:
        return False
    if not (one.told <= other.told or other.told <= one.told):
        return False
    return _share_names(one.named, other.named, one.known | other.known, otherwise=one.told == other.told)


def _are_of_other_sections(here: Place, there: Place) -> bool:
    """Whether two places are in sections of one document, each of whose headings has a word of its own."""
    if not here.title or here.title != there.title:
        return False
    one = content_stems(here.heading)
    other = content_stems(there.heading)
    return not one <= other and not other <= one


def _have_own_values(one: _Compared, other: _Compared) -> bool:
    """Whether each of two answers has a name or a number that the other lacks."""
    written = one.written | other.written
    here = one.given - other.given
    there = other.given - one.given
    return all(_name_something(own & written.keys(), written) for own in (here, there))


def _are_of_other_years(one: tuple[str, str], other: tuple[str, str], here: Place, there: Place) -> bool:
    """Whether each quote has a year that the other lacks, beside those of the readings: what was is not what is now."""
    known = years(f"{one} {other}")
    told = years(here.quote) - known
    said = years(there.quote) - known
    return bool(told) and bool(said) and told.isdisjoint(said)


def _share_names(here: frozenset[str], there: frozenset[str], known: frozenset[str], *, otherwise: bool) -> bool:
    """Tell whether two passages speak of one thing, by their names.

    Args:
        here: The names in one of them.
        there: Those in the other.
        known: The words of the readings and of the answers: names among them tell nothing.
        otherwise: What is returned if one of them has no other names.
    """
    here -= known
    there -= known
    least = min(len(here), len(there))
    if not least:
        return otherwise
    return len(here & there) >= _SAME_THING * least


def _names(text: dict[str, str]) -> frozenset[str]:
    """Return the capitalized words of a text, from what _bare_words returns of it."""
    return frozenset(
        word
        for word, written in text.items()
        if written[0].isupper() and len(word) > _SHORTEST_NAME and word not in STOP_WORDS
    )


def _differing(one: _Compared, other: _Compared) -> frozenset[str] | None:
    """Return the words that two copies of a passage do not share, without their answers; None if they are no copies."""
    here, there = len(one.words), len(other.words)
    most = _MOST_CHANGED * min(here, there)
    # Nearly all pairs end here: they differ in more words than a copy may change beside those of both answers.
    # Counting the common words takes a fifth of the time of listing the others.
    shared = len(one.words & other.words)
    differing = here + there - 2 * shared
    given = len(one.given) + len(other.given)
    if differing > most + given:
        return None
    own = one.words ^ other.words
    if not own:
        return None
    rest = own - one.given - other.given
    return rest if len(rest) <= most else None


def _name_something(words: Iterable[str], written: dict[str, str]) -> bool:
    """Whether one of some words is a name or a number: a passage with another one tells of another thing."""
    first_letters = (written[word][0] for word in words)
    return any(letter.isupper() or letter.isdigit() for letter in first_letters)


def _bare_words(text: str) -> dict[str, str]:
    """Return the words of a text, without punctuation around them and "'s", by their lower case.

    It is rough, and fast enough for whole passages.
    """
    parts = (part.strip(_PUNCTUATION).removesuffix("'s") for part in text.split())
    return {part.lower(): part for part in parts if part}
