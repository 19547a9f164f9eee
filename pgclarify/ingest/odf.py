"""Automatic numbers of OpenDocument texts: the file has only how to count, and what people see is written into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.marks import LABEL_END, LABEL_START
from pgclarify.ingest.numbering import Counts, Level
from pgclarify.ingest.packages import Package, written

if TYPE_CHECKING:
    from lxml.etree import _Element

_TEXT: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_CONTENT: Final = "content.xml"
_OUTLINE: Final = "outline"


def with_numbers(data: bytes) -> bytes:
    """Write automatic numbers, between signs, before the paragraphs and headings that have them.

    Raises:
        ImportError: If the extra "files" is not installed.
        KeyError: If a part is missing.
        ValueError: If a part is no XML.
        zipfile.BadZipFile: If it is no archive.
    """
    package = Package(data)
    root = package.root(_CONTENT)
    styles: dict[str, dict[int, Level]] = {}
    for part in {_CONTENT, "styles.xml"} & set(package.parts):
        for style in package.root(part).iter(f"{_TEXT}list-style", f"{_TEXT}outline-style"):
            name = style.get(f"{_STYLE}name") if style.tag.endswith("list-style") else _OUTLINE
            styles[str(name)] = {_number(one, "level") - 1: _level(one) for one in style}
    numbers = _Numbers(styles)
    for element in list(root.iter(f"{_TEXT}list", f"{_TEXT}h")):
        if element.tag == f"{_TEXT}h":
            numbers.count(element, _OUTLINE, _OUTLINE, _number(element, "outline-level") - 1)
        elif next(element.iterancestors(f"{_TEXT}list"), None) is None:
            numbers.read_list(element)
    return package.changed({_CONTENT: written(root)})


class _Numbers:
    """Numbers the paragraphs of a file.

    Args:
        styles: The levels of each style of lists.
    """

    def __init__(self, styles: Mapping[str, Mapping[int, Level]]) -> None:
        self._styles = styles
        self._counts = Counts()
        self._lists = 0

    def read_list(self, element: _Element) -> None:
        """Number the items of a list, and of those in it."""
        if element.get(f"{_TEXT}continue-numbering") != "true":
            self._lists += 1
        self._read(element, str(element.get(f"{_TEXT}style-name")), 0)

    def _read(self, element: _Element, style: str, depth: int) -> None:
        for item in element.iterchildren(f"{_TEXT}list-item"):
            first = next(item.iterchildren(), None)
            if first is not None and first.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                start = _number(item, "start-value", 0) or None
                self.count(first, f"{style} {self._lists}", style, depth, start)
            for inner in item.iterchildren(f"{_TEXT}list"):
                self._read(inner, str(inner.get(f"{_TEXT}style-name", style)), depth + 1)

    def count(self, paragraph: _Element, name: str, style: str, depth: int, start: int | None = None) -> None:
        """Write the number of a paragraph."""
        label = self._counts.label(name, self._styles.get(style, {}), depth, start)
        if label:
            paragraph.text = f"{LABEL_START}{label}{LABEL_END}{paragraph.text or ''}"


def _number(element: _Element, name: str, default: int = 1) -> int:
    return int(element.get(f"{_TEXT}{name}", default))


def _level(element: _Element) -> Level:
    kind = element.get(f"{_STYLE}num-format", "")
    depth = _number(element, "level")
    shown = range(depth + 1 - _number(element, "display-levels"), depth + 1)
    number = ".".join(f"%{place}" for place in shown)
    before, after = (element.get(f"{_STYLE}num-{side}", "") for side in ("prefix", "suffix"))
    return Level(f"{before}{number}{after}" if kind else "", kind, _number(element, "start-value"))
