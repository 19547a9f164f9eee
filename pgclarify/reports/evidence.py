"""Where a quote stands in the passage that it is from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from pgclarify.reports.run_report import Proof, SeenPassage

_FENCES = ("```", "~~~")
# What can go on with the line before: it begins with no blank, and with nothing that Markdown takes for a new part.
_PROSE = re.compile(r"(?!#{1,6}\s|[>|]|[-+*•]\s|[-=*_]{2,}\s*$|```|~~~|\d+[.)]\s)\S")
# After what nothing goes on: a blank line, a heading, a row of a table, a break.
_ENDS = re.compile(r"\s*$|\s*(?:#{1,6}\s|\|)|.*(?:  |\\)$")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text with a part of it marked.

    Attributes:
        before: What stands before it.
        marked: The part; empty if none is.
        after: What stands after it.
    """

    before: str
    marked: str
    after: str


def flowing(text: str) -> str:
    """A text whose lines were broken where they grew too long, as one line a paragraph.

    Lines of Markdown that mean something stay by themselves: headings, lists, tables, citations, code, what is indented
    or ends in a break.

    Returns:
        A text of the same length, with spaces for line breaks, so that offsets hold.
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
        passage: As it is now.
        quote: Verbatim; None marks nothing.
        start_char: Where it is said to begin in the document; None if that is not known.

    Returns:
        None if the passage cannot be read. A quote that does not stand in it is not marked.
    """
    if passage.content is None or passage.start_char is None:
        return None
    text, shown = passage.content, flowing(passage.content)
    if not quote:
        return Excerpt(shown, "", "")
    start = -1 if start_char is None else start_char - passage.start_char
    # The passage may have moved, or changed, since that was said.
    if start < 0 or not text.startswith(quote, start):
        start = text.find(quote)
    if start < 0:
        return Excerpt(shown, "", "")
    end = start + len(quote)
    return Excerpt(shown[:start], shown[start:end], shown[end:])


def marked_proof(proof: Proof, passage: SeenPassage | None) -> Excerpt | None:
    """Mark what a citation quotes; None if its passage is not there any more, or not for this role to read."""
    return None if passage is None else marked(passage, proof.quote, proof.start_char)
