"""Tells whether a text denies what a question asks about: "not open on Saturdays"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pgclarify.language.english.opposites import sense_of, spell_negations, split_clauses
from pgclarify.language.english.stems import singular
from pgclarify.language.english.word_classes import EXCLUSIONS, NEGATIONS, NO_CONTENT
from pgclarify.language.words import YES_OR_NO, distinct_words, folded_words

_NO_CONTENT: Final = frozenset(map(singular, NO_CONTENT))
# A clause with one of these says neither yes nor no: "free only for members".
_CONDITIONS: Final = frozenset(map(singular, EXCLUSIONS | {"only", "if", "when", "until", "or"}))
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
        return any(_affirms(said, one) is (words == {"no"}) for one in asked)
    if not YES_OR_NO.isdisjoint(words):
        return False
    given = sense_of(spell_negations(answer))
    told = words - NO_CONTENT
    if given.negated:
        # "Swimming without a cap" may itself be "not allowed": what the answer negates does not count here.
        said = said.replace(spell_negations(answer), _ANSWER)
        if _ANSWER not in said:
            return False
        told = frozenset({_ANSWER})
    answering = [clause for clause in split_clauses(said) if not told.isdisjoint(distinct_words(clause))]
    denied = frozenset[str]().union(*(sense_of(clause).negated for clause in answering or [said])) - _NO_CONTENT
    return bool(denied) and any(not denied.isdisjoint(sense_of(spell_negations(one)).affirmed) for one in asked)


def _affirms(said: str, asked: str) -> bool | None:
    """Tell whether a text affirms or denies all that a question asks for yes or no; None if that is not plain.

    It is plain if a clause has all words of the question with no other word between them, and sets no condition.

    Args:
        said: The text, as `spell_negations` returns it: "The lift never runs on Sundays."
        asked: "Does the lift run on Sundays?"
    """
    wanted = [word for word in _singulars(asked) if word not in _NO_CONTENT and word != "ever"]
    if not wanted or not NEGATIONS.isdisjoint(_singulars(spell_negations(asked))):
        return None
    found = set[bool]()
    for clause in split_clauses(said):
        words = _singulars(clause)
        if not _CONDITIONS.isdisjoint(words):
            return None
        if not set(wanted) <= set(words):
            continue
        places = [place for place, word in enumerate(words) if word in wanted]
        if len(places) > _MOST_PLACES:
            return None
        spans = ((start, end) for start in places for end in places if set(wanted) <= set(words[start : end + 1]))
        start, end = min(spans, key=lambda span: span[1] - span[0])
        inside = words[max(0, start - 1) : end + 1]
        if any(word not in wanted and word not in _NO_CONTENT | NEGATIONS for word in inside[1:]):
            return None
        found.add(NEGATIONS.isdisjoint(inside))
    return found.pop() if len(found) == 1 else None


def _singulars(text: str) -> list[str]:
    return [singular(word) for word in folded_words(text)]
