"""Compare two readings by their words alone: do they contradict each other, agree, or neither?

An embedding shows what a question is about. It does not show which season, year or amount the question names: "season
1" and "season 2" are as close as two wordings of one reading. So numbers, dates, times, names, and yes against no, are
compared as words, with units, a minus, negations, and limits such as "more than".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pgclarify.language.english.amounts import EXCLUSIVE_UNITS, find_units, is_below_zero
from pgclarify.language.english.numbers import find_quantities
from pgclarify.language.english.opposites import Sense, sense_of, spell_negations
from pgclarify.language.english.stems import singular
from pgclarify.language.english.word_classes import (
    ARTICLES,
    AUXILIARIES,
    DEMONSTRATIVES,
    INTERROGATIVES,
    PREPOSITIONS,
    THIRD_PERSON,
    UNITS_OF_TIME,
)
from pgclarify.language.english.words import plain_words
from pgclarify.language.relations import Relation
from pgclarify.language.words import word_set

# Two questions ask the same if one contains all words of the other, and this share of its words is in the other.
ALIKE = 0.6
# The shorter answer must have at least this share of the longer one's words, unless it is a number.
LEAST_SHARE = 0.2

# Answers with at most so many words, and none in common, are two values: "Rugby league", "Cricket".
_SHORT = 6
# Two sentences say the same of different amounts if this share of the shorter one's other words is in the longer one.
_SAME_FRAME = 0.5
# "Which city", "how many", "when was". "How do I" and "what are" may have several answers that all hold.
_ASKS_FOR_ONE = re.compile(
    r"\b(?:who|whom|whose|when|where|how (?:many|much|long|old|far|tall|high|large|big|often|deep|wide|heavy|fast)"
    r"|(?:what|which)(?! (?:are|were|can|do|does|should|must|may|[^\W\d_]*[^s\W]s)\b))\b(?! (?:are|were|can|should)\b)",
    re.IGNORECASE,
)

# The list leaves out words such as before, after and not. So two answers that both say "before" share a word.
_STOPWORDS = (
    ARTICLES
    | DEMONSTRATIVES
    | {*INTERROGATIVES}
    | (AUXILIARIES - word_set("am might shall"))
    | (THIRD_PERSON - {"him"})
    | (
        PREPOSITIONS
        - word_set(
            "across after against among before behind beside down inside like near off onto out outside since via"
        )
        - {"without"}
    )
    | word_set("all and any approximately each if or so such then there upon usually while yes you your")
)
_NUMBER = re.compile(r"\d|\bone\b", re.IGNORECASE)
_EACH = re.compile(rf"\b(every|each) ({'|'.join(UNITS_OF_TIME - {'second'})})\b", re.IGNORECASE)
_UNITS = UNITS_OF_TIME | word_set(
    "quarter time point dollar cent euro pound yen percent degree celsius fahrenheit"
    " mile mph kilometer km meter foot feet inch inche yard kg kilogram gram ton litre liter gallon kb mb gb tb"
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a text says, ready to be compared.

    Attributes:
        quantities: Numbers, by kind, as `find_quantities` returns them.
        is_below_zero: Whether one of the numbers is below zero.
        words: Content words, folded, without a plural s; numbers and units are among them.
        units: The units among the words.
        is_name: True if every content word is capitalized.
        polarity: True for yes, False for no, None for neither.
        sense: What it negates and limits.
    """

    quantities: dict[str, frozenset[str]]
    is_below_zero: bool
    words: frozenset[str]
    units: frozenset[str]
    is_name: bool
    polarity: bool | None
    sense: Sense


# A question and its answer.
_Reading: TypeAlias = tuple[_Statement, _Statement]


def relate(one: tuple[str, str], other: tuple[str, str]) -> Relation:
    """Compare two readings, each a question and its answer, by their words alone.

    Two readings are in CONFLICT in one of these cases:

    - Their interpretations or their answers name different numbers, years, months or times of day, and neither names
      all that the other names.
    - Their answers have the same number, with different units of time, or in one answer below zero.
    - Their answers have numbers, equal or not, in different currencies, percent or scales of temperature ($40, €40).
    - One answer is yes and the other is no.
    - Both answers are names, and share no word.
    - Their interpretations differ in one word, and their answers do not agree.
    - One answer negates a word that the other affirms ("covered", "not covered"); or they share a word, and one has a
      lower limit and the other an upper one ("more than 30 days", "less than 30 days").

    They AGREE if they are not in conflict, and one answer contains all that the other says. That other answer has at
    least a fifth of the words of the first, or is a number. Interpretations that differ in one word never agree
    ("return window for clothing", "... for electronics", both 30 days). The same applies if one negates what the other
    asks, or if they have opposite limits.

    All other pairs are UNKNOWN.
    """
    return _relation(_reading(*one), _reading(*other))


