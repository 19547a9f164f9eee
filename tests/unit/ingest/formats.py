"""The same text in several formats, made here."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from email.message import EmailMessage

from pgclarify.ingest.parsing import parse

_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="o/a.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
_BOOK = (
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Book</dc:title></metadata><manifest>'
    '<item id="s" href="a.css" media-type="text/css"/><item id="c" href="c%201.xhtml"'
    ' media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>'
)


def packed(parts: Mapping[str, str]) -> bytes:
    """A ZIP archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def epub(html: str, css: str = "") -> bytes:
    """An e-book with one chapter."""
    page = f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{html}</body></html>'
    parts = {"META-INF/container.xml": _CONTAINER, "o/a.opf": _BOOK, "o/a.css": css, "o/c 1.xhtml": page}
    return packed({"mimetype": "application/epub+zip"} | parts)


def mail(html: str | None = None, text: str | None = None, **headers: str) -> bytes:
    """A message."""
    message = EmailMessage()
    for name, value in ({"From": "Ada <ada@example.org>", "Subject": "Hail"} | headers).items():
        message[name] = value
    if text is not None:
        message.set_content(text)
    if html is not None and text is not None:
        message.add_alternative(html, subtype="html")
    elif html is not None:
        message.set_content(html, subtype="html")
    return bytes(message)


FROM_HTML: Mapping[str, Callable[[str], bytes]] = {
    ".html": str.encode,
    ".md": str.encode,
    ".epub": epub,
    ".eml": mail,
}
"""How a part of an HTML page becomes a file of each format that may have it."""


def read(data: bytes, suffix: str) -> str:
    """The text of a file."""
    return parse(data, suffix, f"a{suffix}")[0].content
