"""A small trained network that reads question and passage together, and points at the answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from pgclarify.embedding.batching import BatchQueue
from pgclarify.embedding.minilm import open_session, threads_of_environment
from pgclarify.model import AnswerSpan

_WINDOW: Final = 256
"""Tokens that are read at once, as in training; a longer passage is read in windows."""

_OVERLAP: Final = 96
_MOST_QUESTION_TOKENS: Final = 48
_MOST_TITLE_TOKENS: Final = 24
_MOST_PASSAGE_TOKENS: Final = 2_048
_MOST_ANSWER_TOKENS: Final = 30
# Padded tokens of a batch: some 0.1 s of one core.
_BATCH_TOKENS: Final = 1_024
_CLS, _SEP = 101, 102
# What a row of results says.
_COLUMNS = ("answerable", "log_probability", "first", "last")


@dataclass(frozen=True, slots=True)
class _Window:
    """Part of a passage, with the question: [CLS] question [SEP] title : passage [SEP].

    Attributes:
        tokens: Ids of all its tokens.
        title_start: Place of the token after the question's end: the title's first, or the passage's.
        passage_start: Place of the passage's first token.
        offsets: Of each of the passage's tokens, start and end in the passage.
    """

    tokens: list[int]
    title_start: int
    passage_start: int
    offsets: list[tuple[int, int]]


class LocalSpanReader:
    """The reader in the package pgclarify-minilm, on ONNX Runtime. It reads English. Implements protocols.SpanReader.

    Windows of passages that wait at the same time are computed in batches, in threads of its own. The network is loaded
    with the first of them.

    Args:
        folder: Of the model's files.
        threads: CPU threads that compute, each a batch of its own; None for the embedding model's rule.

    Source: BERT (Devlin et al., 2019), §4.2 and §4.3; docs/methods/extractive.md tells of its training.
    """

    def __init__(self, folder: Path, *, threads: int | None = None) -> None:
        self._folder = folder
        self._loading = threading.Lock()
        self._session: Any = None
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._queue = BatchQueue(
            self._compute,
            dimensions=len(_COLUMNS),
            max_batch_chars=_BATCH_TOKENS,
            max_chars=_WINDOW,
            length=lambda window: len(window.tokens),
            name="the span reader",
            threads=threads or threads_of_environment(),
        )

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan | None:
        """Find the span of a passage that answers a question best; the network computes in other threads.

        Args:
            question: A question, or a few words.
            title: What stands above the passage; "" if nothing does.
            passage: Its first 2,048 tokens are read.

        Returns:
            None if the passage has no token.

        Raises:
            EmbeddingError: If the network fails, or the reader is closed.
        """
        windows = [*self._windows(question, title, passage)]
        if not windows:
            return None
        # Others that have passages to read submit them first: otherwise the first of many makes a batch alone.
        await asyncio.sleep(0)
        rows = await asyncio.wrap_future(self._queue.submit(windows))
        best = int(rows[:, 0].argmax())
        answerable, log_probability, first, last = (float(value) for value in rows[best])
        offsets = windows[best].offsets
        return AnswerSpan(offsets[int(first)][0], offsets[int(last)][1], answerable, log_probability)

    def close(self) -> None:
        """Stop the threads, after the batches they are at. Closing twice is fine."""
        self._queue.close()

    def _windows(self, question: str, title: str, passage: str) -> Iterator[_Window]:
        asked = self._tokenize(question).ids[:_MOST_QUESTION_TOKENS]
        above = self._tokenize(f"{title} :").ids[:_MOST_TITLE_TOKENS] if title else []
        read = self._tokenize(passage)
        tokens, offsets = read.ids[:_MOST_PASSAGE_TOKENS], read.offsets[:_MOST_PASSAGE_TOKENS]
        before = [_CLS, *asked, _SEP, *above]
        room = _WINDOW - len(before) - 1
        for start in range(0, max(len(tokens) - _OVERLAP, min(len(tokens), 1)), room - _OVERLAP):
            window = [*before, *tokens[start : start + room], _SEP]
            yield _Window(window, len(asked) + 2, len(before), offsets[start : start + room])

    def _tokenize(self, text: str) -> Encoding:
        # Half a surrogate pair is no text; a question mark in its place keeps all offsets.
        return self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)

    def _open(self) -> Any:  # noqa: ANN401 - without types
        """The network, loaded by the first thread that needs it."""
        with self._loading:
            if self._session is None:
                self._session = open_session(self._folder / "reader.onnx")
            return self._session

    def _compute(self, windows: list[_Window]) -> NDArray[np.float32]:
        shape = (len(windows), max(len(window.tokens) for window in windows))
        tokens, mask, types = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        for row, window in enumerate(windows):
            length = len(window.tokens)
            tokens[row, :length] = window.tokens
            mask[row, :length] = 1
            types[row, window.title_start : length] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": types}
        spans, answerable = self._open().run(["span", "answerable"], inputs)
        rows = np.empty((len(windows), len(_COLUMNS)), dtype=np.float32)
        for row, window in enumerate(windows):
            ends = spans[row, window.passage_start : window.passage_start + len(window.offsets)]
            rows[row] = answerable[row, 0], *_best_span(ends)
        return rows


def _best_span(logits: NDArray[np.float32]) -> tuple[float, int, int]:
    """The most probable pair of ends: its log probability, first and last token.

    Args:
        logits: Of each token to begin and to end the answer, shape (tokens, 2).
    """
    normal = logits - logits.max(axis=0)
    normal -= np.log(np.exp(normal).sum(axis=0))
    pairs = normal[:, :1] + normal[None, :, 1]
    number = len(logits)
    allowed = np.triu(np.ones((number, number), dtype=bool)) & ~np.triu(
        np.ones((number, number), dtype=bool), _MOST_ANSWER_TOKENS
    )
    first, last = np.unravel_index(np.where(allowed, pairs, -np.inf).argmax(), pairs.shape)
    return float(pairs[first, last]), int(first), int(last)
