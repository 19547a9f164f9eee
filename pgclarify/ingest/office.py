"""Office files and pictures, with headings, lists and tables."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from pgclarify.ingest.extraction import Extracted, extract
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.ooxml import prepare
from pgclarify.ingest.parsed import Parsed, Section, Unreadable
from pgclarify.ingest.scans import READ_BY_OCR, Ocr

SLIDES = frozenset({".pptx", ".ppsx", ".pptm", ".ppt", ".odp"})
OPEN_XML = frozenset({".docx", ".docm", ".dotx", ".pptx", ".ppsx", ".pptm"})
# Files of Office 2003 and earlier start with these bytes, and encrypted files of later versions.
COMPOUND_FILE: Final = bytes.fromhex("d0cf11e0a1b11ae1")
_RTF: Final = rb"{\rtf"
# The library loses that a number is raised.
_RAISED: Final = re.compile(rb"\\super(?![a-z\d])((?:\\[a-z]+-?\d*)*) ?(?=\d)")
# Programs also write RTF under the old suffix of Word.
_BEGINNINGS: Final = {".doc": (COMPOUND_FILE, _RTF), ".ppt": (COMPOUND_FILE,), ".rtf": (_RTF,)}
_WORD: Final = ("wordprocessingml", "ms-word")
_POWERPOINT: Final = ("presentationml", "ms-powerpoint")
# Parts of the MIME types that a file may have.
_MIME_TYPES: Final = {
    **dict.fromkeys((".docx", ".docm", ".dotx"), _WORD),
    **dict.fromkeys((".pptx", ".ppsx", ".pptm"), _POWERPOINT),
    ".xlsb": ("excel", "spreadsheet"),
}


def read_office(data: bytes, suffix: str) -> Parsed:
    """Read an office file: text, tables, charts, notes and footnotes; not what is hidden, struck out or deleted.

    Args:
        data: The file.
        suffix: Of its name.

    Raises:
        ImportError: If the extra "files" is not installed.
        Unreadable: If it is not what its suffix says.
    """
    if not data.lstrip().startswith(_BEGINNINGS.get(suffix, b"")):
        raise _other_kind(suffix)
    unread: Counter[str] = Counter()
    hidden: set[int] = set()
    if suffix in OPEN_XML:
        data, unread, hidden = prepare(data)
    if data.startswith(_RTF):
        data = _RAISED.sub(rb"\1{}^", data)
    extracted = extract(data, suffix)
    # The library reads any kind of file under any suffix: of an archive, its list of members.
    kinds = _MIME_TYPES.get(suffix, ("",))
    if not any(one in extracted.mime_type for one in kinds):
        raise _other_kind(suffix, extracted.mime_type)
    sections = _sections(extracted, suffix, hidden)
    return Parsed.of(extracted.title, sections, unread)


def read_picture(data: bytes, suffix: str, ocr: Ocr) -> Parsed:
    """Read the text of a picture.

    Raises:
        ImportError: If the extra "files" is not installed.
        Unreadable: If it is no picture.
    """
    extracted = extract(data, suffix, ocr=ocr)
    if not extracted.mime_type.startswith("image/"):
        raise _other_kind(suffix, extracted.mime_type)
    section = _section(extracted.html, "picture", f"picture, {READ_BY_OCR}")
    return Parsed.of(None, [section], metadata={"ocr": True})


def _other_kind(suffix: str, mime_type: str = "") -> Unreadable:
    known = f": it is {mime_type}" if mime_type else ""
    kind = suffix.removeprefix(".").upper()
    return Unreadable(f"It is no {kind} file{known}.", "Rename it to what it is.")


def _sections(extracted: Extracted, suffix: str, hidden: set[int]) -> list[Section]:
    if suffix not in SLIDES or not extracted.pages:
        return [_section(extracted.html)]
    pages = (page for page in extracted.pages if page.number not in hidden)
    return [_section(page.html, "slide", f"slide {page.number}") for page in pages]


def _section(html: str, kind: str = "", name: str = "") -> Section:
    # Slow to import.
    from pgclarify.ingest.writer import Writer

    return Section(read_html(html, Writer(trusts_headers=False)).content, kind, name)
