"""E-books (EPUB): their chapters, which are HTML pages, in the order of reading."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.text import decode_html
from pgclarify.ingest.tree import Part, Tree

if TYPE_CHECKING:
    from lxml.etree import _Element

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_PAGES: Final = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_STYLES: Final = "text/css"


def read_epub(data: bytes, name: str) -> Tree:
    """Read an e-book, chapter by chapter, without its table of contents.

    Raises:
        ImportError: If the extra "files" is not installed.
        UnreadableFile: If it is no e-book.
        zipfile.BadZipFile: If it is no archive.
    """
    with zipfile.ZipFile(BytesIO(data)) as book:
        files = set(book.namelist())
        if _CONTAINER not in files:
            raise UnreadableFile(f"cannot read {name}", detail="It is no EPUB file.", hint="Rename it to what it is.")
        (root, *_) = (one.get("full-path", "") for one in _named(_xml(book.read(_CONTAINER)), "rootfile"))
        package = _xml(book.read(root))
        items = {str(item.get("id")): (_place(root, str(item.get("href"))), item) for item in _named(package, "item")}
        there = [(place, item) for place, item in items.values() if place in files]
        styles = "\n".join(
            book.read(place).decode("utf-8", "replace") for place, item in there if item.get("media-type") == _STYLES
        )
        parts: list[Part] = []
        unread: dict[str, int] = {}
        for reference in _named(package, "itemref"):
            place, item = items.get(str(reference.get("idref")), ("", reference))
            if place in files and item.get("media-type") in _PAGES and "nav" not in str(item.get("properties")).split():
                page, guessed = decode_html(book.read(place), f"{name}!{place}")
                parts.extend(read_html(page, styles=styles).parts)
                unread |= guessed
        title = next((" ".join("".join(one.itertext()).split()) for one in _named(package, "title")), None)
    return Tree(title or None, tuple(parts), unread=unread)


def _place(root: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(reference)))


def _xml(data: bytes) -> _Element:
    # An optional extra.
    from lxml import etree

    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))


def _named(root: _Element, name: str) -> Iterator[_Element]:
    yield from root.iter(f"{{*}}{name}")
