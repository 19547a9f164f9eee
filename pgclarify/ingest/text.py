"""Conditions for a text that PostgreSQL can store and a worker can index."""

from __future__ import annotations

import codecs
from pathlib import Path

from pgclarify.errors import UnreadableFile
from pgclarify.language.foreign_text import unstorable

# A worker needs about five minutes on two cores to embed a document of this size. add_document has the same limit.
MAX_DOCUMENT_CHARS = 10_000_000
# The most bytes that this many characters can have. Larger files need not be read.
MAX_DOCUMENT_BYTES = 4 * MAX_DOCUMENT_CHARS
# UTF-32 first, because its mark begins like that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def encoding_of(data: bytes) -> tuple[bytes, str]:
    """Return the byte order mark of a file, and its encoding: UTF-8 if there is no mark."""
    return next(((mark, name) for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), (b"", "utf-8"))


def decode(data: bytes, name: str | Path) -> str:
    """Decode a text file: UTF-8, with or without a byte order mark, or UTF-16 or UTF-32 with one.

    Raises:
        UnreadableFile: If it is binary, in another encoding, or contains NUL characters.
    """
    mark, encoding = encoding_of(data)
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        position = error.start + len(mark)
        raise UnreadableFile(
            f"cannot read {name}",
            detail=f"It is not {encoding.upper()} text: byte {position} is 0x{data[position]:02x}.",
            hint="Convert it to UTF-8, or leave it out if it is a binary file.",
        ) from error
    if reason := unstorable(text):
        raise UnreadableFile(f"cannot read {name}", detail=reason, hint="Leave it out if it is a binary file.")
    return text


def too_long(chars: int) -> str | None:
    """Return, as a sentence, that a document has too many characters; None if it has not."""
    if chars <= MAX_DOCUMENT_CHARS:
        return None
    return f"It has {chars:,} characters; a document may have {MAX_DOCUMENT_CHARS:,}. Split it, by chapters say."
