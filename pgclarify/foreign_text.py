"""Text of corpora, models, users and files, sanitized wherever a person is to read it."""

from __future__ import annotations

import unicodedata

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


def _spelt_out(character: str) -> str:
    point = ord(character)
    if point <= 0xFF:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"
