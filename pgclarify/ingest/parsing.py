"""Parses one file to text, by the kind that its name shows."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, TypeAlias

from pgclarify.errors import MissingReader, UnreadableFile
from pgclarify.ingest.headings import find_headings
from pgclarify.ingest.mail import read_mail
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.office import read_docx, read_pptx
from pgclarify.ingest.pdf import read_pdf
from pgclarify.ingest.text import decode, too_long
from pgclarify.language.foreign_text import unstorable
from pgclarify.language.normalization import normalized

TEXT = frozenset({".txt", ".text", ".rst"})
MARKDOWN = frozenset({".md", ".markdown"})
HTML = frozenset({".html", ".htm"})
PDF = frozenset({".pdf"})
DOCX = frozenset({".docx"})
PPTX = frozenset({".pptx"})
MAIL = frozenset({".eml"})
# Encrypted Office files, and those of Office 2003 and earlier, start with these bytes.
_COMPOUND_FILE = bytes.fromhex("d0cf11e0a1b11ae1")

# Title (if the file has one), content and metadata.
Parsed: TypeAlias = tuple[str | None, str, dict[str, Any]]


def parse(data: bytes, suffix: str, name: str | Path) -> Parsed:
    """Parse one file to text.

    Raises:
        MissingReader: If the kind of file needs an extra that is not installed.
        UnreadableFile: If it is not what its suffix says, or is too long.
    """
    kind = suffix.removeprefix(".").upper()
    try:
        return _parse(data, suffix, name)
    except ImportError as error:
        raise MissingReader(
            f"cannot read {name}",
            detail=f"Reading {kind} needs the package {error.name or 'of its reader'}, which is not installed.",
            hint="Run: pip install 'pgclarify[files]'",
        ) from error
    except (UnreadableFile, MemoryError):
        raise
    except Exception as error:
        # A broken file can raise anything in the libraries. The files after it must still be read.
        if data.startswith(_COMPOUND_FILE):
            raise UnreadableFile(
                f"cannot read {name}",
                detail="It is encrypted, or made by a version of Office before 2007.",
                hint=f"Save a copy as {kind}, without a password.",
            ) from error
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise UnreadableFile(
            f"cannot read {name}", detail=f"It is no {kind} file, or a broken one: {reason}."
        ) from error


def _parse(data: bytes, suffix: str, name: str | Path) -> Parsed:
    title: str | None = None
    metadata: dict[str, Any] = {}
    if suffix in PDF:
        title, content, page_starts = read_pdf(data, name)
        metadata = {"page_starts": page_starts}
    elif suffix in MAIL:
        title, content, metadata = read_mail(data, name)
    elif suffix in DOCX:
        content = read_docx(data, name)
    elif suffix in PPTX:
        content = read_pptx(data, name)
    else:
        content = decode(data, name)
        if suffix in HTML:
            title, content = read_html(content)
            # A character reference can stand for a character that the file itself does not contain.
            if reason := unstorable(content + (title or "")):
                raise UnreadableFile(f"cannot read {name}", detail=reason)
    if "page_starts" in metadata:
        metadata["page_starts"] = _moved(metadata["page_starts"], content)
    content = normalized(content)
    if reason := too_long(len(content)):
        raise UnreadableFile(f"cannot read {name}", detail=reason)
    if title is None and suffix in MARKDOWN | HTML | DOCX | PPTX:
        title = next((heading.text for heading in find_headings(content) if heading.level == 1), None)
    return title, content, metadata


def _moved(starts: list[int], content: str) -> list[int]:
    """Return the offsets of pages in the normalized content. A page begins after a line break, which stays."""
    lengths = (len(normalized(content[start:end])) for start, end in pairwise([0, *starts]))
    return list(accumulate(lengths))
