"""Do two readings plainly contradict each other, or plainly agree, as far as their words alone can tell?

An embedding hears what a question is about, not which season, year or amount it names: "season 1" and "season 2" are as
close as two wordings of one reading. So numbers, dates, times, names, and yes against no, are compared as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.numerals import find_quantities


class Relation(IntEnum):
    """What the words of two readings say about each other."""

    CONFLICT = -1
    UNKNOWN = 0
    AGREE = 1


# Two answers agree if they share this part of all their content words, or if one says all that the other says.
AGREEMENT_OVERLAP = 0.5

_WORD = re.compile(r"[^\W_]+(?:['\u2019.][^\W_]+)*")
# Not among them: what sets readings apart, such as before and after, or not.
_STOPWORDS = frozenset(
    str.split(
        "a about all an and any approximately are around as at be been between by can could did do does during each for"
        " from had has have he her his how if in into is it its may must of on or over per she should so such than that"
        " the their them then there these they this those through to under until up upon usually was were what when"
        " where which while who whom whose why will with within would yes you your"
    )
)
_UNITS = frozenset(
    str.split(
        "second minute hour day week month quarter year decade century time point dollar cent euro pound percent degree"
        " mile mph kilometer km meter foot feet inch inche yard kg kilogram gram ton litre liter gallon kb mb gb tb"
    )
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a text says, ready to be compared.

    Attributes:
        quantities: Numbers, by kind, as `find_quantities` tells them apart.
        words: Content words, folded, without their plural s; numbers and units too.
        units: Those of the words that are units.
        initials: First letters of the words, in order.
        is_name: True if every content word is capitalized.
        polarity: True for yes, False for no, None for neither.
    """

    quantities: dict[str, frozenset[str]]
    words: frozenset[str]
    units: frozenset[str]
    initials: str
    is_name: bool
    polarity: bool | None


def relate(interpretations: Sequence[str], answers: Sequence[str]) -> NDArray[np.int8]:
    """Compare readings pair by pair, by their words alone.

    CONFLICT: the interpretations or the answers name different numbers, years, months or times of day, and neither
    names all that the other does; one answer is yes and the other no; both answers are names that share no word; or
    the interpretations are the same but for one word exchanged, and the answers do not agree.

    AGREE: no conflict, and one answer says all that the other says, or half of their words are shared; unless the
    interpretations are the same but for one word exchanged ("return window for clothing", "... for electronics",
    both 30 days).

    UNKNOWN: everything else.

    Args:
        interpretations: The readings, as questions.
        answers: Their answers, as many.

    Returns:
        int8, shape (n_readings, n_readings), symmetric, values of `Relation`; AGREE on the diagonal.

    Raises:
        ValueError: If there are not as many answers as interpretations.
    """
    if len(interpretations) != len(answers):
        raise ValueError(f"{len(interpretations)} interpretations, but {len(answers)} answers")
    asked = [_read(text, is_question=True) for text in interpretations]
    told = [_read(text, is_question=False) for text in answers]
    relations = np.zeros((len(answers), len(answers)), dtype=np.int8)
    np.fill_diagonal(relations, Relation.AGREE)
    for one, other in combinations(range(len(answers)), 2):
        relations[one, other] = relations[other, one] = _relation((asked[one], told[one]), (asked[other], told[other]))
    return relations


def _relation(one: tuple[_Statement, _Statement], other: tuple[_Statement, _Statement]) -> Relation:
    (one_asked, one_told), (other_asked, other_told) = one, other
    if _quantities_conflict(one_asked, other_asked) or _answers_conflict(one_told, other_told):
        return Relation.CONFLICT
    is_agreed = _answers_agree(one_told, other_told)
    if _is_contrast(one_asked, other_asked):
        return Relation.UNKNOWN if is_agreed else Relation.CONFLICT
    return Relation.AGREE if is_agreed else Relation.UNKNOWN


def _read(text: str, *, is_question: bool) -> _Statement:
    quantities, rest = find_quantities(text, is_question=is_question)
    found = list(_content_words(rest))
    start = re.match(r"\W*(yes|no)\b", text, re.IGNORECASE)
    if start and found[:1] == [start[1]]:
        # Two answers do not agree by being "no" both.
        del found[0]
    words = frozenset(_singular(word.casefold()) for word in found)
    return _Statement(
        quantities=quantities,
        words=words.union(*quantities.values()),
        units=words & _UNITS,
        initials="".join(word[0].casefold() for word in found),
        is_name=bool(found) and not quantities and all(word[0].isupper() for word in found),
        polarity=start[1].casefold() == "yes" if start else None,
    )


def _content_words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = re.sub(r"['\u2019]s$|\.", "", match[0])
        if word.casefold() not in _STOPWORDS:
            yield word


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _quantities_conflict(one: _Statement, other: _Statement) -> bool:
    # "October 1919" says more than "1919", not something else: only what neither side contains is a difference.
    return any(
        not (one.quantities[kind] <= other.quantities[kind] or one.quantities[kind] >= other.quantities[kind])
        for kind in one.quantities.keys() & other.quantities.keys()
    )


def _answers_conflict(one: _Statement, other: _Statement) -> bool:
    if one.polarity is not None and other.polarity is not None and one.polarity != other.polarity:
        return True
    if _quantities_conflict(one, other):
        # Twelve months may well be one year.
        return not _units_differ(one, other)
    return (
        one.is_name
        and other.is_name
        and not any(_may_name_the_same(word, initial) for word in one.words for initial in other.words)
        and not any(_abbreviates(short, full) for short, full in ((one, other), (other, one)))
    )


def _may_name_the_same(one: str, other: str) -> bool:
    # Democrat, Democratic Party.
    return one == other or (min(len(one), len(other)) > 3 and (one.startswith(other) or other.startswith(one)))


def _abbreviates(short: _Statement, full: _Statement) -> bool:
    # HB, Hudson Bay; USA, United States.
    return len(full.initials) > 1 and any(
        word.startswith(full.initials) or (len(word) > 1 and full.initials.startswith(word)) for word in short.words
    )


def _answers_agree(one: _Statement, other: _Statement) -> bool:
    shared = len(one.words & other.words)
    if not shared or _units_differ(one, other) or _quantities_conflict(one, other):
        return False
    says_all = shared == min(len(one.words), len(other.words))
    return says_all or shared >= AGREEMENT_OVERLAP * len(one.words | other.words)


def _is_contrast(one: _Statement, other: _Statement) -> bool:
    only_one, only_other = one.words - other.words, other.words - one.words
    if len(only_one) != 1 or len(only_other) != 1 or not one.words & other.words:
        return False
    return not _may_name_the_same(*only_one, *only_other)


def _units_differ(one: _Statement, other: _Statement) -> bool:
    return bool(one.units and other.units and not one.units & other.units)
