"""Where a quote stands in the passage that it is from."""

from __future__ import annotations

from dataclasses import dataclass

from pgclarify.reports.run_report import Proof, SeenPassage


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
    text = passage.content
    if not quote:
        return Excerpt(text, "", "")
    start = -1 if start_char is None else start_char - passage.start_char
    # The passage may have moved, or changed, since that was said.
    if start < 0 or not text.startswith(quote, start):
        start = text.find(quote)
    if start < 0:
        return Excerpt(text, "", "")
    end = start + len(quote)
    return Excerpt(text[:start], text[start:end], text[end:])


def marked_proof(proof: Proof, passage: SeenPassage | None) -> Excerpt | None:
    """Mark what a citation quotes; None if its passage is not there any more, or not for this role to read."""
    return None if passage is None else marked(passage, proof.quote, proof.start_char)
