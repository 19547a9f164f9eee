"""Marks beside a word or number, written so that they do not become a part of it."""

from __future__ import annotations

import re
from typing import Final

# Around the number of a paragraph or item, in HTML that a library makes of a file.
LABEL_START, LABEL_END = "\ue002", "\ue003"
LABEL: Final = re.compile(f"{LABEL_START}([^{LABEL_END}]*){LABEL_END}\\s*")
NOTE_MARK: Final = re.compile(r"[\[(]?(?:\d{1,3}|[a-z]|[*\u2020\u2021\u00a7\u00b6#]{1,3})[\])]?")
"""What the mark of a note may be."""
_HIGH: Final = str.maketrans("0123456789+-\u2212=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_LOW: Final = str.maketrans("0123456789+-\u2212=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
# A plain number before an exponent, as in 10^2; not a price before the mark of a footnote, as in $3².
_NUMBER_BEFORE = re.compile(r"(?<![\w.,$€£¥])\d[\d.,]*$")


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


def _is_mark(text: str, translation: dict[int, int]) -> bool:
    return bool(text) and all(ord(character) in translation for character in text)
