"""PDF files as text, page by page."""

from __future__ import annotations

import logging
from io import BytesIO
from pathlib import Path

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.text import MAX_DOCUMENT_CHARS, too_long
from pgclarify.language.foreign_text import storable

# The chunker sees the end of a page as the end of a paragraph, which is usually right.
_PAGE_BREAK = "\n\n"


def read_pdf(data: bytes, name: str | Path) -> tuple[str | None, str, list[int]]:
    """Read the text of a PDF file.

    Returns:
        The title in its metadata, None if it has none; its text; and the offset in that text at which each page starts.
        Pages do not become headings, because a page number does not say what a passage is about.

    Raises:
        ImportError: If the extra "files" is not installed.
        UnreadableFile: If it is encrypted, has no text, or too much text.
    """
    # An optional extra, and slow to import.
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, WrongPasswordError

    # pypdf logs every oddity of a file. Real problems become an exception or missing text.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(BytesIO(data))
        pages: list[str] = []
        chars = 0
        for page in reader.pages:
            pages.append(page.extract_text().strip())
            chars += len(pages[-1])
            if chars > MAX_DOCUMENT_CHARS:
                # Do not spend time on further pages.
                raise UnreadableFile(f"cannot read {name}", detail=too_long(chars))
        title = reader.metadata.title if reader.metadata else None
    except (DependencyError, FileNotDecryptedError, WrongPasswordError) as error:
        raise UnreadableFile(
            f"cannot read {name}", detail="It is encrypted.", hint="Load a copy without a password."
        ) from error
    if not any(pages):
        raise UnreadableFile(
            f"cannot read {name}",
            detail=f"Its {len(pages)} pages have no text; they may be scanned pictures.",
            hint="Run it through text recognition first.",
        )
    starts, end = [], 0
    pages = [storable(page) for page in pages]
    for text in pages:
        starts.append(end)
        end += len(text) + len(_PAGE_BREAK)
    return " ".join(storable(title or "").split()) or None, _PAGE_BREAK.join(pages), starts
