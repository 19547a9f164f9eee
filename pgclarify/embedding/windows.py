"""What the span reader reads of a question and a passage, in training and in use.

[CLS] question [SEP] title : passage [SEP], as ids of tokens. A passage that does not fit is read in several windows,
which overlap. Token types are 0 up to the first [SEP], and 1 after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tokenizers import Encoding, Tokenizer

WINDOW_TOKENS: Final = 256
_OVERLAP: Final = 96
_MOST_QUESTION_TOKENS: Final = 48
_MOST_TITLE_TOKENS: Final = 24
_MOST_PASSAGE_TOKENS: Final = 2_048
_CLS: Final = 101
_SEP: Final = 102


@dataclass(frozen=True, slots=True)
class Window:
    """One input of the network.

    Attributes:
        tokens: Ids of all its tokens, at most 256.
        title_start: Place of the token after the question's end: the title's first, or the passage's.
        passage_start: Place of the passage's first token; its last one stands before the last token of all.
        offsets: Of each of the passage's tokens, start and end in the passage, in characters.
    """

    tokens: list[int]
    title_start: int
    passage_start: int
    offsets: list[tuple[int, int]]


class Windows:
    """Makes windows with the tokenizer of the embedding model.

    Args:
        folder: Of the model's files.
    """

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def ids(self, text: str, length: int) -> list[int]:
        """What the embedding model reads of a text: at most so many tokens, [CLS] and [SEP] included."""
        return self._tokenizer.encode(text).ids[:length]

    def of(self, question: str, title: str, passage: str) -> Iterator[Window]:
        """Make windows that cover the first 2,048 tokens of a passage; none if it has no token."""
        asked = self._encode(question).ids[:_MOST_QUESTION_TOKENS]
        above = self._encode(f"{title} :").ids[:_MOST_TITLE_TOKENS] if title else []
        read = self._encode(passage)
        tokens, offsets = read.ids[:_MOST_PASSAGE_TOKENS], read.offsets[:_MOST_PASSAGE_TOKENS]
        before = [_CLS, *asked, _SEP, *above]
        room = WINDOW_TOKENS - len(before) - 1
        for start in range(0, max(len(tokens) - _OVERLAP, min(len(tokens), 1)), room - _OVERLAP):
            window = [*before, *tokens[start : start + room], _SEP]
            yield Window(window, len(asked) + 2, len(before), offsets[start : start + room])

    def _encode(self, text: str) -> Encoding:
        # Half a surrogate pair is no text; a question mark in its place keeps all offsets.
        return self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
