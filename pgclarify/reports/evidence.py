"""Where a quote is in its passage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from pgclarify.reports.run_report import Proof, SeenPassage

_FENCES = ("```", "~~~")
# A line that may continue the previous one: it starts neither with a blank nor with a Markdown mark of a new part.
_PROSE = re.compile(r"(?!#{1,6}\s|[>|]|[-+*•]\s|[-=*_]{2,}\s*$|```|~~~|\d+[.)]\s)\S")
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
    is_code = False
    parts = [lines[0]]
    for before, line in pairwise(lines):
        is_fence = before.lstrip().startswith(_FENCES)
        is_code ^= is_fence
        goes_on = not is_code and not is_fence and _PROSE.match(line) and not _ENDS.match(before)
        parts += [" " if goes_on else "\n", line]
    return "".join(parts)


def marked(passage: SeenPassage, quote: str | None, start_char: int | None) -> Excerpt | None:
    """Mark a quote in its passage.

    Args:
        passage: The passage as it is now.
        quote: Verbatim; None marks nothing.
        start_char: The recorded offset of the quote in the document; None if unknown.

    Returns:
        None if the passage cannot be read. A quote that the passage does not contain is not marked.
    """
    if passage.content is None or passage.start_char is None:
        return None
    text, shown = passage.content, flowing(passage.content)
    if not quote:
        return Excerpt(shown, "", "")
    start = -1 if start_char is None else start_char - passage.start_char
    # The passage may have moved or changed since the offset was recorded.
    if start < 0 or not text.startswith(quote, start):
        start = text.find(quote)
    if start < 0:
        return Excerpt(shown, "", "")
    end = start + len(quote)
    return Excerpt(shown[:start], shown[start:end], shown[end:])


def marked_proof(proof: Proof, passage: SeenPassage | None) -> Excerpt | None:
    """Mark what a citation quotes; None if its passage is gone, or this role may not read it."""
    return None if passage is None else marked(passage, proof.quote, proof.start_char)
