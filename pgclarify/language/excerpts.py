"""Texts that are shown to people: an excerpt with a marked quote, and paragraphs without line breaks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from pgclarify.language.fences import are_code

# A line that may continue the previous one: it starts neither with a blank, nor with a Markdown mark of a new part, nor
# with a name and its value, as a row of a table does.
_PROSE = re.compile(r"(?!#{1,6}\s|[>|]|[-+*•]\s|[-=*_]{2,}\s*$|[^a-z][^:.;,!?]{0,40}: |\d+[.)]\s)\S")
# Lines that the next line does not continue: a blank line, a heading, a row of a table, a line break.
_ENDS = re.compile(r"\s*$|\s*(?:#{1,6}\s|\|)|.*(?:  |\\)$")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text with a marked part.

    Attributes:
        before: The text before the part.
        marked: The part; empty if nothing is marked.
        after: The text after the part.
    """

    before: str
    marked: str
    after: str


def flowing(text: str) -> str:
    """Join lines that were wrapped, so that each paragraph is one line.

    Lines with a meaning in Markdown stay separate: headings, lists, tables, quotations, code, indented lines, and lines
    that end in a break.

    Returns:
        A text of the same length, with spaces for line breaks, so that offsets stay valid.
    """
    lines = text.split("\n")
    parts = [lines[0]]
    for (before, line), (was_code, is_code) in zip(pairwise(lines), pairwise(are_code(lines)), strict=True):
        goes_on = not was_code and not is_code and _PROSE.match(line) and not _ENDS.match(before)
        parts += [" " if goes_on else "\n", line]
    return "".join(parts)


def mark_quote(text: str, quote: str, start: int | None) -> Excerpt:
    """Mark a quote in a text.

    Args:
        text: The text.
        quote: Verbatim.
        start: The recorded offset of the quote in the text, which may have moved since; None if unknown.

    Returns:
        The text with its paragraphs on one line each. A quote that the text does not contain is not marked.
    """
    shown = flowing(text)
    if start is None or start < 0 or not text.startswith(quote, start):
        start = text.find(quote)
    if start < 0:
        return Excerpt(shown, "", "")
    end = start + len(quote)
    return Excerpt(shown[:start], shown[start:end], shown[end:])
