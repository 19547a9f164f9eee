"""Are two short answers to one question the same, judged by their words or by their vectors?"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.contradictions import Relation, relate
from pgclarify.language.names import TITLES, join_initials
from pgclarify.language.words import COMMON, plain_words

_POLARITY = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
# A shorter acronym is ambiguous.
_LEAST_LETTERS = 3
# A vector shorter than this has no direction: the answer adds nothing to its question, and the rest is rounding.
_LEAST_NORM = 1e-3


def relate_answers(one: str, other: str) -> Relation:
    """Compare two answers to the same question, by their words alone.

    AGREE: the words are the same but for case, small words and punctuation; the names are the same but for initials or
    an acronym (J. Ping, Jean Ping; NIDA, National Institute of Dramatic Art); both are yes, or both are no; or they
    agree as in `relate`: one says all that the other says, or they share half of their words.

    CONFLICT: each name has a word that the other lacks (Kris Benson, Anna Benson); or they conflict as in `relate`:
    other numbers, dates or times, yes against no, names that share no word.

    UNKNOWN: everything else.

    Args:
        one: An answer, a few words long.
        other: Another answer. The order of the two does not matter.
    """
    words, other_words = _words(one), _words(other)
    if _folded(words) == _folded(other_words) or _abbreviates(words, other_words) or _abbreviates(other_words, words):
        return Relation.AGREE
    relation = relate(("", one), ("", other))
    if relation is Relation.CONFLICT or _are_different_names(words, other_words):
        return Relation.CONFLICT
    # Two answers to one question agree if both are "no".
    return Relation.AGREE if _POLARITY.match(one) and _POLARITY.match(other) else relation


def answer_directions(answers: NDArray[np.float32], question: NDArray[np.float32]) -> NDArray[np.float32]:
    """Remove from the vectors of answers the part that comes from the question.

    An answer alone is embedded without context: "nine in the morning" is far from "9 am". With its question before it,
    all answers are alike, because most of the embedded text is the question. So the question's direction is removed.

    Args:
        answers: Vectors of "question answer", float32, shape (n_answers, dimensions), rows of unit length.
        question: The question's vector, float32, shape (dimensions,), or one for each answer; unit length.

    Returns:
        float32, shape of answers: the parts orthogonal to the question, scaled to unit length, or zero if there is no
        such part. Their products are cosine similarities.
    """
    rest = answers - np.sum(answers * question, axis=1, keepdims=True) * question
    norms = np.linalg.norm(rest, axis=1, keepdims=True)
    directions: NDArray[np.float32] = np.where(norms < _LEAST_NORM, 0, rest / np.maximum(norms, _LEAST_NORM))
    return directions


def _words(answer: str) -> list[str]:
    """List the words without the dots of abbreviations, without common words and without titles of persons."""
    # A. P. J. Kalam is A.P.J. Kalam, and its A is not an article.
    return [word for word in plain_words(join_initials(answer)) if word.casefold() not in COMMON | TITLES]


def _folded(words: list[str]) -> list[str]:
    return [word.casefold() for word in words]


def _abbreviates(short: list[str], full: list[str]) -> bool:
    """Whether one name shortens the other: word by word, some by initials, or as an acronym."""
    if len(short) == 1 and len(full) == len(short[0]) >= _LEAST_LETTERS:
        return short[0].isupper() and short[0] == "".join(word[0] for word in full)
    return (
        len(short) == len(full) > 1
        and any(len(word) > 1 for word in short)
        and all(one == other or (len(one) == 1 and one == other[0]) for one, other in zip(short, full, strict=True))
    )


def _are_different_names(words: list[str], other_words: list[str]) -> bool:
    if not all(word[0].isupper() for word in (*words, *other_words)):
        return False
    only_one = set(words) - set(other_words)
    only_other = set(other_words) - set(words)
    return bool(only_one and only_other) and not any(
        _may_be_the_same(one, other) for one in only_one for other in only_other
    )


def _may_be_the_same(one: str, other: str) -> bool:
    # Kris, Kristopher; K, Kris.
    short, full = sorted((one.casefold(), other.casefold()), key=len)
    return full.startswith(short)
