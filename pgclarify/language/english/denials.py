"""Tells whether a text denies what a question asks about: "not open on Saturdays"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Final

from pgclarify.language.english.opposites import sense_of, spell_negations, split_clauses
from pgclarify.language.english.stems import singular
from pgclarify.language.english.word_classes import EXCLUSIONS, NEGATIONS, NO_CONTENT
from pgclarify.language.words import YES_OR_NO, distinct_words, folded_words

_NO_CONTENT: Final = frozenset(map(singular, NO_CONTENT))
# A clause with one of these says neither yes nor no: "free only for members".
_CONDITIONS: Final = frozenset(map(singular, EXCLUSIONS | {"only", "if", "when", "until", "or"}))
_MAY_STAND_BETWEEN: Final = _NO_CONTENT | NEGATIONS
# A clause that repeats the words of the question more often is not plain.
_MOST_PLACES: Final = 20
# Stands for an answer.
_ANSWER: Final = "itsanswer"


def is_denied(asked: Sequence[str], quote: str, answer: str) -> bool:
    """Whether the clause with the answer negates a word that one of two questions affirms: "not open on Saturdays".

    "Into Canada, and into no other country" has the answer "Canada" in a clause that negates nothing.
    """
    words, said = distinct_words(answer), spell_negations(quote)
    if words in ({"yes"}, {"no"}):
        is_no = words == {"no"}
        return any(_affirms(said, one) is is_no for one in asked)
    if not YES_OR_NO.isdisjoint(words):
        return False
    told = words - NO_CONTENT
    if sense_of(spell_negations(answer)).negated:
        # "Swimming without a cap" may itself be "not allowed": what the answer negates does not count here.
        said = said.replace(spell_negations(answer), _ANSWER)
        if _ANSWER not in said:
            return False
        told = frozenset({_ANSWER})
    clauses = split_clauses(said)
    answering = [clause for clause in clauses if not told.isdisjoint(distinct_words(clause))]
    denied = set[str]()
    for clause in answering or [said]:
        denied |= sense_of(clause).negated - _NO_CONTENT
    if not denied:
        return False
    return any(not denied.isdisjoint(sense_of(spell_negations(one)).affirmed) for one in asked)


def _affirms(said: str, asked: str) -> bool | None:
    """Tell whether a text affirms or denies all that a question asks for yes or no; None if that is not plain.

    It is plain if a clause has all words of the question with no other word between them, and sets no condition.

    Args:
        said: The text, as `spell_negations` returns it: "The lift never runs on Sundays."
        asked: "Does the lift run on Sundays?"
    """
    wanted = {word for word in _singulars(asked) if word not in _NO_CONTENT and word != "ever"}
    if not wanted or _negates(spell_negations(asked)):
        return None
    found = set[bool]()
    for clause in split_clauses(said):
        words = _singulars(clause)
        if not _CONDITIONS.isdisjoint(words):
            return None
        if not wanted.issubset(words):
            continue
        span = _shortest_span(words, wanted)
        if span is None:
            return None
        start, end = span
        others = (word for word in words[start : end + 1] if word not in wanted)
        if not _MAY_STAND_BETWEEN.issuperset(others):
            return None
        found.add(NEGATIONS.isdisjoint(words[max(0, start - 1) : end + 1]))
    return found.pop() if len(found) == 1 else None


def _shortest_span(words: Sequence[str], wanted: set[str]) -> tuple[int, int] | None:
    """Return the first and the last place of the shortest part with all wanted words; None if they are too many."""
    places = [place for place, word in enumerate(words) if word in wanted]
    if len(places) > _MOST_PLACES:
        return None
    pairs = combinations_with_replacement(places, 2)
    spans = [(start, end) for start, end in pairs if wanted.issubset(words[start : end + 1])]
    return min(spans, key=_length)


def _length(span: tuple[int, int]) -> int:
    start, end = span
    return end - start


def _negates(text: str) -> bool:
    return not NEGATIONS.isdisjoint(_singulars(text))


def _singulars(text: str) -> list[str]:
    return [singular(word) for word in folded_words(text)]
