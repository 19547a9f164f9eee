"""Texts and presentations of OpenDocument as HTML: their elements become those with the same meaning.

The file has only how to count, so automatic numbers are written into it first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.marks import LABEL_END, LABEL_START
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.numbering import Counts, Level
from pgclarify.ingest.packages import Package
from pgclarify.ingest.parsed import Parsed, Section, Unreadable

if TYPE_CHECKING:
    from lxml.etree import _Element

_OUTLINE: Final = "outline-style"
# What is no text, and as what it is counted.
_UNSEEN: Final = {
    "table-of-content": "",
    "covered-table-cell": "",
    "forms": "",
    "ruby-text": "",
    "title": "",
    "desc": "",
    "annotation": "comment",
    "changed-region": "tracked deletion",
    "image": "picture",
    "object": "embedded object",
}
_TAGS: Final = {
    "list": "ul",
    "list-item": "li",
    "list-header": "li",
    "table-row": "tr",
    "table-header-rows": "thead",
    "line-break": "br",
    "text-box": "div",
}
_KEPT: Final = ("a", "aside", "p", "table")
_TAKEN_OUT: Final = {
    "hidden": "hidden text",
    "struck": "struck-out text",
}
_WITHOUT_MEANING: Final = "none"
_MARGINS: Final = ("header", "footer", "header-decl", "footer-decl")


def read_odf(data: bytes, kind: str) -> Parsed:
    """Read a text or a presentation, with its notes, and with headers and footers once.

    Raises:
        ImportError: If the extra "files" is not installed.
        Unreadable: If it is of another kind.
        ValueError: If a part is no XML.
        zipfile.BadZipFile: If it is no archive.
    """
    package = Package(data)
    content = package.plain("content.xml")
    others = package.plain("styles.xml")
    meta = package.plain("meta.xml")
    body = content.find(f"body/{kind}")
    if body is None:
        raise Unreadable(f"It is no {kind} of OpenDocument.", "Rename it to what it is.")
    styles: dict[str, _Element] = {}
    levels: dict[str, dict[int, Level]] = {}
    for one in (others, content):
        styles |= {style.get("name", ""): style for style in one.iter("style")}
        for way in one.iter("list-style", _OUTLINE):
            name = _OUTLINE if way.tag == _OUTLINE else way.get("name", "")
            levels[name] = dict(map(_level, way))
    looks = {name: set(_looks(name, styles)) for name in styles}
    unread: Counter[str] = Counter()
    margins = dict.fromkeys(_margins(others, content))
    _write_numbers(body, levels)
    _write_notes(body)
    sections: list[Section] = []
    slides = list(body.iterchildren("page"))
    for number, part in enumerate(slides or [body], start=1):
        if "hidden" in looks.get(part.get("style-name", ""), ()):
            unread["hidden slide"] += 1
            continue
        html = _html(part, looks, unread)
        place = ("slide", f"slide {number}") if slides else ("", "")
        sections.append(Section(read_html(html).content, *place))
    seen = "\n".join(section.text for section in sections)
    sections.extend(Section(text) for text in margins if text not in seen)
    return Parsed.of(meta.findtext(".//title"), sections, unread)


def _looks(name: str, styles: Mapping[str, _Element]) -> Iterator[str]:
    """Yield what a style, and those that it is based on, say: sup, sub, b, struck, hidden."""
    seen: set[str] = set()
    while name in styles.keys() - seen:
        seen.add(name)
        for one in styles[name]:
            position = one.get("text-position", "0").split()[0].rstrip("%")
            if position != "0":
                yield "sub" if position.startswith(("sub", "-")) else "sup"
            if one.get("font-weight") == "bold":
                yield "b"
            if one.get("text-line-through-style", "none") != "none":
                yield "struck"
            if one.get("display") == "none" or one.get("visibility") == "hidden":
                yield "hidden"
        name = styles[name].get("parent-style-name", "")


def _margins(*roots: _Element) -> Iterator[str]:
    """Yield the lines of headers and footers, without those that count pages."""
    for root in roots:
        for margin in root.iter(*_MARGINS):
            for line in list(margin.iter("p")) or [margin]:
                text = " ".join("".join(line.itertext()).split())
                if text and line.find(".//page-number") is None:
                    yield text


def _number(element: _Element, name: str, default: int = 1) -> int:
    told = element.get(name, "")
    return int(told) if told.isdecimal() else default


def _level(element: _Element) -> tuple[int, Level]:
    """Return a level, with its depth from 0."""
    depth = _number(element, "level")
    kind = element.get("num-format", "")
    start = _number(element, "start-value")
    first = depth + 1 - _number(element, "display-levels")
    places = ".".join(f"%{place}" for place in range(first, depth + 1))
    prefix, suffix = element.get("num-prefix", ""), element.get("num-suffix", "")
    text = f"{prefix}{places}{suffix}" if kind else ""
    return depth - 1, Level(text, kind, start)


def _write_numbers(body: _Element, levels: Mapping[str, Mapping[int, Level]]) -> None:
    """Write automatic numbers, between signs, before the paragraphs and headings that have them."""
    counts = Counts()
    name = ""
    for number, paragraph in enumerate(body.iter("p", "h")):
        item = paragraph.getparent()
        lists = list(paragraph.iterancestors("list"))
        if lists and item.tag == "list-item":
            if item.index(paragraph) > 0:
                # The number is that of the first paragraph.
                continue
            # A list in an item has the style of the list around it.
            style = ""
            for one in reversed(lists):
                style = one.get("style-name", style)
            is_begun = item.getprevious() is None and len(lists) == 1
            if is_begun and lists[0].get("continue-numbering") != "true":
                name = f"list {number}"
            start = _number(item, "start-value", 0) or None
            label = counts.label(name, levels.get(style, {}), len(lists) - 1, start)
        else:
            depth = _number(paragraph, "outline-level", 0) - 1
            label = counts.label(_OUTLINE, levels.get(_OUTLINE, {}), depth)
        if label:
            paragraph.text = f"{LABEL_START}{label}{LABEL_END}{paragraph.text or ''}"


def _write_notes(body: _Element) -> None:
    """Put each note below its block, and leave its mark."""
    for note in reversed(list(body.iter("note"))):
        block = note
        while block.getparent() is not body:
            block = block.getparent()
        mark = note.findtext("note-citation") or ""
        below = note.makeelement("aside", {"role": "doc-footnote"})
        below.text = f"[{mark}]"
        below.extend(note.findall("note-body/*"))
        block.addnext(below)
        tail = note.tail
        note.clear()
        note.tag, note.text, note.tail = "a", mark, tail
        note.set("role", "doc-noteref")


def _html(part: _Element, looks: Mapping[str, set[str]], unread: Counter[str]) -> str:
    from lxml import etree

    _take_out(part, _UNSEEN, unread)
    # Those in an element have got their names before.
    for element in reversed(list(part.iter())):
        style = element.get("style-name", "")
        _rename(element, looks.get(style, set()))
    part.tag = "body"
    _take_out(part, _TAKEN_OUT, unread)
    etree.strip_tags(part, _WITHOUT_MEANING)
    return str(etree.tostring(part, encoding="unicode", method="html", with_tail=False))


def _take_out(part: _Element, kinds: Mapping[str, str], unread: Counter[str]) -> None:
    from lxml import etree

    for element in part.iter(*kinds):
        if kind := kinds[element.tag]:
            unread[kind] += 1
    etree.strip_elements(part, *kinds, with_tail=False)


def _rename(element: _Element, looks: set[str]) -> None:
    """Make an element that HTML has of one of OpenDocument."""
    name = element.tag
    told: dict[str, str] = {}
    if name in ("a", "aside"):
        told = dict(element.attrib)
    elif name in ("p", "h", "span") and looks & _TAKEN_OUT.keys():
        name = "hidden" if "hidden" in looks else "struck"
    elif name == "h":
        name = f"h{min(_number(element, 'outline-level'), 6)}"
    elif name == "span":
        name = min(looks, key=("sup", "sub", "b").index, default=_WITHOUT_MEANING)
    elif name == "frame":
        name = "h2" if element.get("class") == "title" else "div"
    elif name in ("s", "tab"):
        element.text = " "
        name = _WITHOUT_MEANING
    elif name == "table-cell":
        name = "td"
        told["rowspan"] = element.get("number-rows-spanned", "1")
        told["colspan"] = element.get("number-columns-spanned", "1")
    elif name not in _KEPT:
        name = _TAGS.get(name, _WITHOUT_MEANING)
    element.attrib.clear()
    element.attrib.update(told)
    element.tag = name
