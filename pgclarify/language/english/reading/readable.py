"""Finds the pieces of a passage that are readable sentences: no code, and no menu of a page."""

from __future__ import annotations

import re

from pgclarify.language.english.words import words

_CODE_SPAN = re.compile(r"`[^`\n]{1,200}`")
_CODE_MARKS = re.compile(r"[{}\[\]<>=;|\\$#@&~^]|\(\)|::|->|\.\.\.|\u2026")
_ADDRESS = re.compile(r"https?://\S+|\bwww\.\S+")
# "max-file-size"; a number or a date is none.
_IDENTIFIER = re.compile(r"(?=[^a-z]*[a-z])[a-z0-9]+(?:[-_][a-z0-9]+)+\.?")
# What follows such a sentence says more. The judge of sentences finds others that only point to another place.
_FOLLOW = re.compile(
    r"(?:.{1,120}, )?(?:please )?follow (?:these|the|our) (?:steps|instructions)(?: (?:below|here))?"
    r"(?: to [^:]{1,120})?\.?",
    re.IGNORECASE,
)
# Largest share of a sentence's characters that are marks of code.
_MOST_CODE_MARKS = 0.04
_LEAST_WORDS = 3
# A longer run of text without an end is the menu of a page, or its lines without their breaks.
_MOST_WITHOUT_END = 400


def is_readable(text: str) -> bool:
    """Return whether a piece of a passage is a sentence: no caption of code, and no line of code or of a menu."""
    plain = " ".join(text.split()).strip("*_ ")
    if plain.endswith((":", ";")) or _ADDRESS.search(plain):
        return False
    if _IDENTIFIER.fullmatch(plain) or _FOLLOW.fullmatch(plain):
        return False
    if len(plain) > _MOST_WITHOUT_END and not plain.endswith((".", "!", "?", ")", '"')):
        return False
    prose = _CODE_SPAN.sub("", plain)
    if len(prose) * 2 < len(plain):
        return False
    if len(_CODE_MARKS.findall(prose)) > max(1, _MOST_CODE_MARKS * len(prose)):
        return False
    return len(words(plain)) >= _LEAST_WORDS or ": " in plain
