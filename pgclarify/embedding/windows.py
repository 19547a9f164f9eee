"""The input of the trained reader, the same in training and in use.

[CLS] question [SEP] title : passage [SEP], as token ids. A long passage is read in several overlapping windows. Token
types are 0 up to the first [SEP], and 1 after it.
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
        tokens: All its token ids, at most 256.
        title_start: Place of the first token after the question: the title's first, or the passage's.
        passage_start: Place of the passage's first token. Its last token is the second last of the window.
        offsets: Start and end of each of the passage's tokens, in characters of the passage.
    """

    tokens: list[int]
    title_start: int
    passage_start: int
    offsets: list[tuple[int, int]]


class Windows:
    """Makes windows with the tokenizer of the embedding model.

    Args:
        folder: The folder of the model's files.
    """

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def of(self, question: str, title: str, passage: str) -> Iterator[Window]:
        """Make windows that cover the first 2,048 tokens of a passage; none if it has no tokens."""
        asked = self._encode(question).ids[:_MOST_QUESTION_TOKENS]
        above = self._encode(f"{title} :").ids[:_MOST_TITLE_TOKENS] if title else []
        read = self._encode(passage)
        tokens = read.ids[:_MOST_PASSAGE_TOKENS]
        offsets = read.offsets[:_MOST_PASSAGE_TOKENS]
        before = [_CLS, *asked, _SEP, *above]
        room = WINDOW_TOKENS - len(before) - 1
        for start in range(0, len(tokens), room - _OVERLAP):
            if start > 0 and start + _OVERLAP >= len(tokens):
                # The window before has read these tokens.
                break
            end = start + room
            yield Window(
                tokens=[*before, *tokens[start:end], _SEP],
                title_start=len(asked) + 2,
                passage_start=len(before),
                offsets=offsets[start:end],
            )

    def _encode(self, text: str) -> Encoding:
        # A lone surrogate cannot be encoded. A question mark instead of it keeps all offsets.
        valid = text.encode("utf-8", "replace").decode()
        return self._tokenizer.encode(valid, add_special_tokens=False)
