"""Text of corpora, models, users and files, sanitized wherever a person is to read it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from pgclarify.errors import EmbeddingError

# Control characters, those that reorder or hide text, halves of surrogate pairs, separators of lines and paragraphs.
_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Zero-width (non-)joiners shape letters and emoji, and move nothing.
_JOINERS = "\u200c\u200d"


def sanitize(text: str, *, kept: str = "") -> str:
    r"""Spell out everything in a text that its reader's program would act on.

    Control characters (with ESC, which begins ANSI sequences) become `\xNN`, characters that reorder or hide text
    become `\uNNNN`. Blanks stay.

    Args:
        text: Of any length.
        kept: Characters that stay although they are among those, such as the line feed.
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
    """Check that texts are such as a model can read.

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
