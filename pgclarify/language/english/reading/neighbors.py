"""Tells by the words that a text lacks whether it is about a neighbor of what is asked: a stolen car for a phone."""

from __future__ import annotations

from pgclarify.language.english.reading.answer_types import asked_word, kind_of_noun
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.grammar import FINITE_FORMS
from pgclarify.language.english.reading.question_terms import with_synonyms
from pgclarify.language.english.reading.spans import MEASURED
from pgclarify.language.english.word_classes import PREPOSITIONS, RARE_PREPOSITIONS
from pgclarify.language.english.words import Word, content_stems, words

# Stems with as many first letters in common are forms of one word: "different" and "difference".
_BEGINNING = 4
# "Outside" carries meaning, but is no noun.
_PLACES = PREPOSITIONS | RARE_PREPOSITIONS


def is_of_neighbor(asked: Asked, said: frozenset[str]) -> bool:
    """Return whether a text lacks a noun of a question for a measure, and so tells that of something else.

    A number must be told of all nouns, in some form. The one that names its kind, as in "at what temperature", is none.

    Args:
        asked: A whole question.
        said: Stems of the text, and of what stands above it.
    """
    if asked.kind not in MEASURED or len(asked.subject) == 1:
        return False
    there = with_synonyms(said)
    beginnings = {stem[:_BEGINNING] for stem in there}
    named = asked_word(asked.query.text)
    return any(
        word.stem not in there and word.stem[:_BEGINNING] not in beginnings
        for word in words(asked.query.text)
        if word.stem in asked.subject
        and not (named and word.stem == named.stem)
        and not _is_verb(word)
        and word.lower not in _PLACES
        and kind_of_noun(word) is not asked.kind
    )


def is_said_elsewhere(asked: Asked, unsaid: frozenset[str], passage: str) -> bool:
    """Return whether the passage has words that a sentence lacks, other than verbs, or if one of them is a number."""
    if any(one[0].isdigit() for one in unsaid):
        return True
    verbs = {word.stem for word in words(asked.query.text) if _is_verb(word)}
    nouns = unsaid - verbs
    return not nouns.isdisjoint(content_stems(passage))


def _is_verb(word: Word) -> bool:
    return word.lower.endswith("ed") or word.lower in FINITE_FORMS
