"""Office files, e-books and pictures as Markdown, with headings, lists and tables."""

from __future__ import annotations

from collections import Counter

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.extraction import Extracted, extract
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.ooxml import prepare
from pgclarify.ingest.parsed import Parsed, Section, joined
from pgclarify.ingest.scans import READ_BY_OCR, Ocr
from pgclarify.language.foreign_text import storable

SLIDES = frozenset({".pptx", ".ppsx", ".pptm", ".ppt", ".odp"})
OPEN_XML = frozenset({".docx", ".docm", ".dotx", ".pptx", ".ppsx", ".pptm"})


def read_office(data: bytes, suffix: str, name: str) -> Parsed:
    """Read an office file: text, tables, charts, notes and footnotes; not what is hidden, struck out or deleted.

    Args:
        data: The file.
        suffix: Of its name.
        name: Its name in errors.

    Raises:
        ImportError: If the extra "files" is not installed.
        UnreadableFile: If it has no text.
    """
    unread: Counter[str] = Counter()
    hidden: set[int] = set()
    if suffix in OPEN_XML:
        prepared = prepare(data)
        data, unread, hidden = prepared.data, prepared.unread, prepared.hidden_slides
    extracted = extract(data, suffix)
    content, places = joined(_sections(extracted, suffix, hidden))
    if not content:
        raise UnreadableFile(f"cannot read {name}", detail="It has no text: it is empty, or has only pictures.")
    return Parsed(" ".join((extracted.title or "").split()) or None, content, places=places, unread=dict(+unread))


def read_picture(data: bytes, suffix: str, name: str, ocr: Ocr) -> Parsed:
    """Read the text of a picture.

    Raises:
        ImportError: If the extra "files" is not installed.
        UnreadableFile: If no text is found in it.
    """
    content, places = joined(
        [Section(_markdown(extract(data, suffix, ocr=ocr).html), "picture", f"picture, {READ_BY_OCR}")]
    )
    if not content:
        raise UnreadableFile(f"cannot read {name}", detail="No text was found in it.")
    return Parsed(None, content, {"ocr": True}, places)


def _sections(extracted: Extracted, suffix: str, hidden: set[int]) -> list[Section]:
    if suffix in SLIDES:
        return [
            Section(_markdown(page.html), "slide", f"slide {page.number}")
            for page in extracted.pages
            if page.number not in hidden
        ]
    return [Section(_markdown(extracted.html))]


def _markdown(html: str) -> str:
    _, text, _ = read_html(html, trusts_headers=False)
    return storable(text)
