"""Where words and numbers begin and end, in any script, so that a part of a text begins and ends with whole ones."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from pgclarify.language.english.numbers import CARDINALS, SCALES, TENS

UNSPACED: Final = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Letters of scripts without blanks between words."""

_IS_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
# Marks, joiners, and colors of skin.
_EXTENDING: Final = frozenset(("Mn", "Mc", "Me", "Cf", "Sk"))
_JOINER: Final = "\u200d"
# The combining class of signs that join two consonants of an Indic script.
_VIRAMA: Final = 9
_HYPHENS: Final = frozenset("-\u2010\u2011")
_MINUS: Final = frozenset("-\u2212")
_BEFORE_MINUS: Final = frozenset(" \n\t\u00a0\u202f(")
_POINTS: Final = frozenset(".,:'\u2019\u066b\u066c\uff0c\uff0e")
# No word has them, but numbers may.
_PARTING: Final = frozenset(',:;!?()[]{}|"\u2013\u2014\u2026\u201c\u201d\u201e\u00ab\u00bb')

_NUMERALS: Final = frozenset((*CARDINALS, *TENS, *SCALES))
_WORD: Final = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
# Behind a mark that ends a sentence; before a comma (not of a date), a bracket, a cell, or a line that begins with a
# capital or a mark.
_CLAUSE_END: Final = re.compile(
    r"[.!?\u2026\u061f\u0964][\"'\u2019\u201d\u00bb]*(?!\S)|[\u3002\uff01\uff1f]"
    r"|(?=[;:](?!\S)|,(?!\S|\s\d)|[()\[\]|\u3001\uff0c\uff1a\uff1b]|\n\s*(?:[^\w\s]|[A-Z]))"
)
_BLANKS_AND_MARKS: Final = " \n\t;:,()[]|\u3001\uff0c\uff1a\uff1b"
# What belongs to a number is at most so many characters away.
_FARTHEST: Final = 100


def is_joined(text: str, place: int, *, closely: bool = False) -> bool:
    """Tell whether the characters before and after a place of a text are in one word or number.

    Args:
        text: Any text.
        place: An offset.
        closely: Whether a number ends at a letter, and a word at an apostrophe or another mark: 40 of "40m", Ida of
            "Ida's". "Non-refundable", "-5" and "1,250.50" are still whole.
    """
    before = text[place - 1 : place]
    after = text[place : place + 1]
    if not before or not after:
        return False
    if before.isspace() or after.isspace():
        return False
    if _extends(after) or before == _JOINER or unicodedata.combining(before) == _VIRAMA:
        return True
    if _is_figure(before) and _is_figure(after):
        return True
    if before in _MINUS and after.isdecimal():
        is_first = place == 1
        return is_first or text[place - 2] in _BEFORE_MINUS
    if not _is_of_word(before):
        return _is_joined_over(text, place - 1, closely)
    if not _is_of_word(after):
        return _is_joined_over(text, place, closely)
    return not closely or before.isdecimal() == after.isdecimal()


def _is_joined_over(text: str, place: int, closely: bool) -> bool:
    """Whether the character at a place joins those before and after it."""
    left = text[place - 1 : place]
    mark = text[place]
    right = text[place + 1 : place + 2]
    if not left or not right:
        return False
    if not _is_of_word(left) or not _is_of_word(right):
        return False
    is_number = left.isdecimal(), right.isdecimal()
    if all(is_number):
        return not closely or mark in _POINTS
    if any(is_number):
        return not closely and mark not in _PARTING
    return mark in _HYPHENS if closely else mark not in _PARTING


def widen(text: str, start: int, end: int) -> tuple[int, int]:
    """Move the ends of a part of a text outwards, so that it begins and ends with whole words, numbers and dates.

    Signs, units and months are not known. So a part that begins or ends at a number, or beside one, is widened to its
    clause.

    Args:
        text: Any text.
        start: Offset of the first character of the part.
        end: Offset after its last character.

    Returns:
        The offsets of the widened part.
    """
    start, end = widen_to_words(text, start, end)
    if not _is_at_number(text, start) and not _is_at_number(text, end):
        return start, end
    first = max(0, start - _FARTHEST)
    for match in _CLAUSE_END.finditer(text, first, start):
        first = match.end()
    clause_before = text[first:start].lstrip(_BLANKS_AND_MARKS)
    last = min(len(text), end + _FARTHEST)
    following = _CLAUSE_END.search(text, end - 1, last)
    if following:
        last = following.end()
    clause_after = text[end:last].rstrip()
    return widen_to_words(text, start - len(clause_before), end + len(clause_after))


def widen_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Move the ends of a part of a text outwards to the ends of their words."""
    while is_joined(text, start):
        start -= 1
    while is_joined(text, end):
        end += 1
    return start, end


def split_closely(text: str) -> frozenset[str]:
    """Return the words, numbers and other characters of a text, each without what `is_joined` parts closely."""
    found = set[str]()
    start = 0
    for place in range(1, len(text) + 1):
        if not is_joined(text, place, closely=True):
            found.add(text[start:place])
            start = place
    return frozenset(found)


def _extends(character: str) -> bool:
    """Whether a character is a mark of the letter before it."""
    if character <= "\x7f":
        return False
    # Vowels of Thai and Lao, and the voicing of half-width katakana, are decomposed to marks.
    decomposed = unicodedata.normalize("NFKD", character)
    return unicodedata.category(decomposed[0]) in _EXTENDING


def _is_figure(character: str) -> bool:
    """Whether a character is a digit, a fraction or a Chinese numeral, but not the number of a note."""
    return character.isdecimal() or (character.isnumeric() and not character.isdigit())


def _is_of_word(character: str) -> bool:
    """Whether a character is a letter, its mark or a digit, in a script with blanks between words."""
    return (character.isalnum() or _extends(character)) and not _IS_UNSPACED.match(character)


def _is_at_number(text: str, place: int) -> bool:
    """Whether the word before or after a place is a number, or has a digit."""
    first = max(0, place - _FARTHEST)
    before = _WORD.findall(text, first, place)
    after = _WORD.findall(text, place, place + _FARTHEST)
    beside = [*before[-1:], *after[:1]]
    return any(map(_is_number, beside))


def _is_number(word: str) -> bool:
    if any(map(str.isnumeric, word)):
        return True
    parts = word.casefold().split("-")
    return not _NUMERALS.isdisjoint(parts)
