"""Automatic numbers of OpenDocument texts: the file has only how to count, and what people see is written into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pgclarify.ingest.marks import LABEL_END, LABEL_START
from pgclarify.ingest.numbering import Counts, Level
from pgclarify.ingest.packages import Package, written

if TYPE_CHECKING:
    from lxml.etree import _Element

_TEXT: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_CONTENT: Final = "content.xml"
_STYLES: Final = "styles.xml"
_OUTLINE: Final = "outline"
_STYLE_NAME: Final = f"{_TEXT}style-name"
_CONTINUES: Final = f"{_TEXT}continue-numbering"


def with_numbers(data: bytes) -> bytes:
    """Write automatic numbers, between signs, before the paragraphs and headings that have them.

    Raises:
        ImportError: If the extra "files" is not installed.
        KeyError: If it is no such file.
        ValueError: If a part is no XML.
        zipfile.BadZipFile: If it is no archive.
    """
    package = Package(data)
    root = package.root(_CONTENT)
    styles = _styles(root)
    others = package.find(_STYLES)
    if others is not None:
        styles |= _styles(others)
    counts = Counts()
    name = ""
    for number, paragraph in enumerate(root.iter(f"{_TEXT}p", f"{_TEXT}h")):
        item = paragraph.getparent()
        lists = list(paragraph.iterancestors(f"{_TEXT}list"))
        start = None
        if lists and item.tag == f"{_TEXT}list-item":
            if item.index(paragraph) > 0:
                # The number is that of the first paragraph.
                continue
            # A list in an item has the style of the list around it.
            style = ""
            for one in reversed(lists):
                style = one.get(_STYLE_NAME, style)
            is_begun = item.getprevious() is None and len(lists) == 1
            if is_begun and lists[0].get(_CONTINUES) != "true":
                name = f"list {number}"
            depth = len(lists) - 1
            start = _number(item, "start-value") or None
            label = counts.label(name, styles.get(style, {}), depth, start)
        else:
            depth = _number(paragraph, "outline-level") - 1
            label = counts.label(_OUTLINE, styles.get(_OUTLINE, {}), depth)
        if label:
            text = paragraph.text or ""
            paragraph.text = f"{LABEL_START}{label}{LABEL_END}{text}"
    return package.changed({_CONTENT: written(root)})


def _styles(root: _Element) -> dict[str, dict[int, Level]]:
    """Return the levels of each style of lists, and of headings."""
    found: dict[str, dict[int, Level]] = {}
    for style in root.iter(f"{_TEXT}list-style", f"{_TEXT}outline-style"):
        name = _OUTLINE
        if style.tag == f"{_TEXT}list-style":
            name = str(style.get(f"{_STYLE}name"))
        found[name] = dict(map(_level, style))
    return found


def _number(element: _Element, name: str) -> int:
    told = element.get(f"{_TEXT}{name}", "0")
    return int(told)


def _level(element: _Element) -> tuple[int, Level]:
    """Return a level, with its depth from 0."""
    depth = _number(element, "level")
    shown = _number(element, "display-levels") or 1
    start = _number(element, "start-value") or 1
    kind = element.get(f"{_STYLE}num-format", "")
    text = element.get(f"{_STYLE}num-prefix", "")
    for place in range(depth + 1 - shown, depth + 1):
        text += f"%{place}" if place == depth else f"%{place}."
    text += element.get(f"{_STYLE}num-suffix", "")
    if not kind:
        text = ""
    return depth - 1, Level(text, kind, start)
