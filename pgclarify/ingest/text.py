"""Conditions for a text that PostgreSQL can store and a worker can index."""

from __future__ import annotations

import codecs
import re

from pgclarify.data.limits import MOST_CONTENT_CHARS
from pgclarify.errors import UnreadableFile
from pgclarify.language.foreign_text import unstorable

# The most bytes that so many characters can have. Larger files need not be read.
MAX_DOCUMENT_BYTES = 4 * MOST_CONTENT_CHARS
# UTF-32 first, because its mark begins like that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Control characters, letters that Western languages do not have, and signs inside a word.
_NOT_WESTERN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u0192\u02c6\u02dcÐðÞþŽžŠšŸ¸¦¨¬]"  # noqa: RUF001
    r"|(?<=[^\W\d_])[ªº¹²³¿¡£¥¤¶](?=[^\W\d_])"
)
_WORD_BEYOND_ASCII = re.compile(r"[A-Za-z]*[^\W\d_\x00-\x7f][^\W\d_]*")
GUESSED = {"guessed encoding (Windows-1252)": 1}


def encoding_of(data: bytes) -> tuple[bytes, str]:
    """Return the byte order mark of a file, and its encoding: UTF-8 if there is no mark."""
    return next(((mark, name) for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), (b"", "utf-8"))


def decode(data: bytes, name: str) -> str:
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
            hint="Convert it, for example with iconv -f WINDOWS-1252 -t UTF-8, or leave it out if it is a binary file.",
        ) from error
    if reason := unstorable(text):
        raise UnreadableFile(f"cannot read {name}", detail=reason, hint="Leave it out if it is a binary file.")
    return text


def decode_any(data: bytes, name: str) -> tuple[str, dict[str, int]]:
    """Decode a text file as decode does; or as Windows-1252, if it looks like that.

    Returns:
        The text; and, if its encoding is guessed, that as something to report.

    Raises:
        UnreadableFile: As decode.
    """
    try:
        return decode(data, name), {}
    except UnreadableFile:
        western = guess_western(data)
        if western is None or encoding_of(data)[0]:
            raise
        return western, dict(GUESSED)


def guess_western(data: bytes) -> str | None:
    """Decode Windows-1252, which older programs of Western Europe and America write; None if it is something else.

    In other old encodings, almost all letters of a word are beyond ASCII, or signs are between letters.
    """
    try:
        text = data.decode("windows-1252")
    except UnicodeDecodeError:
        return None
    if _NOT_WESTERN.search(text):
        return None
    words = "".join(_WORD_BEYOND_ASCII.findall(text))
    return text if sum(not letter.isascii() for letter in words) * 2 <= len(words) else None


def decode_html(data: bytes, name: str) -> str:
    """Decode an HTML page in the encoding that it declares; without one, as any text.

    Raises:
        ImportError: If the extra "files" is not installed.
        UnreadableFile: As decode.
    """
    # An optional extra, and slow to import.
    from bs4.dammit import EncodingDetector

    declared = EncodingDetector.find_declared_encoding(data, is_html=True)
    if declared is None or encoding_of(data)[0] or _is_utf8(data):
        return decode(data, name)
    # A browser reads the first two as the third, too.
    encoding = "windows-1252" if declared.lower() in ("iso-8859-1", "ascii", "us-ascii") else declared
    try:
        text = data.decode(encoding, "replace")
    except LookupError:
        return decode(data, name)
    if reason := unstorable(text):
        raise UnreadableFile(f"cannot read {name}", detail=reason)
    return text


def _is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8 text with more than ASCII, which other encodings do not give by chance."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return not data.isascii()


def too_long(chars: int) -> str | None:
    """Return, as a sentence, that a document has too many characters; None if it has not."""
    if chars <= MOST_CONTENT_CHARS:
        return None
    return f"It has {chars:,} characters; a document may have {MOST_CONTENT_CHARS:,}. Split it, by chapters say."
