"""Automatic numbers of Word: the file has only how to count, and what people see is written here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.marks import numeral

if TYPE_CHECKING:
    from lxml.etree import _Element

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_KINDS: Final = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_VALUE: Final = re.compile(r"%(\d)")
_NO_NUMBER: Final = "0"


@dataclass(frozen=True, slots=True)
class _Level:
    """How the paragraphs of a level are numbered.

    Attributes:
        text: Such as "%1.%2", with the numbers of the levels from 1.
        is_decimal: Whether the numbers of all levels are decimal here.
        restarts: Whether it begins anew after a paragraph of a level above.
        style: The paragraphs that it belongs to, if these do not say it.
    """

    start: int
    kind: str
    text: str
    is_decimal: bool
    restarts: bool
    style: str


class Numbering:
    """Counts the paragraphs of a document.

    Args:
        numbering: The part with the ways of counting; None if the file has none.
        styles: The part with the styles of paragraphs; None if the file has none.
    """

    def __init__(self, numbering: _Element | None, styles: _Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._list_of: dict[str, str] = {}
        self._starts: dict[str, dict[int, int]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._styles = {str(one.get(f"{W}styleId")): one for one in _all(styles, "style")}
        links: dict[str, str] = {}
        linked: dict[str, str] = {}
        for one in _all(numbering, "abstractNum"):
            name = str(one.get(f"{W}abstractNumId"))
            self._levels[name] = {_level(level): _read_level(level) for level in one.findall(f"{W}lvl")}
            linked[value(one, "styleLink")] = name
            links[name] = value(one, "numStyleLink")
        for one in _all(numbering, "num"):
            number, name = str(one.get(f"{W}numId")), value(one, "abstractNumId")
            self._list_of[number] = linked.get(links.get(name, ""), name) if links.get(name) else name
            starts = {_level(part): value(part, "startOverride") for part in one.findall(f"{W}lvlOverride")}
            self._starts[number] = {level: int(start) for level, start in starts.items() if start.isdecimal()}

    def label(self, paragraph: _Element) -> str:
        """Return the number of the next paragraph; empty if it has none, or a bullet."""
        number, depth = self._place(paragraph)
        name = self._list_of.get(number, "")
        levels = self._levels.get(name, {})
        if depth not in levels:
            return ""
        level = levels[depth]
        counts = self._counts.setdefault(name, {})
        start = self._starts.get(number, {}).pop(depth, None)
        counts[depth] = start if start is not None else counts.get(depth, level.start - 1) + 1
        for deeper in [one for one in counts if one > depth and (one not in levels or levels[one].restarts)]:
            del counts[deeper]
        if level.kind == "bullet":
            return ""
        return _VALUE.sub(lambda found: self._told(levels, counts, level, int(found[1]) - 1), level.text).strip()

    def _told(self, levels: Mapping[int, _Level], counts: Mapping[int, int], level: _Level, depth: int) -> str:
        if depth not in levels:
            return ""
        count, kind = counts.get(depth, levels[depth].start), levels[depth].kind
        if kind == "decimalZero":
            return f"{count:02}"
        return numeral(count, "1" if level.is_decimal else _KINDS.get(kind, "1"))

    def _place(self, paragraph: _Element) -> tuple[str, int]:
        """Return the number of the list, and the level, of a paragraph or its style."""
        properties = paragraph.find(f"{W}pPr")
        style = value(properties, "pStyle")
        number, depth = _numbered(properties)
        for one in self._with_bases(style):
            own, own_depth = _numbered(one.find(f"{W}pPr"))
            number, depth = number or own, depth or own_depth
        if number and not depth:
            levels = self._levels.get(self._list_of.get(number, ""), {})
            depth = next((str(place) for place, level in levels.items() if style and level.style == style), "")
        return ("" if number == _NO_NUMBER else number), int(depth) if depth.isdecimal() else 0

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


def _numbered(properties: _Element | None) -> tuple[str, str]:
    found = properties.find(f"{W}numPr") if properties is not None else None
    return value(found, "numId"), value(found, "ilvl")


def _read_level(level: _Element) -> _Level:
    start = value(level, "start")
    return _Level(
        start=int(start) if start.isdecimal() else 1,
        kind=value(level, "numFmt") or "decimal",
        text=value(level, "lvlText"),
        is_decimal=level.find(f"{W}isLgl") is not None,
        restarts=value(level, "lvlRestart") != _NO_NUMBER,
        style=value(level, "pStyle"),
    )


def _level(element: _Element) -> int:
    told = str(element.get(f"{W}ilvl", "0"))
    return int(told) if told.isdecimal() else 0


def _all(root: _Element | None, name: str) -> Iterator[_Element]:
    if root is not None:
        yield from root.iter(f"{W}{name}")
