"""Office files, e-books and PDF as HTML, by xberg: no other module knows that library.

It gets bytes only, because it could fetch an address. Faults of version 1.3.9 that its callers cover: it is silent
about pages without text and about cut-off files, gives notes to the wrong slide, loses characters of HTML that is not
UTF-8, and may crash when its process exits. So it runs in a process that ends without cleaning up.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pgclarify.ingest.scans import Ocr

# A Markdown mark of a footnote or picture, which the library writes into HTML.
_MARK = re.compile(r"\[\^\w+\](?=\W{0,3}<sup)|!\[[^\]\n]*\]\([^)\n]*\)")
# A mark of bold type in a heading.
_BOLD = re.compile(r"\*\*(?=[^<]*</h\d>)")
_FOOTNOTE = re.compile(r'<sup class="footnote-ref">.*?</sup>|<a [^>]*class="footnote-backref"[^>]*>.*?</a>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """A page or slide.

    Attributes:
        number: From 1.
        html: Its text.
    """

    number: int
    html: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """What the library found in a file.

    Attributes:
        title: Title in the file's properties.
        html: The whole text.
        pages: The same, by page; empty if the kind of file has none.
        fields: Names and values of the fields of a form.
        mime_type: What the file is, judged by its content; by its suffix if several kinds have such a content.
    """

    title: str | None
    html: str
    pages: list[Page] = field(default_factory=list)
    fields: list[tuple[str, str]] = field(default_factory=list)
    mime_type: str = ""


def extract(data: bytes, suffix: str, *, ocr: Ocr | None = None, scanned_pages: Sequence[int] = ()) -> Extracted:
    """Read a file.

    Args:
        data: The file.
        suffix: Of its name.
        ocr: How the text of a picture, or of scanned pages, is read; None to leave it out.
        scanned_pages: The numbers of the pages that are read so.

    Raises:
        ImportError: If the extra "files" is not installed.
        RuntimeError: If it cannot be read.
    """
    # An optional extra, and slow to import.
    import xberg

    config = xberg.ExtractionConfig(
        # Else it stores text in the user's home.
        use_cache=False,
        disable_ocr=ocr is None,
        ocr=xberg.OcrConfig(
            language=list(ocr.languages),
            # Else it would download the data.
            tessdata_path=ocr.folder,
            tesseract_config=xberg.TesseractConfig(language=list(ocr.languages), use_cache=False),
        )
        if ocr
        else None,
        force_ocr_pages=list(scanned_pages) or None,
        ocr_embedded_images=False,
        pages=xberg.PageConfig(extract_pages=True),
        # Its Markdown escapes "<", so that quotes would not be found.
        output_format="html",
        enable_quality_processing=False,
    )
    source = xberg.ExtractInput(kind="bytes", bytes=data, filename=f"file{suffix}")
    (document,) = asyncio.run(xberg.extract(source, config)).results
    return Extracted(
        title=document.metadata.title,
        html=_clean(document.content),
        pages=[Page(page.page_number, _clean(page.content)) for page in document.pages or []],
        fields=[(one.full_name, one.value) for one in document.form_fields if one.value],
        mime_type=document.mime_type,
    )


def _clean(html: str) -> str:
    for mark in (_MARK, _FOOTNOTE, _BOLD):
        html = mark.sub("", html)
    return html
