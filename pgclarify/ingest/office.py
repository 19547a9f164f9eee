"""Office files and pictures, with headings, lists and tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from pgclarify.ingest.extraction import Extracted, extract
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.odf import with_numbers
from pgclarify.ingest.ooxml import prepare
from pgclarify.ingest.parsed import Unreadable
from pgclarify.ingest.scans import READ_BY_OCR, Ocr
from pgclarify.ingest.tree import Part, Tree

SLIDES = frozenset({".pptx", ".ppsx", ".pptm", ".ppt", ".odp"})
OPEN_XML = frozenset({".docx", ".docm", ".dotx", ".pptx", ".ppsx", ".pptm"})
# Files of Office 2003 and earlier start with these bytes, and encrypted files of later versions.
COMPOUND_FILE: Final = bytes.fromhex("d0cf11e0a1b11ae1")
_ZIP: Final = b"PK"
_RTF: Final = rb"{\rtf"
# Programs also write RTF under the old suffix of Word.
_BEGINNINGS: Final = {".doc": (COMPOUND_FILE, _RTF), ".ppt": (COMPOUND_FILE,), ".rtf": (_RTF,)}
_WORD: Final = ("wordprocessingml", "ms-word")
_POWERPOINT: Final = ("presentationml", "ms-powerpoint")
# Parts of the MIME types that a file may have.
_MIME_TYPES: Final = {
    **dict.fromkeys((".docx", ".docm", ".dotx"), _WORD),
    **dict.fromkeys((".pptx", ".ppsx", ".pptm"), _POWERPOINT),
    ".odt": ("opendocument.text",),
    ".odp": ("opendocument.presentation",),
    ".xlsb": ("excel", "spreadsheet"),
}


def read_office(data: bytes, suffix: str) -> Tree:
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
        prepared = prepare(data)
        data, unread, hidden = prepared.data, prepared.unread, prepared.hidden_slides
    elif suffix == ".odt" and data.startswith(_ZIP):
        data = with_numbers(data)
    extracted = extract(data, suffix)
    # The library reads any kind of file under any suffix: of an archive, its list of members.
    if not any(one in extracted.mime_type for one in _MIME_TYPES.get(suffix, ("",))):
        raise _other_kind(suffix, extracted.mime_type)
    return Tree(
        " ".join((extracted.title or "").split()) or None, _parts(extracted, suffix, hidden), unread=dict(+unread)
    )


def read_picture(data: bytes, suffix: str, ocr: Ocr) -> Tree:
    """Read the text of a picture.

    Raises:
        ImportError: If the extra "files" is not installed.
        Unreadable: If it is no picture.
    """
    extracted = extract(data, suffix, ocr=ocr)
    if not extracted.mime_type.startswith("image/"):
        raise _other_kind(suffix, extracted.mime_type)
    return Tree(None, (_part(extracted.html, "picture", f"picture, {READ_BY_OCR}"),), {"ocr": True})


def _other_kind(suffix: str, mime_type: str = "") -> Unreadable:
    known = f": it is {mime_type}" if mime_type else ""
    return Unreadable(f"It is no {suffix.removeprefix('.').upper()} file{known}.", "Rename it to what it is.")


def _parts(extracted: Extracted, suffix: str, hidden: set[int]) -> tuple[Part, ...]:
    # The library does not part the slides of OpenDocument.
    if suffix in SLIDES and extracted.pages:
        return tuple(
            _part(page.html, "slide", f"slide {page.number}") for page in extracted.pages if page.number not in hidden
        )
    return (_part(extracted.html),)


def _part(html: str, kind: str = "", name: str = "") -> Part:
    return replace(read_html(html, trusts_headers=False).parts[0], kind=kind, name=name)
