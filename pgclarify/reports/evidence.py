"""Where a quote is in its passage."""

from __future__ import annotations

from pgclarify.language.excerpts import Excerpt, flowing, mark_quote
from pgclarify.reports.run_report import Row


def marked(passage: Row, quote: str | None, start_char: int | None) -> Excerpt | None:
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
    if not quote:
        return Excerpt(flowing(passage.content), "", "")
    return mark_quote(passage.content, quote, None if start_char is None else start_char - passage.start_char)


def marked_proof(proof: Row, passage: Row | None) -> Excerpt | None:
    """Mark what a citation quotes; None if its passage is gone, or this role may not read it."""
    return None if passage is None else marked(passage, proof.quote, proof.start_char)
