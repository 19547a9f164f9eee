"""How a Word file numbers its paragraphs: by lists, whose levels styles may name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.numbering import ZERO, Counts, Level

if TYPE_CHECKING:
    from lxml.etree import _Element

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_KINDS: Final = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I", "decimalZero": ZERO}
_NO_NUMBER: Final = "0"


class WordNumbers:
    """Numbers the paragraphs of a file.

    Args:
        numbering: The part with the lists; None if the file has none.
        styles: The part with the styles of paragraphs; None if the file has none.
    """

    def __init__(self, numbering: _Element | None, styles: _Element | None) -> None:
        self._counts = Counts()
        self._styles = {str(one.get(f"{W}styleId")): one for one in _all(styles, "style")}
        self._lists = {str(one.get(f"{W}numId")): one for one in _all(numbering, "num")}
        self._ways = {str(one.get(f"{W}abstractNumId")): one for one in _all(numbering, "abstractNum")}
        self._linked = {value(way, "styleLink"): name for name, way in self._ways.items()}
        self._levels: dict[str, dict[int, Level]] = {}
        self._of_style: dict[tuple[str, str], int] = {}
        for name, way in self._ways.items():
            self._levels[name] = {_depth(one): _level(one) for one in _all(way, "lvl")}
            self._of_style |= {(name, value(one, "pStyle")): _depth(one) for one in _all(way, "lvl")}
        self._begun: set[tuple[str, int]] = set()

    def label(self, paragraph: _Element) -> str:
        """Return the number of the next paragraph; empty if it has none, or a bullet."""
        number, depth = self._place(paragraph)
        if number not in self._lists:
            return ""
        name = self._way(number)
        start = None
        if (number, depth) not in self._begun:
            self._begun.add((number, depth))
            start = self._own_start(number, depth)
        return self._counts.label(name, self._levels.get(name, {}), depth, start)

    def _way(self, number: str) -> str:
        """Return the name of the way in which a list counts, which may be that of a style."""
        name = value(self._lists.get(number), "abstractNumId")
        return self._linked.get(value(self._ways.get(name), "numStyleLink") or "-", name)

    def _own_start(self, number: str, depth: int) -> int | None:
        for override in self._lists[number].findall(f"{W}lvlOverride"):
            start = value(override, "startOverride")
            if _depth(override) == depth and start.isdecimal():
                return int(start)
        return None

    def _place(self, paragraph: _Element) -> tuple[str, int]:
        """Return the number of the list, and the level, of a paragraph or its style."""
        number = depth = ""
        style = value(paragraph.find(f"{W}pPr"), "pStyle")
        for one in (paragraph, *self._with_bases(style)):
            properties = one.find(f"{W}pPr/{W}numPr")
            number = number or value(properties, "numId")
            depth = depth or value(properties, "ilvl")
        if number == _NO_NUMBER:
            return "", 0
        if depth.isdecimal():
            return number, int(depth)
        return number, self._of_style.get((self._way(number), style), 0) if style else 0

    def _with_bases(self, style: str) -> Iterator[_Element]:
        seen: set[str] = set()
        while style in self._styles and style not in seen:
            seen.add(style)
            yield self._styles[style]
            style = value(self._styles[style], "basedOn")


def value(element: _Element | None, name: str) -> str:
    """Return the value of a property; empty if it is not there."""
    found = element.find(f"{W}{name}") if element is not None else None
    return str(found.get(f"{W}val", "")) if found is not None else ""


def _level(element: _Element) -> Level:
    start, kind = value(element, "start"), value(element, "numFmt")
    return Level(
        text="" if kind == "bullet" else value(element, "lvlText"),
        kind=_KINDS.get(kind, "1"),
        start=int(start) if start.isdecimal() else 1,
        restarts=value(element, "lvlRestart") != _NO_NUMBER,
        is_decimal=element.find(f"{W}isLgl") is not None,
    )


def _depth(element: _Element) -> int:
    told = str(element.get(f"{W}ilvl", "0"))
    return int(told) if told.isdecimal() else 0


def _all(root: _Element | None, name: str) -> Iterator[_Element]:
    if root is not None:
        yield from root.iter(f"{W}{name}")
