"""Raised and lowered numbers on a page of a PDF, which is stored without their height: marks of notes, exponents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.marks import lowered, raised

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

# A word with a number at its end, which may be a mark: then its letters are smaller.
_MARKED: Final = re.compile(r"\b\w+\d\b(?![.,]\d)")
_SMALL = 0.9
_SMALLEST = 0.4


def marked_words(page: PdfTextPage, text: str) -> dict[str, str]:
    """Return the words of a page that end with a smaller number, as they are seen: 14^1, communities⁵, CO₂."""
    # Slow to import.
    from pypdfium2.raw import FPDFText_GetFontSize

    def size(place: int) -> float:
        return float(FPDFText_GetFontSize(page, place))

    def middle(place: int) -> float:
        _, bottom, _, top = page.get_charbox(place)
        return float(bottom + top)

    found: dict[str, str] = {}
    unmarked: set[str] = set()
    # Letters beyond 16 bits have two places there.
    is_counted = len(text) == page.count_chars()
    for word in _MARKED.finditer(text) if is_counted else ():
        first, end = word.span()
        start = end - 1
        full = size(first)
        smaller = size(start)
        if not full * _SMALLEST < smaller < full * _SMALL:
            unmarked.add(word[0])
            continue
        while size(start - 1) == smaller:
            start -= 1
        is_low = middle(start) < middle(start - 1)
        mark = text[start:end]
        told = lowered(mark) if is_low else raised(mark, text[:start])
        found[word[0]] = text[first:start] + told
    return {word: told for word, told in found.items() if word not in unmarked}


def with_marks(text: str, marked: dict[str, str]) -> str:
    """Write marks apart from the words."""
    if not marked:
        return text
    return _MARKED.sub(lambda word: marked.get(word[0], word[0]), text)
