"""Sanitizes text of corpora, models, users and files before it is shown to a person."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from pgclarify.errors import EmbeddingError

# Control characters, characters that reorder or hide text, half surrogate pairs, separators of lines and paragraphs.
_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Zero-width (non-)joiners are harmless: they only shape letters and emoji.
_JOINERS = "\u200c\u200d"


def sanitize(text: str, *, kept: str = "") -> str:
    r"""Escape all characters of a text that a terminal or viewer could act on.

    Control characters, including ESC, which begins ANSI sequences, become `\xNN`. Characters that reorder or hide text
    become `\uNNNN`. Blanks stay.

    Args:
        text: Of any length.
        kept: Characters to keep although they would be escaped, such as the line feed.
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character in kept or character in _JOINERS or unicodedata.category(character) not in _HARMFUL
        else _spelt_out(character)
        for character in text
    )


def check_unicode(texts: Iterable[str]) -> None:
    """Check that a model can read the texts.

    Raises:
        EmbeddingError: If one is not valid Unicode.
    """
    for position, text in enumerate(texts):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise EmbeddingError(
                "a text to embed is not valid Unicode",
                detail=f"Text {position} has half a surrogate pair at offset {error.start}.",
            ) from error


def _spelt_out(character: str) -> str:
    point = ord(character)
    if point <= 0xFF:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"
