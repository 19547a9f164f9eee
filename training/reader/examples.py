"""Converts pairs to inputs and targets of the network."""

from __future__ import annotations

from dataclasses import dataclass

from pgclarify.embedding.windows import Window, Windows
from training.reader.pairs import Pair


@dataclass(frozen=True)
class Example:
    """A window with the target of the network.

    Attributes:
        first: The first word piece of the answer; None if the passage does not answer.
        last: The last word piece of the answer.
    """

    window: Window
    first: int | None
    last: int | None


def examples_of(windows: Windows, pair: Pair) -> list[Example]:
    """Make the examples of a pair. Windows without the whole answer are left out."""
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
