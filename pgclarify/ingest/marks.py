"""Marks beside a word or number, written so that they do not become a part of it; and numbers of lists."""

from __future__ import annotations

import re
from typing import Final

# Around the number of a paragraph or item, in HTML that a library makes of a file.
LABEL_START, LABEL_END = "\ue002", "\ue003"
LABEL: Final = re.compile(f"{LABEL_START}([^{LABEL_END}]*){LABEL_END}\\s*")
_HIGH: Final = str.maketrans("0123456789+-\u2212=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_LOW: Final = str.maketrans("0123456789+-\u2212=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
# A plain number before an exponent, as in 10^2; not a price before the mark of a footnote, as in $3².
_NUMBER_BEFORE = re.compile(r"(?<![\w.,$€£¥])\d[\d.,]*$")
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MOST_ROMAN: Final = 4000


def note_mark(text: str) -> str:
    """Write the mark of a note: ¹, *, [a]."""
    told = " ".join(text.split())
    if _is_mark(told.strip("[]"), _HIGH):
        return told if "[" in told else told.translate(_HIGH)
    return told if not told or "[" in told or not told[0].isalnum() else f"[{told}]"


def raised(text: str, before: str) -> str:
    """Write a superscript, after the text that stands before it: 10^2, $3², 1st."""
    told = " ".join(text.split())
    if not _is_mark(told, _HIGH):
        return told
    return f"^{told}" if _NUMBER_BEFORE.search(before) else told.translate(_HIGH)


def lowered(text: str) -> str:
    """Write a subscript: H₂O."""
    told = " ".join(text.split())
    return told.translate(_LOW) if _is_mark(told, _LOW) else told


def numeral(number: int, kind: str) -> str:
    """Write the number of an item.

    Args:
        number: From 0.
        kind: As HTML has it: "a", "A", "i", "I"; anything else is decimal.
    """
    if number > 0 and kind.lower() == "a":
        # After z comes aa, then bb.
        letter = chr(ord(kind) + (number - 1) % 26)
        return letter * ((number - 1) // 26 + 1)
    if 0 < number < _MOST_ROMAN and kind.lower() == "i":
        told = ""
        for value, letters in _ROMAN:
            told += letters * (number // value)
            number %= value
        return told if kind == "i" else told.upper()
    return str(number)


def _is_mark(text: str, translation: dict[int, int]) -> bool:
    return bool(text) and all(ord(character) in translation for character in text)
