"""Reads HTML, the only reader of it: all other formats become the tree of a page, too, or give their tables to it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pgclarify.ingest.marks import NOTE_MARK, lowered, note_mark, raised
from pgclarify.ingest.numbering import numeral
from pgclarify.ingest.parsed import Parsed
from pgclarify.language.words import word_set

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import Tag

    from pgclarify.ingest.writer import Writer

# These elements have no text for people, text that is struck out, or only links to other pages (nav). Of ruby, the
# pronunciation (rt) is left out.
_UNSEEN: Final = word_set("nav script style noscript template svg iframe img input button rt rp rtc title del s strike")
_IN_LAYOUT: Final = re.compile("table|h[1-6]")
# The elements that are written in the same way.
_BOXES: Final = (
    "address article aside center details dialog div fieldset figure footer form header hgroup legend main search"
    " section summary"
)
_ALIKE: Final = dict.fromkeys(_BOXES.split(), "div") | {
    "figcaption": "p",
    "dir": "ul",
    "menu": "ul",
    "tt": "code",
}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# What CSS raises and lowers; and its rules, and the classes of which they speak.
_HIGH_STYLE = re.compile(
    r"vertical-align\s*:\s*(?:super|text-top|\+?[\d.]*[1-9])|position\s*:\s*relative[^{}]*\btop\s*:\s*-", re.IGNORECASE
)
_LOW_STYLE = re.compile(r"vertical-align\s*:\s*(?:sub|text-bottom|-)", re.IGNORECASE)
_STYLE = re.compile(r"\{([^{}]*)\}")
_CLASS = re.compile(r"\.([\w-]+)\s*(?:,|\Z)")
_LOW: Final = word_set("sub subscript")
_HIGH: Final = word_set("sup super superscript")
_HEIGHTS: Final = ("sup", "sub", "a", "span", "small", "em", "i", "font")
_NOTE_CLASS = re.compile(
    r"(?:foot|end|side)?note-?_?(?:ref(?:erence)?|mark|call|anchor|link)|fn-?_?(?:ref|mark|link)|reference|citation",
    re.IGNORECASE,
)
_NOTE_TYPES: Final = word_set("doc-footnote doc-endnote doc-biblioentry footnote endnote rearnote")
# A link from a note back to the text is an arrow, or the mark of the note.
_BACK: Final = word_set("doc-backlink footnote-backref footnote-back mw-cite-backlink")
# How lists count: as HTML says it, or a class of docutils and Asciidoctor, or CSS.
_LETTERED = re.compile(r"\b(lower|upper)-?(alpha|latin|roman)\b", re.IGNORECASE)
_NUMERALS: Final = {"loweralpha": "a", "lowerlatin": "a", "lowerroman": "i"}
_START = re.compile(r"<(?:t[dh]|li|d[td])[\s>]", re.IGNORECASE)
_END = re.compile(r"</(?:t[dh]|li|d[td])[\s>]", re.IGNORECASE)


def read_html(html: str, writer: Writer | None = None, *, styles: str = "") -> Parsed:
    """Read an HTML page: headings, lists, tables, notes, quotations and code. Of links only the text is kept.

    Exponents and marks of footnotes stay apart from the number before them: 10^2, $3².

    Args:
        html: The page.
        writer: Writes it as text; None for one that has written nothing yet.
        styles: CSS of the page that stands elsewhere.

    Raises:
        ImportError: If beautifulsoup4 or markdownify is not installed.
        RecursionError: If the page is nested too deeply.
    """
    # Slow to import.
    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

    from pgclarify.ingest.writer import SIGNS, Writer

    writer = writer or Writer()
    with warnings.catch_warnings():
        # The HTML parser reads XHTML well enough.
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        # lxml takes a third of the time, and the other one reads pages of any depth.
        parser = "lxml" if writer.is_drawn or _omits_end_tags(html) else "html.parser"
        soup = BeautifulSoup(html.translate(SIGNS), parser)
    title, metadata = "", dict[str, str]()
    if not writer.is_drawn:
        # What is drawn is seen, and this takes time.
        title = " ".join(soup.title.get_text().split()) if soup.title else ""
        if author := soup.find("meta", attrs={"name": "author"}):
            metadata["author"] = str(author.get("content", ""))
        styles = "\n".join([styles, *(style.get_text() for style in soup("style"))])
        _simplify(soup, dict(_raised_classes(styles)))
    if not writer.is_drawn or "<li" in html:
        _write_lists(soup)
    return Parsed(title or None, writer.text(soup), metadata)


def read_described(html: str, described: Mapping[str, Any]) -> Parsed:
    """Read a page that another format was converted to, with what the source says about itself."""
    metadata = dict(described)
    title = metadata.pop("title", None)
    # It may have tags.
    told = read_html(title).content if isinstance(title, str) else ""
    return replace(read_html(html), title=told or None, metadata=metadata)


def _simplify(soup: BeautifulSoup, classes: dict[str, str]) -> None:
    """Leave the elements that are seen, of those that are written in the same way only one."""
    _remove_hidden(soup)
    for element in soup(list(_UNSEEN)):
        element.decompose()
    _write_marks(soup, classes)
    # Tables in cells come first, so that a table for the layout of the page is known by them.
    for table in soup("table"):
        if table.find(_IN_LAYOUT) is not None:
            _unwrap(table)
    for code in soup("pre"):
        for end in code("br"):
            end.replace_with("\n")
    for element in soup(list(_ALIKE)):
        name = _ALIKE[element.name]
        is_note = name == "div" and _types(element) & _NOTE_TYPES
        element.name = "aside" if is_note else name


def _remove_hidden(soup: BeautifulSoup) -> None:
    from bs4.element import PreformattedString

    for element in soup.find_all(style=_HIDDEN) + soup.find_all(hidden=True):
        element.decompose()
    # Comments, declarations and the like.
    for text in soup.find_all(string=lambda text: isinstance(text, PreformattedString)):
        text.extract()
    for element in soup(["a", "span"]):
        if (
            not element.decomposed
            and (_types(element) | _classes(element)) & _BACK
            and not any(map(str.isalnum, element.get_text()))
        ):
            element.decompose()


def _write_lists(soup: BeautifulSoup) -> None:
    """Give each item its number, and put a list that stands beside the items into the one before it."""
    lists = soup(["ul", "ol"])
    for items in lists:
        before = items.find_previous_sibling("li")
        if before is not None:
            before.append(items)
    for items in lists:
        if items.name == "ul":
            continue
        kind = str(items.get("type", ""))
        if found := _LETTERED.search(f"{' '.join(_classes(items))} {items.get('style', '')}"):
            way, letters = found.groups()
            kind = kind or _NUMERALS[f"lower{letters.lower()}"]
            kind = kind.upper() if way.lower() == "upper" else kind
        start = str(items.get("start", ""))
        number = int(start) if start.lstrip("-").isdecimal() else 1
        for item in items("li", recursive=False):
            value = str(item.get("value", ""))
            number = int(value) if value.isdecimal() else number
            item["mark"] = f"{numeral(number, kind or '1')}."
            number += 1


def _write_marks(soup: BeautifulSoup, classes: dict[str, str]) -> None:
    """Write superscripts, subscripts and marks of notes as characters, so that they are no part of a number."""
    for element in soup(list(_HEIGHTS)):
        if not element.parent:
            # It was in another one.
            continue
        text = element.get_text()
        before = element.find_previous(string=True)
        told = str(before) if before is not None else ""
        kind = _height(element, classes)
        if _is_note(element, text, told, is_high=kind == "sup"):
            element.replace_with(note_mark(text))
        elif kind:
            element.replace_with(raised(text, told) if kind == "sup" else lowered(text))
    soup.smooth()


def _height(element: Tag, classes: dict[str, str]) -> str:
    """Return "sup" or "sub" for what stands higher or lower than the line."""
    names = _classes(element) | {element.name}
    names |= {classes[name] for name in names if name in classes}
    names.add(_height_of(str(element.get("style", ""))))
    if names & _HIGH:
        return "sup"
    return "sub" if names & _LOW else ""


def _height_of(style: str) -> str:
    if _HIGH_STYLE.search(style):
        return "sup"
    return "sub" if _LOW_STYLE.search(style) else ""


def _raised_classes(styles: str) -> Iterator[tuple[str, str]]:
    """Yield the classes that stand higher or lower than the line."""
    for style in _STYLE.finditer(styles):
        if height := _height_of(style[1]):
            before = styles[: style.start()].replace("{", "}")
            selectors = before.rpartition("}")[2]
            for name in _CLASS.findall(selectors):
                yield name, height


def _is_note(element: Tag, text: str, before: str, *, is_high: bool) -> bool:
    if {"doc-noteref", "noteref"} & _types(element):
        return True
    if not NOTE_MARK.fullmatch(text.strip()):
        return False
    link = element if element.name == "a" else element.find("a")
    address = str(link.get("href", "")) if link is not None else ""
    if is_high and address.startswith("#"):
        return True
    # Beside a word or number.
    if not is_high and before[-1:].isspace():
        return False
    return any(map(_NOTE_CLASS.fullmatch, _classes(element)))


def _classes(element: Tag) -> set[str]:
    found = element.get("class") or ()
    return set(found.split() if isinstance(found, str) else found)


def _types(element: Tag) -> set[str]:
    return set(f"{element.get('role', '')} {element.get('epub:type', '')}".split())


def _omits_end_tags(html: str) -> bool:
    """Whether cells or items do not say where they end, which HTML allows, and the default parser does not know."""
    return len(_START.findall(html)) > len(_END.findall(html))


def _unwrap(table: Tag) -> None:
    """Make paragraphs of the cells of a table that is only there for the layout."""
    for element in table.find_all(["tr", "td", "th", "tbody", "thead", "tfoot"], recursive=True):
        if element.find_parent("table") is table:
            element.name = "div"
    table.name = "div"
