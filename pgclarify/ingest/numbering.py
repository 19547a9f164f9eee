"""Automatic numbers of lists and headings: the file has only how to count, and what people see is written here."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_PLACE: Final = re.compile(r"%(\d+)")
_ROMAN: Final = {
    1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v",
    4: "iv", 1: "i",
}  # fmt: skip
_MOST_ROMAN: Final = 4000
ZERO: Final = "01"
"""The kind of decimal numbers of at least two digits."""


@dataclass(frozen=True, slots=True)
class Level:
    """How the paragraphs of a level are numbered.

    Attributes:
        text: Such as "%1.%2", with the numbers of the levels from 1; empty for a bullet.
        kind: As HTML has it: "1", "a", "A", "i", "I"; or ZERO.
        start: The first number.
        restarts: Whether it begins anew after a paragraph of a level above.
        is_decimal: Whether the numbers of all levels are decimal here.
    """

    text: str
    kind: str = "1"
    start: int = 1
    restarts: bool = True
    is_decimal: bool = False


class Counts:
    """Counts the paragraphs of a document, by the names of their lists."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)

    def label(self, name: str, levels: Mapping[int, Level], depth: int, start: int | None = None) -> str:
        """Return the number of the next paragraph of a list; empty if it has none, or a bullet.

        Args:
            name: Of the list.
            levels: By their depth, from 0.
            depth: Of the paragraph.
            start: Its number, if the count begins anew.
        """
        if depth not in levels:
            return ""
        counts = self._counts[name]
        level = levels[depth]
        counts[depth] = counts.get(depth, level.start - 1) + 1 if start is None else start
        for deeper in [one for one in counts if one > depth]:
            if deeper not in levels or levels[deeper].restarts:
                del counts[deeper]

        def told(place: re.Match[str]) -> str:
            above = int(place[1]) - 1
            if above not in levels:
                return ""
            kind = "1" if level.is_decimal else levels[above].kind
            return numeral(counts.get(above, levels[above].start), kind)

        return _PLACE.sub(told, level.text).strip()


def numeral(number: int, kind: str) -> str:
    """Write the number of an item.

    Args:
        number: From 0.
        kind: As in Level; anything else is decimal.
    """
    told = str(number)
    if kind == ZERO:
        return told.zfill(2)
    if kind in ("i", "I") and 0 < number < _MOST_ROMAN:
        told = ""
        for value, letters in _ROMAN.items():
            told += letters * (number // value)
            number %= value
    elif kind in ("a", "A") and number > 0:
        # After z comes aa, then bb.
        times, letter = divmod(number - 1, 26)
        told = chr(ord("a") + letter) * (times + 1)
    return told.upper() if kind.isupper() else told
