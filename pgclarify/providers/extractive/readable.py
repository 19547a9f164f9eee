"""Finds the pieces of a passage that are readable sentences: no code, caption, cross reference or table of contents."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgclarify.language.words import words

_FENCE = re.compile(r"^[ ]{0,3}(?:```|~~~).*$", re.MULTILINE)
_CODE_SPAN = re.compile(r"`[^`\n]{1,200}`")
_CODE_MARKS = re.compile(r"[{}\[\]<>=;|\\$#@&~^]|\(\)|::|->|\.\.\.|\u2026")
_NUMBERED = re.compile(
    r"(?:(?:table|figure|example|chapter|section|appendix|part)\s[A-Z]?\d"
    r"|[A-Z]?\d{1,3}(?:\.\d{1,3}){1,4}\.?(?:\s|$)|[IVX]{1,5}\.\s)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"(?:please |but |also |\W)?(?:see|see also|refer to|compare|consult|cf\."
    r"|for (?:more|further|additional|full|other)|for (?:\w+ )?(?:details|information|example)"
    r"|more (?:details|information|about|on)|further (?:details|information))\b"
    r"|.{0,200}\b(?:(?:more|further|additional|detailed) (?:information|details)|the following)\b"
    r"|.{0,200}\b(?:described|discussed|explained|covered|shown|listed|documented|given|found|detailed|outlined|available)"
    r"(?: further| here| there| briefly| fully)? (?:in|below|above|later|by|on|at)\s?(?:the (?:following|next|previous)"
    r"|section|chapter|appendix|table|figure|page|[,.;:)]|$)",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(r"(?:copyright|\u00a9|table of contents|prev\b|next\b|legal notice)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+|\bwww\.\S+")
# Largest share of a sentence's characters that are marks of code.
_MOST_CODE_MARKS = 0.04
_LEAST_WORDS = 3
# A longer run of text without an end is the menu of a page, or its lines without their breaks.
_MOST_WITHOUT_END = 400


def code_blocks(passage: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of fenced code. A passage may begin within a block, and then has an end without a start."""
    fences = list(_FENCE.finditer(passage))
    # A passage that is cut within a block has an odd number of fences. The code is then before the first or after the
    # last fence.
    if len(fences) % 2:
        first = passage[: fences[0].start()]
        starts_inside = fences[0][0].strip() in ("```", "~~~") and _is_code(first)
        if starts_inside:
            yield 0, fences.pop(0).end()
    for index in range(0, len(fences), 2):
        closing = fences[index + 1].end() if index + 1 < len(fences) else len(passage)
        yield fences[index].start(), closing


def _is_code(text: str) -> bool:
    plain = text.strip()
    return bool(plain) and not plain.endswith((".", ":", "!", "?")) and not plain.startswith("#")


def is_numbered(text: str) -> bool:
    """Return whether a text begins like an entry of a table of contents."""
    return _NUMBERED.match(text) is not None


def is_reference(text: str) -> bool:
    """Return whether a sentence only refers to another place."""
    return _REFERENCE.match(text) is not None


def is_cut(text: str) -> bool:
    """Return whether a text has one mark of a pair without the other: parentheses, quotation marks, code marks."""
    return any(text.count(one) != text.count(other) for one, other in ("()", "{}", "[]")) or any(
        text.count(mark) % 2 for mark in '`"'
    )


def is_readable(text: str) -> bool:
    """Return whether a piece of a passage says something by itself.

    False for a caption of code, a line of code or of an index, and a sentence that only refers to another place.
    """
    plain = " ".join(text.split()).strip("*_ ")
    if plain.endswith((":", ";")) or is_numbered(plain) or _COPYRIGHT.match(plain) or is_reference(plain):
        return False
    if _ADDRESS.search(plain) or (len(plain) > _MOST_WITHOUT_END and not plain.endswith((".", "!", "?", ")", '"'))):
        return False
    prose = _CODE_SPAN.sub("", plain)
    if len(prose) * 2 < len(plain):
        return False
    if len(_CODE_MARKS.findall(prose)) > max(1, _MOST_CODE_MARKS * len(prose)):
        return False
    return len(words(plain)) >= _LEAST_WORDS or ": " in plain
