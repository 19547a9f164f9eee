"""What the network reads of a question and a passage: numbers of word pieces.

[CLS] question [SEP] title : passage [SEP]; a passage that does not fit is read in several windows, which overlap.
Token types are 0 to the first [SEP], and 1 after it. Whatever runs the reader must build the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pgclarify_minilm
from tokenizers import Tokenizer

from training.reader.pairs import Pair

_LENGTH: Final = 256
_OVERLAP: Final = 96
_QUESTION_LENGTH: Final = 48
_TITLE_LENGTH: Final = 24
_CLS: Final = 101
_SEP: Final = 102


@dataclass(frozen=True)
class Window:
    """One input of the network.

    Attributes:
        ids: Of the word pieces, at most 256.
        second_part: Where token type 1 begins.
        passage: Where the passage begins. It ends before the last word piece.
        offsets: Of each word piece of the passage, where it begins and ends in it, in characters.
    """

    ids: list[int]
    second_part: int
    passage: int
    offsets: list[tuple[int, int]]


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


class Windows:
    """Makes windows with the tokenizer of the embedding model."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(str(pgclarify_minilm.FOLDER / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def ids(self, text: str, length: int) -> list[int]:
        """What the embedding model reads of a text: at most so many word pieces."""
        return self._tokenizer.encode(text).ids[:length]

    def of(self, question: str, title: str, passage: str) -> list[Window]:
        """Make windows that cover the passage."""
        asked = self._tokenizer.encode(question, add_special_tokens=False).ids[:_QUESTION_LENGTH]
        named = self._tokenizer.encode(f"{title} :", add_special_tokens=False).ids[:_TITLE_LENGTH] if title else []
        read = self._tokenizer.encode(passage, add_special_tokens=False)
        head = [_CLS, *asked, _SEP, *named]
        room = _LENGTH - len(head) - 1
        windows = []
        begin = 0
        while True:
            ids = [*head, *read.ids[begin : begin + room], _SEP]
            windows.append(Window(ids, len(asked) + 2, len(head), read.offsets[begin : begin + room]))
            if begin + room >= len(read.ids):
                return windows
            begin += room - _OVERLAP

    def examples(self, pair: Pair) -> list[Example]:
        """Make what is trained on; a window that holds a part of the answer, or nothing of it, is left out."""
        windows = self.of(pair.question, pair.title, pair.passage)
        if pair.start is None:
            return [Example(window, None, None) for window in windows]
        examples = []
        last_character = pair.start + len(pair.answer) - 1
        for window in windows:
            first, last = _piece_at(window, pair.start), _piece_at(window, last_character)
            if first is not None and last is not None:
                examples.append(Example(window, first, last))
        return examples


def _piece_at(window: Window, character: int) -> int | None:
    pieces = enumerate(window.offsets, start=window.passage)
    return next((number for number, (begin, end) in pieces if begin <= character < end), None)