def relate_readings(interpretations: Sequence[str], answers: Sequence[str]) -> NDArray[np.int8]:
    """Compare readings pair by pair, by their words alone, and note which of them ask the same.

    This is `relate`, with one difference. Two readings that ask the same are in CONFLICT instead of UNKNOWN. Two
    readings ask the same if one question contains all words of the other, and at least the share ALIKE of its words is
    in the other. Small models and the extractive verifier often give such readings. Only their answers differ, and the
    embedding of "question answer" depends mostly on the question. So no similarity shows which of them are the same.

    Args:
        interpretations: The readings, as questions.
        answers: Their answers, as many.

    Returns:
        int8, shape (n_readings, n_readings), symmetric, values of `Relation`; AGREE on the diagonal.
    """
    readings = [*map(_reading, interpretations, answers)]
    relations = np.zeros((len(readings), len(readings)), dtype=np.int8)
    np.fill_diagonal(relations, Relation.AGREE)
    for one, other in combinations(range(len(readings)), 2):
        relations[one, other] = relations[other, one] = _relation_of_readings(readings[one], readings[other])
    return relations


def exclude_each_other(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Tell whether the answers of two readings that ask the same thing cannot both hold.

    They cannot in one of these cases:

    - One answer is yes and the other is no.
    - They say the same of different numbers, dates, times of day or units, or of an amount and "free": they have little
      beside these, or at least half of their other words in common.
    - One negates what the other affirms, or they have opposite limits, and half of their words in common.
    - The questions ask for one thing ("who", "which city"), and both answers are short and have no word in common.

    Two sentences about a topic, or two steps of an instruction, can both hold.
    """
    (_, one_told), (_, other_told) = _reading(*one), _reading(*other)
    if one_told.polarity is not None and other_told.polarity is not None and one_told.polarity != other_told.polarity:
        return True
    asks_for_one = all(_ASKS_FOR_ONE.search(interpretation) for interpretation, _ in (one, other))
    if not _say_it_of_the_same(one_told, other_told, asks_for_one=asks_for_one):
        return asks_for_one and _are_two_values(one_told, other_told)
    return (
        _answers_conflict(one_told, other_told)
        or _are_opposite(one_told, other_told)
        or _is_free_or_not(one_told, other_told)
        or (asks_for_one and _are_two_values(one_told, other_told))
    )


def _say_it_of_the_same(one: _Statement, other: _Statement, *, asks_for_one: bool) -> bool:
    fewer, more = sorted((_frame(one), _frame(other)), key=len)
    if not fewer:
        return asks_for_one or len(more) <= _SHORT
    return len(fewer & more) >= _SAME_FRAME * len(fewer)


def _is_free_or_not(one: _Statement, other: _Statement) -> bool:
    return any(
        "free" in free.words - paid.words and bool(paid.units & EXCLUSIVE_UNITS)
        for free, paid in ((one, other), (other, one))
    )


def _frame(statement: _Statement) -> frozenset[str]:
    """Return the words of a statement without its quantities and units."""
    return statement.words.difference(statement.units, *statement.quantities.values())


def _are_two_values(one: _Statement, other: _Statement) -> bool:
    return max(len(one.words), len(other.words)) <= _SHORT and one.words.isdisjoint(other.words)


def _reading(interpretation: str, answer: str) -> _Reading:
    return _read(interpretation, is_question=True), _read(answer, is_question=False)


def _relation_of_readings(one: _Reading, other: _Reading) -> Relation:
    relation = _relation(one, other)
    is_unknown = relation is Relation.UNKNOWN
    return Relation.CONFLICT if is_unknown and _ask_alike(one[0].words, other[0].words) else relation


def _ask_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer, more = sorted((one, other), key=len)
    return fewer <= more and len(fewer) >= ALIKE * len(more)


def _relation(one: _Reading, other: _Reading) -> Relation:
    (one_asked, one_told), (other_asked, other_told) = one, other
    if _quantities_conflict(one_asked, other_asked) or _answers_conflict(one_told, other_told):
        return Relation.CONFLICT
    if _are_opposite(one_told, other_told):
        # "Covered", "not covered".
        return Relation.CONFLICT
    is_agreed = _answers_agree(one_told, other_told)
    if _is_contrast(one_asked, other_asked) or _are_opposite(one_asked, other_asked):
        return Relation.UNKNOWN if is_agreed else Relation.CONFLICT
    return Relation.AGREE if is_agreed else Relation.UNKNOWN


# The readings of a run are compared to group them, and again to tell the groups apart.
@lru_cache(maxsize=1_024)
def _read(text: str, *, is_question: bool) -> _Statement:
    text = spell_negations(text)
    if not is_question:
        # "Every month" is no "every two months".
        text = _EACH.sub(r"\1 1 \2", text)
    quantities, rest = find_quantities(text, is_question=is_question)
    found = [word for word in plain_words(rest) if word.casefold() not in _STOPWORDS]
    start = re.match(r"\W*(yes|no)\b", text, re.IGNORECASE)
    if start and found[:1] == [start[1]]:
        # Two answers that are both "no" do not agree for that alone.
        del found[0]
    # Only numbers have units, and looking for them takes long. Not every number counts as a quantity: ".5", "one".
    units = find_units(text) if quantities or _NUMBER.search(text) else frozenset[str]()
    words = units.union(singular(word.casefold()) for word in found)
    return _Statement(
        quantities=quantities,
        is_below_zero=is_below_zero(text),
        words=words.union(*quantities.values()),
        units=words & _UNITS,
        is_name=bool(found) and not quantities and all(word[0].isupper() for word in found),
        polarity=start[1].casefold() == "yes" if start else None,
        sense=sense_of(text),
    )


def _are_opposite(one: _Statement, other: _Statement) -> bool:
    return one.sense.is_opposite(other.sense, one.words & other.words)


def _quantities_conflict(one: _Statement, other: _Statement) -> bool:
    # "October 1919" says more than "1919", and does not contradict it. Two texts differ if each has what the other
    # lacks.
    return any(
        not (one.quantities[kind] <= other.quantities[kind] or one.quantities[kind] >= other.quantities[kind])
        for kind in one.quantities.keys() & other.quantities.keys()
    )


def _answers_conflict(one: _Statement, other: _Statement) -> bool:
    if one.polarity is not None and other.polarity is not None and one.polarity != other.polarity:
        return True
    if one.quantities and other.quantities and _are_exclusive(one.units, other.units):
        return True
    if one.is_below_zero != other.is_below_zero and _share_quantity(one, other):
        return True
    if _quantities_conflict(one, other):
        # Twelve months can be one year.
        return not _units_differ(one, other)
    if one.quantities and one.quantities == other.quantities and _units_differ(one, other):
        # Five minutes are not five seconds; five miles an hour are five mph.
        return one.units <= UNITS_OF_TIME and other.units <= UNITS_OF_TIME
    return one.is_name and other.is_name and one.words.isdisjoint(other.words)


def _answers_agree(one: _Statement, other: _Statement) -> bool:
    shared = len(one.words & other.words)
    if not shared or _units_differ(one, other) or _quantities_conflict(one, other):
        return False
    # "At puberty" does not say the same as a sentence that begins with it. "1919" says the same as a sentence that
    # gives it.
    if shared < LEAST_SHARE * max(len(one.words), len(other.words)) and not _share_quantity(one, other):
        return False
    return shared == min(len(one.words), len(other.words))


def _share_quantity(one: _Statement, other: _Statement) -> bool:
    return any(
        one.quantities[kind] & other.quantities[kind] for kind in one.quantities.keys() & other.quantities.keys()
    )


def _is_contrast(one: _Statement, other: _Statement) -> bool:
    return len(one.words - other.words) == len(other.words - one.words) == 1 and bool(one.words & other.words)


def _units_differ(one: _Statement, other: _Statement) -> bool:
    return bool(one.units and other.units and not one.units & other.units)


def _are_exclusive(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one & EXCLUSIVE_UNITS and other & EXCLUSIVE_UNITS and not one & other & EXCLUSIVE_UNITS)
