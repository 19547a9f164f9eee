"""How a Word file numbers its paragraphs: by lists, whose levels styles may name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.numbering import ZERO, Counts, Level

if TYPE_CHECKING:
    from lxml.etree import _Element

_W: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_KINDS: Final = {
    "lowerLetter": "a",
    "upperLetter": "A",
    "lowerRoman": "i",
    "upperRoman": "I",
    "decimalZero": ZERO,
}
_NO_NUMBER: Final = "0"


class WordNumbers:
    """Numbers the paragraphs of a file.

    Args:
        numbering: The part with the lists; None if the file has none.
        styles: The part with the styles of paragraphs; None if the file has none.
    """

    def __init__(self, numbering: _Element | None, styles: _Element | None) -> None:
        self._counts = Counts()
        self._styles = _named(styles, "style", "styleId")
        self._lists = _named(numbering, "num", "numId")
        # How lists count; one may refer to that of a style.
        self._ways = _named(numbering, "abstractNum", "abstractNumId")
        self._of_style = {_value(way, "w:styleLink"): name for name, way in self._ways.items()}
        self._levels: dict[str, dict[int, Level]] = {}
        self._depth_of_style: dict[tuple[str, str], int] = {}
        for name, way in self._ways.items():
            self._levels[name] = dict(_levels(way))
            for depth, element in _elements_of_levels(way):
                style = _value(element, "w:pStyle")
                place = (name, style)
                self._depth_of_style[place] = depth

    def label(self, paragraph: _Element) -> str:
        """Return the number of the next paragraph; empty if it has none, or a bullet."""
        number = depth = ""
        style = _value(paragraph, "w:pPr/w:pStyle")
        for one in (paragraph, *self._with_bases(style)):
            number = number or _value(one, "w:pPr/w:numPr/w:numId")
            depth = depth or _value(one, "w:pPr/w:numPr/w:ilvl")
        if number not in self._lists:
            return ""
        way = _value(self._lists[number], "w:abstractNumId")
        if link := _value(self._ways.get(way), "w:numStyleLink"):
            way = self._of_style.get(link, way)
        level = _number(depth, self._depth_of_style.get((way, style or _NO_NUMBER), 0))
        # A list may begin anew, once.
        override = f"w:lvlOverride[@w:ilvl='{level}']/w:startOverride"
        overrides = _found(self._lists[number], override)
        start = None
        for element in overrides:
            start = _number(_value(element, "."), 1)
            element.getparent().remove(element)
        own = dict(_levels(self._lists[number]))
        levels = self._levels.get(way, {}) | own
        return self._counts.label(way, levels, level, start)

    def _with_bases(self, style: str) -> Iterator[_Element]:
        seen: set[str] = set()
        while style in self._styles and style not in seen:
            seen.add(style)
            yield self._styles[style]
            style = _value(self._styles[style], "w:basedOn")


def _elements_of_levels(way: _Element) -> Iterator[tuple[int, _Element]]:
    for element in way.iter(f"{{{_W}}}lvl"):
        depth = element.get(f"{{{_W}}}ilvl", "")
        yield _number(depth, 0), element


def _levels(way: _Element) -> Iterator[tuple[int, Level]]:
    """Yield the levels of a list, or those in which it differs, by their depth."""
    for depth, element in _elements_of_levels(way):
        yield depth, _level(element)


def _level(element: _Element) -> Level:
    kind = _value(element, "w:numFmt")
    return Level(
        text="" if kind == "bullet" else _value(element, "w:lvlText"),
        kind=_KINDS.get(kind, "1"),
        start=_number(_value(element, "w:start"), 1),
        restarts=_value(element, "w:lvlRestart") != _NO_NUMBER,
        is_decimal=bool(_found(element, "w:isLgl")),
    )


def _named(root: _Element | None, tag: str, key: str) -> dict[str, _Element]:
    """Return the elements of a tag by one of their attributes."""
    found: dict[str, _Element] = {}
    for one in root.iter(f"{{{_W}}}{tag}") if root is not None else ():
        name = one.get(f"{{{_W}}}{key}")
        found[str(name)] = one
    return found


def _found(element: _Element, path: str) -> list[_Element]:
    return list(element.xpath(path, namespaces={"w": _W}))


def _value(element: _Element | None, path: str) -> str:
    """Return the value of a property; empty if it is not there."""
    if element is None:
        return ""
    return str(element.xpath(f"string({path}/@w:val)", namespaces={"w": _W}))


def _number(told: str, default: int) -> int:
    if told.isdecimal():
        return int(told)
    return default
