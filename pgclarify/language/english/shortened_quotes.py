"""Finds the sentence that a quote copies with words left out, as small models do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pgclarify.language.checks import Span
from pgclarify.language.english.numbers import write_numbers
from pgclarify.language.english.opposites import spell_negations
from pgclarify.language.english.word_classes import NEARLY_NEGATIONS, NO_CONTENT
from pgclarify.language.sentences import Sentence
from pgclarify.language.words import folded_words, word_set

# A quote of fewer words is no copy of a sentence.
_FEWEST: Final = 4
# Between the words of a quote, these may not be missing. The possessive ending is a word of its own here.
_NOT_LEFT_OUT: Final = (
    NO_CONTENT | NEARLY_NEGATIONS | word_set("s almost alleged allegedly fake former formerly nearly planned proposed")
)
_CLAUSE_MARK: Final = re.compile(r"[,;:()\[\]\u2013\u2014](?!\d)| - ")
_HYPHEN: Final = re.compile(r"(?<=\w)[-\u2010\u2011](?=\w)")


def find_shortened(quote: str, sentences: Sequence[Sentence]) -> Span | None:
    """Find the shortest sentence that has the words of a quote in their order, and only modifiers between them."""
    words = [word for word in _words_and_marks(quote) if word]
    if len(words) < _FEWEST:
        return None
    copied = (one for one in sentences if _leaves_out_modifiers(words, _words_and_marks(one.text)))
    shortest = min(copied, key=lambda one: len(one.text), default=None)
    return None if shortest is None else (shortest.start, shortest.end)


def _words_and_marks(text: str) -> list[str]:
    """List the words of a text, with "" for the end of a clause.

    A word that turns a meaning round stands by itself: "don't" is "not", "non-refundable" is one word, "twenty" "20".
    """
    clauses = _CLAUSE_MARK.split(_HYPHEN.sub("", spell_negations(text)))
    return [word for clause in clauses for word in (*folded_words(write_numbers(clause)), "")]


def _leaves_out_modifiers(words: Sequence[str], of: Sequence[str]) -> bool:
    """Whether a sentence has the words of a quote in their order, and only modifiers between them."""
    if not set(words) <= set(of):
        return False
    # Where the words up to the current one can end.
    ends = {place for place, word in enumerate(of) if word == words[0]}
    for wanted in words[1:]:
        ends = {place for end in ends for place in _next_places(of, end) if of[place] == wanted}
    return bool(ends)


def _next_places(of: Sequence[str], end: int) -> Iterator[int]:
    """Yield where the next word of a quote may be, after the word at a place of the sentence.

    Modifiers follow a small word: "The church was built in 1872" may leave out "late Gothic" after "the". If a small
    word, a number, a noun before them or the rest of a clause is missing, the sentence says another thing: "not open on
    Sundays", "free only for members", "the museum director opened it", "Ann teaches French, Jon Berg German".
    """
    is_marked = leaves_out = False
    for place in range(end + 1, len(of)):
        word = of[place]
        if word:
            yield place
        if not word and leaves_out:
            return
        if not word:
            is_marked = True
            continue
        if is_marked or of[end] not in NO_CONTENT or word in _NOT_LEFT_OUT or any(map(str.isdigit, word)):
            return
        leaves_out = True
