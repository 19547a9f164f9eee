"""Conditions for a text that PostgreSQL can store and a worker can index."""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Final

from pgclarify.data.limits import MOST_CONTENT_CHARS
from pgclarify.ingest.parsed import Unreadable
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

# Control characters, letters that Western languages do not have, and signs inside or after a word.
_NOT_WESTERN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u0192\u02c6\u02dcÐðÞþŽžŠšŸ¸¦¨¬]"  # noqa: RUF001
    "|(?<=[^\\W\\d_])(?:[ªº¹²³¿¡£¥¤¶§©®¢«»±·\u201c\u201d\u2022\u2021\u2030](?=[^\\W\\d_])|[\u201a\u201e\u2039€])"
)
_WORD_BEYOND_ASCII = re.compile(r"[A-Za-z]*[^\W\d_\x00-\x7f][^\W\d_]*")
WESTERN: Final = "Windows-1252"
# Of this certainty are texts of some words, except in the old encodings of Latin letters, which are too similar.
_LEAST_CERTAINTY: Final = 0.2
_LATIN: Final = re.compile(r"[^\W\d_a-zA-Z]+")
_NO_TEXT: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff\ue000-\uf8ff]")
_ASCII_SIGN: Final = re.compile(r"[\s\d]")
_OF_ICONV: Final = {"MacRoman": "MACINTOSH", "MacLatin2": "MAC-CENTRALEUROPE", "MacCyrillic": "MAC-CYRILLIC"}
# As browsers do, read a name as that of the larger set.
_LARGER: Final = {
    "ascii": "windows-1252", "us-ascii": "windows-1252", "iso-8859-1": "windows-1252", "iso-8859-9": "windows-1254",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932", "shift-jis": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "tis-620": "cp874",
}  # fmt: skip
# Of a declared encoding: more bytes that it does not have show that it is another one.
_MOST_WRONG: Final = 0.1


def encoding_of(data: bytes) -> tuple[bytes, str]:
    """Return the byte order mark of a file, and its encoding: UTF-8 if there is no mark."""
    return next(((mark, name) for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), (b"", "utf-8"))


def decode(data: bytes) -> str:
    """Decode a text file: UTF-8, with or without a byte order mark, or UTF-16 or UTF-32 with one.

    Raises:
        Unreadable: If it is binary, in another encoding, or contains NUL characters.
    """
    mark, encoding = encoding_of(data)
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        position = error.start + len(mark)
        raise Unreadable(
            f"It is not {encoding.upper()} text: byte {position} is 0x{data[position]:02x}.",
            "Save it as UTF-8, or leave it out if it is a binary file.",
        ) from error
    if reason := unstorable(text):
        raise Unreadable(reason, "Leave it out if it is a binary file.")
    return text


def decode_any(data: bytes) -> tuple[str, dict[str, int]]:
    """Decode a text file as decode does; else in the encoding that it most likely has.

    Returns:
        The text; and, if its encoding is guessed, that as something to report.

    Raises:
        Unreadable: As decode; with the name of an encoding that is likely, but not certain.
    """
    try:
        return decode(data), {}
    except Unreadable as problem:
        if encoding_of(data)[0]:
            raise
        likely, text = guess(data)
        if text is None:
            if likely:
                problem.hint = f"Its encoding may be {likely}. If so, run: iconv -f {likely} -t UTF-8"
            raise
        return text, guessed(likely)


def guessed(encoding: str) -> dict[str, int]:
    """Return, as something to report, that the encoding of a text is guessed."""
    return {f"guessed encoding ({encoding})": 1}


def guess(data: bytes) -> tuple[str, str | None]:
    """Return the encoding that bytes most likely have, and their text; no text if that is not certain.

    Two encodings of Cyrillic letters, or of Chinese, differ in what the letters of a language often are. Those of
    Latin letters differ in few letters, so that only Windows-1252 is certain: it is by far the most frequent.
    """
    western = guess_western(data)
    if western is not None:
        return WESTERN, western
    # Slow to import.
    import chardet

    found = chardet.detect(data)
    name, certainty = found["encoding"] or "", found["confidence"]
    try:
        text = data.decode(name) if name else ""
    except (UnicodeDecodeError, LookupError):
        return "", None
    if not text or _NO_TEXT.search(text) or (name.lower().startswith("utf") and not _ASCII_SIGN.search(text)):
        return "", None
    is_latin = any(unicodedata.name(letters[0], "").startswith("LATIN") for letters in _LATIN.findall(text))
    return _OF_ICONV.get(name, name.upper()), text if certainty >= _LEAST_CERTAINTY and not is_latin else None


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


def decode_html(data: bytes) -> tuple[str, dict[str, int]]:
    """Decode an HTML page in the encoding that it declares; without one, or with a wrong one, as any text.

    Returns:
        As decode_any.

    Raises:
        ImportError: If beautifulsoup4 is not installed.
        Unreadable: As decode_any.
    """
    # Slow to import.
    from bs4.dammit import EncodingDetector

    declared = EncodingDetector.find_declared_encoding(data, is_html=True)
    if declared is None or encoding_of(data)[0] or _is_utf8(data):
        return decode_any(data)
    text = decode_as(data, declared)
    return (text, {}) if text is not None else decode_any(data)


def decode_as(data: bytes, declared: str) -> str | None:
    """Decode bytes in the encoding that they are said to have; None if that is unknown or wrong."""
    try:
        text = data.decode(_LARGER.get(declared.lower(), declared), "replace")
    except LookupError:
        return None
    beyond_ascii = sum(byte > 0x7F for byte in data)
    return None if text.count("\ufffd") > beyond_ascii * _MOST_WRONG or unstorable(text) else text


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
