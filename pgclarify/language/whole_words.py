"""Where words and numbers begin and end, in any script, so that a part of a text begins and ends with whole ones."""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from typing import Final

from pgclarify.language.measured import measured_around

UNSPACED: Final = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Letters of scripts without blanks between words."""

_IS_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_IDEOGRAPHIC: Final = frozenset("〇零一二三四五六七八九十百千万萬億亿")
_COUNTERS: Final = frozenset("年月日時时分秒円圓元歳岁人名個个台冊本枚匹回度階点號号番週周")
# They belong to the letter before them, but are in no category of marks: vowels of Thai and Lao, the voicing of
# half-width katakana, joiners and skin colors.
_EXTENDING: Final = frozenset("\u0e33\u0eb3\uff9e\uff9f\u200c\u200d\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_ZERO_WIDTH_JOINER: Final = "\u200d"
# The combining class of signs that join two consonants of an Indic script.
_VIRAMA: Final = 9

_HYPHENS: Final = frozenset("-\u2010\u2011")
# Between letters. Hebrew has two marks of its own, Catalan a dot.
_INNER_MARKS: Final = frozenset("'\u2019\u02bc\uff07\u05f3\u05f4\u00b7&@_")
# Between digits: separators of thousands and fractions, of times and dates, and dashes of ranges.
_NUMBER_MARKS: Final = frozenset(
    ".,:/'\u2019\u00d7^-\u2010\u2011\u2012\u2013\u2212~\u066b\u066c\u301c\uff0c\uff0d\uff0e\uff1a\uff5e"
)
_SIGNS: Final = frozenset("+-\u2212\u2013\u00b1~\u2248<>\u2264\u2265")
_MINUS: Final = frozenset("-\u2212")
# Before other dashes, or at the beginning of a line, a dash may be no minus.
_BEFORE_MINUS: Final = re.compile(r"(?:[^\s\d°%$€£¥][^\S\n]|\()$")
_UNIT_SIGNS: Final = frozenset("%\u2030\u00b0\uff05\u2032\u2033")
# A superscript belongs to these. Elsewhere it is the number of a note.
_HAS_POWER: Final = re.compile(r"(?:(?<![\d.,])10|(?<!\w)[kcdm]?m)$")
_SUPERSCRIPTS: Final = frozenset("\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079\u207b")
# "Ann" is not "Anns".
_LEAST_STEM: Final = 4


class Bond(IntEnum):
    """How closely two characters that stand side by side belong together."""

    NONE = 0
    """They may be parted."""
    LOOSE = 1
    """One is a unit or an ending: "40 %" without its blank, "40th", "Ida's"."""
    CLOSE = 2
    """They are parts of one number with its sign, of a range, a date or an identifier: "1,250", "2-5", "a.m"."""
    FIRM = 3
    """They are letters or digits of one word or number, a minus and its number, or a letter and its mark."""


def bond(text: str, place: int) -> Bond:
    """Tell how closely the characters before and after a place of a text belong together, in constant time."""
    if not 0 < place < len(text):
        return Bond.NONE
    before, after = text[place - 1], text[place]
    if before.isspace() or after.isspace():
        return Bond.NONE
    if _extends(after) or before == _ZERO_WIDTH_JOINER or unicodedata.combining(before) == _VIRAMA:
        return Bond.FIRM
    is_letter_before, is_letter_after = _is_letter(before), _is_letter(after)
    if is_letter_before and is_letter_after:
        return _bond_of_letters(text, place)
    if not is_letter_before and not is_letter_after:
        return _bond_of_signs(text, place)
    # The letter is on one side of a mark, and there may be another letter on its other side.
    middle = place if is_letter_before else place - 1
    over = _bond_over_mark(*text[middle - 1 : middle + 2]) if 0 < middle < len(text) - 1 else Bond.NONE
    return over or _bond_of_signs(text, place)


def widen(text: str, start: int, end: int) -> tuple[int, int]:
    """Move the ends of a part of a text outwards, so that it begins and ends with whole words, numbers and dates.

    Args:
        text: Any text.
        start: Offset of the first character of the part.
        end: Offset after its last character.

    Returns:
        The offsets of the widened part. It may be longer by a unit ("40" of "40 euros"), a sign, the day of a month.
    """
    start, end = _word_start(text, start), _word_end(text, end)
    around = [span for place in (start, end) if (span := measured_around(text, place))]
    if not around:
        return start, end
    first, last = min(start, *(one for one, _ in around)), max(end, *(one for _, one in around))
    return _word_start(text, first), _word_end(text, last)


def cut_parts(text: str, start: int, end: int) -> list[str]:
    """Return what a part of a text has of the words that it cuts at its ends: "Lind" of "Lindgren".

    A small word that lacks only the ending of a plural is none: "player" of "players".
    """
    parts: list[str] = []
    if bond(text, start) is Bond.FIRM:
        parts.append(text[start : min(end, _word_end(text, start + 1))])
    if bond(text, end) is Bond.FIRM:
        word = text[max(start, _word_start(text, end - 1)) : end]
        is_form = word.islower() and len(word) >= _LEAST_STEM and text[end : _word_end(text, end)] == "s"
        if not is_form:
            parts.append(word)
    return parts


def _word_start(text: str, place: int) -> int:
    while bond(text, place):
        place -= 1
    return place


def _word_end(text: str, place: int) -> int:
    while bond(text, place):
        place += 1
    return place


def _is_letter(character: str) -> bool:
    """Whether a character is a letter, a decimal digit, a fraction or a mark of a letter."""
    if character.isalpha() or character.isdecimal():
        return True
    return character > "\x7f" and (_extends(character) or unicodedata.decomposition(character).startswith("<fraction>"))


def _extends(character: str) -> bool:
    """Whether a character is a mark of the letter before it."""
    return character > "\x7f" and (unicodedata.category(character)[0] == "M" or character in _EXTENDING)


def _is_unspaced(character: str) -> bool:
    return character > "\x7f" and not character.isdecimal() and _IS_UNSPACED.match(character) is not None


def _is_figure(character: str) -> bool:
    return character.isdecimal() or character in _IDEOGRAPHIC


def _bond_of_letters(text: str, place: int) -> Bond:
    """Tell how closely two letters or digits belong together: in a script without blanks, only those of a number."""
    before, after = text[place - 1], text[place]
    if not _is_unspaced(before) and not _is_unspaced(after):
        # What follows digits is a unit or an ending: "40m", "40th". What precedes them is part of a name: "A320".
        if before.isdecimal() and after.isalpha():
            return Bond.LOOSE
        return Bond.CLOSE if before.isalpha() and after.isdecimal() else Bond.FIRM
    if _is_figure(before) and after in _IDEOGRAPHIC:
        return Bond.FIRM
    is_counted = _is_figure(before) and after in _COUNTERS
    goes_on = before in _COUNTERS and _is_figure(after) and place > 1 and _is_figure(text[place - 2])
    return Bond.CLOSE if goes_on else Bond.LOOSE if is_counted else Bond.NONE


def _bond_over_mark(left: str, mark: str, right: str) -> Bond:
    """Tell how closely the letters or digits on both sides of a mark belong together."""
    if not _is_letter(left) or not _is_letter(right) or _is_unspaced(left) or _is_unspaced(right):
        return Bond.NONE
    digits = left.isdecimal() + right.isdecimal()
    if mark in _HYPHENS and not digits:
        return Bond.FIRM
    # A full stop between a small letter and a capital ends a sentence, and a blank is missing.
    is_inside = mark == "." and not digits and not (left.islower() and right.isupper())
    is_number = digits == 2 and mark in _NUMBER_MARKS
    is_identifier = digits > 0 and (mark in _HYPHENS or mark == "/")
    if is_inside or is_number or is_identifier:
        return Bond.CLOSE
    return Bond.LOOSE if mark in _INNER_MARKS else Bond.NONE


def _bond_of_signs(text: str, place: int) -> Bond:
    """Tell whether one of two characters is a sign or unit of the number in which the other is."""
    before, after = text[place - 1], text[place]
    farther, following = text[max(0, place - 2) : place - 1], text[place + 1 : place + 2]
    if after in _SUPERSCRIPTS:
        is_power = before in _SUPERSCRIPTS or _HAS_POWER.search(text, max(0, place - 4), place) is not None
        return Bond.LOOSE if is_power else Bond.NONE
    starts_number = after.isdecimal() or (_is_currency(after) and following.isdecimal())
    if before in _MINUS and starts_number and _BEFORE_MINUS.search(text, max(0, place - 3), place - 1):
        return Bond.FIRM
    if before in _SIGNS and starts_number and not (farther and _is_letter(farther)):
        return Bond.CLOSE
    is_sum = starts_number and (_is_currency(before) or (_is_currency(after) and before.isalpha()))
    has_unit = before.isdecimal() and (after in _UNIT_SIGNS or _is_currency(after))
    is_scale = before == "°" and after in "CF" and not (following and _is_letter(following))
    return Bond.LOOSE if is_sum or has_unit or is_scale else Bond.NONE


def _is_currency(character: str) -> bool:
    return unicodedata.category(character) == "Sc"
