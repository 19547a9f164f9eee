"""One spelling for each text: in what is stored, searched for and compared.

SQL function pgclarify_private.normalized does the same; a test compares the two. Offsets of passages and citations
count in the normalized text, because it is what is stored.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

INVISIBLE: Final = (
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068"
    "\u2069\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
)
"""Soft hyphens, marks without width, and marks of direction. They can stand inside a word, and nobody types them."""

LIGATURES: Final = {
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
    # For private use, in older fonts of Microsoft and Apple.
    "\uf001": "fi",
    "\uf002": "fl",
}

# Joiners shape Arabic and Indic letters and emoji. Between the letters of other scripts they only part ligatures.
_JOINED: Final = re.compile("([A-Za-z\u00aa-\u058f])[\u200c\u200d]+")
_PLAIN: Final = re.compile("[\x00-\x7f]*")
_TABLE: Final = str.maketrans({**dict.fromkeys(INVISIBLE, ""), **LIGATURES})


def normalized(text: str) -> str:
    """Return a text in composed form (NFC), without marks that nobody sees, and with ligatures as letters."""
    if _PLAIN.fullmatch(text):
        return text
    return unicodedata.normalize("NFC", _JOINED.sub(r"\1", text.translate(_TABLE)))


def normalized_id(document_id: str) -> str:
    """Return the id of a document in composed form (NFC). Its file keeps its own name."""
    return unicodedata.normalize("NFC", document_id)
