"""A document beside a run: its text as it is stored, with the quote marked at its offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from pgclarify.language.excerpts import flowing

MOST_CHARACTERS: Final = 100_000
"""Most characters of a document at once: a browser shows them at once, and few documents are longer."""
# Rows are too many, and pictures have no text.
_TOLD = ("page", "slide", "sheet")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a document.

    Attributes:
        text: The text.
        is_quote: Whether it belongs to the quote.
        is_passage: Whether it belongs to the passage that was read.
        place: The place that begins with it, such as `page 7`; None if none does.
    """

    text: str
    is_quote: bool
    is_passage: bool
    place: str | None


def pieces(
    content: str,
    start_char: int,
    quote: tuple[int, int] | None,
    passage: tuple[int, int] | None,
    places: Sequence[Mapping[str, Any]],
) -> list[Piece]:
    """Cut a part of a document where its quote, its passage and its places begin and end.

    Args:
        content: The part.
        start_char: Its offset in the document.
        quote: Offsets of the quote in the document; None marks nothing.
        passage: Likewise of the passage.
        places: Places of the document, by offset, as in view document.
    """
    end_char = start_char + len(content)
    names = {
        place["start_char"]: f"{place['kind']} {place['name']}"
        for place in places
        if place["kind"] in _TOLD and start_char <= place["start_char"] < end_char
    }
    cuts = {start_char, end_char, *names, *(quote or ()), *(passage or ())}
    inside = sorted(min(max(cut, start_char), end_char) for cut in cuts)
    # Lines that were wrapped are joined, which keeps offsets.
    shown = flowing(content)
    return [
        Piece(
            shown[begin - start_char : end - start_char],
            _is_in(begin, quote),
            _is_in(begin, passage),
            names.get(begin),
        )
        for begin, end in pairwise(inside)
        if begin < end
    ]


def _is_in(offset: int, part: tuple[int, int] | None) -> bool:
    return part is not None and part[0] <= offset < part[1]
