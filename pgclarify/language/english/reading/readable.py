"""Finds the pieces of a passage that are readable sentences: no code, and no menu of a page."""

from __future__ import annotations

import re

from pgclarify.language.english.words import words

_CODE_SPAN = re.compile(r"`[^`\n]{1,200}`")
_CODE_MARKS = re.compile(r"[{}\[\]<>=;|\\$#@&~^]|\(\)|::|->|\.\.\.|\u2026")
_COPYRIGHT = re.compile(r"(?:copyright|\u00a9|table of contents|prev\b|next\b|legal notice)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+|\bwww\.\S+")
# Words that name a text, and no person or thing: "section 2", "the annex", `borg_prune`.
TEXT_PLACE = (
    r"(?:\b(?:pages?|sections?|chapters?|guides?|manuals?|annex|appendix|documentation|docs|handbook|articles?|faqs?)\b"
    r"|`|\w_\w|\w-\w+$)"
)
# A sentence that names another place where more is said, or what follows, and says nothing itself.
_REFERRING = re.compile(
    r"(?:please\s+)?(?:"
    r"(?:(?:to|if|for|when|in order to)\b.{1,120}, )?(?:please |you can |just )?"
    r"follow (?:these|the|our) (?:steps|instructions|directions)(?: (?:below|here))?(?: to [^:]{1,120})?$"
    r"|visit [^,]{1,120}\b(?:page|section|chapter|guide|documentation|docs|handbook|article|faq)s?"
    r"(?: (?:for|to) [^,]{1,120})?$"
    r"|(?:see|refer to|visit|consult|check(?: out)?|read|review)\b.{0,200}"
    r"\b(?:for|about) (?:more|further|additional|details?)\b"
    r"|(?:see|refer to|consult)\b.{0,200}\b(?:for|about) (?:how|an? (?:list|description|overview|summary) of)\b"
    rf"|refer to .{{0,80}}{TEXT_PLACE}|see also\b"
    rf"|for .{{1,160}}, (?:please )?(?:see|refer to|consult) .{{0,80}}{TEXT_PLACE}"
    r"|(?:for|to (?:find|learn|read|get|see)(?: out)?) (?:more|further|additional)\b"
    r"|(?:learn|read|find out) more\b|more (?:information|details?)\b"
    r"|(?:further|additional|detailed|full) (?:information|details|instructions|documentation)\b.{0,200}"
    r"\b(?:(?:can|may) be found|(?:is|are) available)\b"
    r")",
    re.IGNORECASE,
)
# Largest share of a sentence's characters that are marks of code.
_MOST_CODE_MARKS = 0.04
_LEAST_WORDS = 3
# "max-file-size"; a number or a date is none.
_IDENTIFIER = re.compile(r"(?=[^a-z]*[a-z])[a-z0-9]+(?:[-_][a-z0-9]+)+\.?")
_CHECKSUM = re.compile(r"\b[0-9a-f]{32,}\b", re.IGNORECASE)
# A longer run of text without an end is the menu of a page, or its lines without their breaks.
_MOST_WITHOUT_END = 400


def is_readable(text: str) -> bool:
    """Return whether a piece of a passage says something by itself.

    False for a caption of code, a line of code or of an index, an identifier, and a sentence that only refers to
    another place or to what follows.
    """
    plain = " ".join(text.split()).strip("*_ ")
    if plain.endswith((":", ";")) or _COPYRIGHT.match(plain) or _REFERRING.match(plain.rstrip(".")):
        return False
    if (
        _ADDRESS.search(plain)
        or _CHECKSUM.search(plain)
        or _IDENTIFIER.fullmatch(plain)
        or (len(plain) > _MOST_WITHOUT_END and not plain.endswith((".", "!", "?", ")", '"')))
    ):
        return False
    prose = _CODE_SPAN.sub("", plain)
    if len(prose) * 2 < len(plain):
        return False
    if len(_CODE_MARKS.findall(prose)) > max(1, _MOST_CODE_MARKS * len(prose)):
        return False
    return len(words(plain)) >= _LEAST_WORDS or ": " in plain
