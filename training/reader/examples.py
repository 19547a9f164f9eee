"""Pairs as what the network reads, and what it should say."""

from __future__ import annotations

from dataclasses import dataclass

from pgclarify.embedding.windows import Window, Windows
from training.reader.pairs import Pair


@dataclass(frozen=True)
class Example:
    """A window, and what the network should say.

    Attributes:
        first: The word piece that the answer begins with; None if the passage does not answer.
        last: The word piece that the answer ends with.
    """

    window: Window
    first: int | None
    last: int | None


def examples_of(windows: Windows, pair: Pair) -> list[Example]:
    """Make what is trained on; a window that holds a part of the answer, or nothing of it, is left out."""
    read = [*windows.of(pair.question, pair.title, pair.passage)]
    if pair.start is None:
        return [Example(window, None, None) for window in read]
    answered = []
    last_character = pair.start + len(pair.answer) - 1
    for window in read:
        first, last = _piece_at(window, pair.start), _piece_at(window, last_character)
        if first is not None and last is not None:
            answered.append(Example(window, first, last))
    return answered


def _piece_at(window: Window, character: int) -> int | None:
    pieces = enumerate(window.offsets, start=window.passage_start)
    return next((number for number, (begin, end) in pieces if begin <= character < end), None)
