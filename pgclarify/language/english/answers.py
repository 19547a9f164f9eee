"""Are two short answers to one question the same, judged by their words?

`is_variant` is for lists, where taking two answers for one loses an answer: numbers and words must be the same but for
their spelling. `relate_answers` is for votes, where "agrees" may be much wider.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from itertools import product, starmap
from typing import Final

from pgclarify.language.english.contradictions import relate
from pgclarify.language.english.names import TITLES, join_initials
from pgclarify.language.english.numbers import MONTHS, find_quantities, write_numbers
from pgclarify.language.english.word_classes import ARTICLES, COMMON
from pgclarify.language.english.words import plain_words
from pgclarify.language.quotes import fold, without_accents
from pgclarify.language.relations import Relation

_TOKEN: Final = re.compile(r"\d+(?:[.:]\d+)*s?(?!\w)|[^\W_]+|'s(?!\w)|[%$€£&]")
_MINUS: Final = re.compile(r"(?:^|(?<=[\s(]))[-\u2212](?=\d)")
_PARENTHESIS: Final = re.compile(r"\s*\([^()]*\)")
_SYMBOLS: Final = {"%": "percent", "$": "dollars", "€": "euros", "£": "pounds", "&": "and"}
_SKIPPED: Final = ARTICLES | TITLES | {"in", "on", "at"}
_UNTOLD: Final = COMMON | TITLES
_MONTHS: Final = frozenset(MONTHS)

_POLARITY = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
# A shorter acronym is ambiguous.
_LEAST_LETTERS = 3
_SEVERAL = 2


def is_variant(one: str, other: str) -> bool:
    """Tell whether two answers to one question are the same answer in another spelling, judged by their words.

    Numbers have to be the same, in any notation; only a date may be more precise than another (1919, October 1919).
    Words have to be the same, because one more word makes another answer (Kansas City Royals, Prince William). These
    differences do not count: case, accents, punctuation, articles, titles, a part in parentheses that only one of the
    two has, initials (J. Ping, Jean Ping) and acronyms (NIDA, National Institute of Dramatic Art).

    Args:
        one: An answer, a few words long.
        other: Another answer. The order of the two does not matter.
    """
    if fold(one) == fold(other):
        return True
    if ("(" in one) != ("(" in other):
        # If both have parentheses, what is in them may make the answers different.
        one, other = (_PARENTHESIS.sub("", text) for text in (one, other))
    words, other_words = _words(one), _words(other)
    return (
        _spelled(one) == _spelled(other) != ([], [])
        or _abbreviates(words, other_words)
        or _abbreviates(other_words, words)
        or _are_one_date(one, other)
    )


def find_variant(answer: str, found: Sequence[Collection[str]]) -> int | None:
    """Find the earlier answer that an answer is a variant of.

    The answer must match all variants of that one: after "2003" and "May 2003", "June 2003" is another answer. An
    answer in the same words always matches.

    Args:
        answer: A few words.
        found: For each answer found so far, its variants, at least one.

    Returns:
        Its index in found, the first that matches; None if the answer is new.
    """
    said = fold(answer)
    for index, variants in enumerate(found):
        if said in map(fold, variants):
            return index
    for index, variants in enumerate(found):
        if all(is_variant(answer, variant) for variant in variants):
            return index
    return None


def relate_answers(one: str, other: str) -> Relation:
    """Compare two answers to the same question, by their words alone.

    AGREE: they are variants of each other; both are yes, or both are no; or they agree as in `relate`: one says all
    that the other says.

    CONFLICT: each name has a word that the other lacks (Kris Benson, Anna Benson); or they conflict as in `relate`:
    other numbers, dates or times, yes against no, names that share no word.

    UNKNOWN: everything else.

    Args:
        one: An answer, a few words long.
        other: Another answer. The order of the two does not matter.
    """
    if is_variant(one, other):
        return Relation.AGREE
    relation = relate(("", one), ("", other))
    if relation is Relation.CONFLICT:
        return relation
    if _are_different_names(_words(one), _words(other)):
        return Relation.CONFLICT
    if _POLARITY.match(one) and _POLARITY.match(other):
        # Two answers to one question agree if both are "no".
        return Relation.AGREE
    return relation


def _words(answer: str) -> list[str]:
    """List the words without the dots of abbreviations, without common words and without titles of persons."""
    # A. P. J. Kalam is A.P.J. Kalam, and its A is not an article.
    words = plain_words(join_initials(answer))
    return [word for word in words if word.casefold() not in _UNTOLD]


def _spelled(answer: str) -> tuple[list[str], list[str]]:
    """List the numbers and the other words, each in one spelling: in order, except for the parts of a date."""
    spelled = _MINUS.sub(" minus ", answer)
    written = write_numbers(join_initials(spelled))
    plain = without_accents(unicodedata.normalize("NFKD", written))
    found = _TOKEN.findall(plain)
    numbers: list[str] = []
    others: list[str] = []
    for place, said in enumerate(found):
        folded = said.casefold()
        # A capital within a name is no article: vitamin A.
        is_letter = said == "A" and place > 0
        if folded in _SKIPPED and not is_letter:
            continue
        word = _SYMBOLS.get(said, folded)
        is_number = word in _MONTHS or any(map(str.isdigit, word))
        (numbers if is_number else others).append(word)
    is_date = not _MONTHS.isdisjoint(numbers)
    return sorted(numbers) if is_date else numbers, others


def _are_one_date(one: str, other: str) -> bool:
    """Whether one is a date, and the other the same date with the month, or with month and day."""
    found = [find_quantities(text, is_question=False) for text in (one, other)]
    (few, rest), (many, other_rest) = sorted(found, key=_count_kinds)
    if "month" not in many:
        return False
    if few.keys().isdisjoint({"month", "year"}):
        return False
    if any(len(values) != 1 for values in many.values()):
        return False
    if not few.items() <= many.items():
        return False
    return _words(rest) == _words(other_rest)


def _count_kinds(found: tuple[dict[str, frozenset[str]], str]) -> int:
    quantities, _ = found
    return len(quantities)


def _abbreviates(short: list[str], full: list[str]) -> bool:
    """Whether one name shortens the other: word by word, some by initials, or as an acronym."""
    if len(short) == 1 and _is_acronym(short[0], full):
        return True
    if len(short) != len(full) or len(full) < _SEVERAL:
        return False
    # Initials stand for first names: "Act B" is not "Act Baker".
    is_same_last = short[-1] == full[-1]
    return is_same_last and all(map(_is_or_begins, short, full))


def _is_acronym(word: str, full: list[str]) -> bool:
    if len(word) < _LEAST_LETTERS:
        return False
    initials = "".join(one[0] for one in full)
    return word == initials and word[0].isupper()


def _is_or_begins(short: str, full: str) -> bool:
    """Whether a word is another one, or its initial."""
    return short == full or (short == full[0] and short.isalpha())


def _are_different_names(words: list[str], other_words: list[str]) -> bool:
    if not all(word[0].isupper() for word in (*words, *other_words)):
        return False
    here, there = set(words), set(other_words)
    only_one = here - there
    only_other = there - here
    if not only_one or not only_other:
        return False
    pairs = product(only_one, only_other)
    return not any(starmap(_may_be_the_same, pairs))


def _may_be_the_same(one: str, other: str) -> bool:
    # Kris, Kristopher; K, Kris.
    folded = one.casefold(), other.casefold()
    short, full = sorted(folded, key=len)
    return full.startswith(short)
