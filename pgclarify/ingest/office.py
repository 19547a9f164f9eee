"""Office files, e-books and pictures as Markdown, with headings, lists and tables."""

from __future__ import annotations

import zipfile
from collections import Counter
from io import BytesIO
from typing import Final

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.extraction import Extracted, extract
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.ooxml import prepare
from pgclarify.ingest.parsed import Parsed, Section, joined
from pgclarify.ingest.scans import READ_BY_OCR, Ocr
from pgclarify.language.foreign_text import storable

SLIDES = frozenset({".pptx", ".ppsx", ".pptm", ".ppt", ".odp"})
OPEN_XML = frozenset({".docx", ".docm", ".dotx", ".pptx", ".ppsx", ".pptm"})
# Files of Office 2003 and earlier start with these bytes, and encrypted files of later versions.
COMPOUND_FILE: Final = bytes.fromhex("d0cf11e0a1b11ae1")
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
    ".epub": ("epub",),
    ".xlsb": ("excel", "spreadsheet"),
}
_EPUB: Final = "application/epub+zip"


def read_office(data: bytes, suffix: str, name: str) -> Parsed:
    """Read an office file: text, tables, charts, notes and footnotes; not what is hidden, struck out or deleted.

    Args:
        data: The file.
        suffix: Of its name.
        name: Its name in errors.

    Raises:
        ImportError: If the extra "files" is not installed.
        UnreadableFile: If it is not what its suffix says, or has no text.
    """
    if not data.lstrip().startswith(_BEGINNINGS.get(suffix, b"")):
        raise _other_kind(name, suffix)
    unread: Counter[str] = Counter()
    hidden: set[int] = set()
    if suffix in OPEN_XML:
        prepared = prepare(data)
        data, unread, hidden = prepared.data, prepared.unread, prepared.hidden_slides
    elif suffix == ".epub":
        data = _with_mimetype(data)
    extracted = extract(data, suffix)
    # The library reads any kind of file under any suffix: of an archive, its list of members.
    if not any(one in extracted.mime_type for one in _MIME_TYPES.get(suffix, ("",))):
        raise _other_kind(name, suffix, extracted.mime_type)
    content, places = joined(_sections(extracted, suffix, hidden))
    if not content:
        raise UnreadableFile(f"cannot read {name}", detail="It has no text: it is empty, or has only pictures.")
    return Parsed(" ".join((extracted.title or "").split()) or None, content, places=places, unread=dict(+unread))


def read_picture(data: bytes, suffix: str, name: str, ocr: Ocr) -> Parsed:
    """Read the text of a picture.

    Raises:
        ImportError: If the extra "files" is not installed.
        UnreadableFile: If it is no picture, or no text is found in it.
    """
    extracted = extract(data, suffix, ocr=ocr)
    if not extracted.mime_type.startswith("image/"):
        raise _other_kind(name, suffix, extracted.mime_type)
    content, places = joined([Section(_markdown(extracted.html), "picture", f"picture, {READ_BY_OCR}")])
    if not content:
        raise UnreadableFile(f"cannot read {name}", detail="No text was found in it.")
    return Parsed(None, content, {"ocr": True}, places)


def _other_kind(name: str, suffix: str, mime_type: str = "") -> UnreadableFile:
    known = f": it is {mime_type}" if mime_type else ""
    return UnreadableFile(
        f"cannot read {name}",
        detail=f"It is no {suffix.removeprefix('.').upper()} file{known}.",
        hint="Rename it to what it is.",
    )


def _with_mimetype(data: bytes) -> bytes:
    """Put the part that names the kind of an e-book at its beginning, uncompressed: archivers do not leave it there."""
    changed = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(changed, "w") as new:
        parts = dict.fromkeys(old.namelist())
        if "META-INF/container.xml" not in parts:
            return data
        new.writestr("mimetype", _EPUB)
        for part in parts:
            if part != "mimetype":
                new.writestr(part, old.read(part))
    return changed.getvalue()


def _sections(extracted: Extracted, suffix: str, hidden: set[int]) -> list[Section]:
    # The library does not part the slides of OpenDocument.
    if suffix in SLIDES and extracted.pages:
        return [
            Section(_markdown(page.html), "slide", f"slide {page.number}")
            for page in extracted.pages
            if page.number not in hidden
        ]
    return [Section(_markdown(extracted.html))]


def _markdown(html: str) -> str:
    _, text, _ = read_html(html, trusts_headers=False)
    return storable(text)
