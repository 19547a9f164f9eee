"""E-books (EPUB): their chapters, which are HTML pages, in the order of reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pgclarify.ingest.markup import read_html
from pgclarify.ingest.packages import Package
from pgclarify.ingest.parsed import Parsed, Section, Unreadable
from pgclarify.ingest.text import decode_html

if TYPE_CHECKING:
    from lxml.etree import _Element

_CONTAINER: Final = "META-INF/container.xml"
_PAGES: Final = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read_epub(data: bytes) -> Parsed:
    """Read an e-book, chapter by chapter, without its table of contents.

    Raises:
        ImportError: If the extra "files" is not installed.
        Unreadable: If it is no e-book.
        zipfile.BadZipFile: If it is no archive.
    """
    book = Package(data)
    if _CONTAINER not in book.parts:
        raise Unreadable("It is no EPUB file.", "Rename it to what it is.")
    description = next(str(one.get("full-path")) for one in book.root(_CONTAINER).iter("{*}rootfile"))
    package = book.root(description)
    pages: dict[str, bytes] = {}
    styles = ""
    for item in package.iter("{*}item"):
        kind = item.get("media-type")
        place = book.place(description, str(item.get("href")))
        properties = item.get("properties", "")
        if place not in book.parts or "nav" in properties.split():
            continue
        if kind in _PAGES:
            pages[str(item.get("id"))] = book.read(place)
        elif kind == "text/css":
            styles += book.read(place).decode("utf-8", "replace")
    parts: list[Section] = []
    unread: dict[str, int] = {}
    for reference in package.iter("{*}itemref"):
        if page := pages.get(str(reference.get("idref"))):
            html, guessed = decode_html(page)
            parts.append(Section(read_html(html, styles=styles).content))
            unread |= guessed
    title = ", ".join(_texts(package, "title")[:1])
    metadata: dict[str, str] = {}
    if authors := _texts(package, "creator"):
        metadata["author"] = ", ".join(authors)
    return Parsed.of(title, parts, unread, metadata)


def _texts(package: _Element, name: str) -> list[str]:
    found: list[str] = []
    for element in package.iter(f"{{*}}{name}"):
        words = "".join(element.itertext())
        found.append(" ".join(words.split()))
    return found
