"""A small trained network that reads question and passage together, and finds the answer in the passage."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.verdicts import AnswerSpan
from pgclarify.embedding.batching import BatchQueue
from pgclarify.embedding.minilm import open_session, threads_of_environment
from pgclarify.embedding.windows import WINDOW_TOKENS, Window, Windows

_MOST_ANSWER_TOKENS: Final = 30
# Padded tokens of a batch: about 0.1 s of one core.
_BATCH_TOKENS: Final = 1_024
# The columns of the results.
_COLUMNS = ("answerable", "log_probability", "first", "last")


class LocalSpanReader:
    """The trained reader of the package pgclarify-minilm, with ONNX Runtime. For English. Implements SpanReader.

    Windows of passages that wait at the same time are computed in batches, in its own threads. The network is loaded on
    first use.

    Args:
        folder: The folder of the model's files.

    Source: BERT (Devlin et al., 2019), §4.2 and §4.3; docs/methods/extractive.md tells of its training.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = threading.Lock()
        self._session: Any = None
        self._windows = Windows(folder)
        self._queue = BatchQueue(
            self._compute,
            dimensions=len(_COLUMNS),
            max_batch_chars=_BATCH_TOKENS,
            max_chars=WINDOW_TOKENS,
            length=lambda window: len(window.tokens),
            name="the span reader",
            threads=threads_of_environment(),
        )

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan | None:
        """Find the span of a passage that answers a question best. The network computes in other threads.

        Args:
            question: A question, or a few words.
            title: The title and headings of the passage; "" if there are none.
            passage: Only its first 2,048 tokens are read.

        Returns:
            None if the passage has no tokens.

        Raises:
            EmbeddingError: If the network fails, or the reader is closed.
        """
        windows = [*self._windows.of(question, title, passage)]
        if not windows:
            return None
        # Let other tasks queue their passages first. Otherwise the first of many is a batch of its own.
        await asyncio.sleep(0)
        rows = await asyncio.wrap_future(self._queue.submit(windows))
        best = int(rows[:, 0].argmax())
        answerable, log_probability, first, last = rows[best].tolist()
        offsets = windows[best].offsets
        start, _ = offsets[int(first)]
        _, end = offsets[int(last)]
        return AnswerSpan(start, end, answerable, log_probability)

    def close(self) -> None:
        """Stop the threads after their current batches. Can be called twice."""
        self._queue.close()

    def _open(self) -> Any:  # noqa: ANN401 - without types
        """Return the network; the first thread that needs it loads it."""
        with self._loading:
            if self._session is None:
                self._session = open_session(self._folder / "reader.onnx")
            return self._session

    def _compute(self, windows: list[Window]) -> NDArray[np.float32]:
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
            passage_end = window.passage_start + len(window.offsets)
            ends = spans[row, window.passage_start : passage_end]
            rows[row] = answerable[row, 0], *_best_span(ends)
        return rows


def _best_span(logits: NDArray[np.float32]) -> tuple[float, int, int]:
    """Return the most probable span: its log probability, first and last token.

    Args:
        logits: The logits of each token as first and as last token of the answer, shape (tokens, 2).
    """
    normal = logits - logits.max(axis=0)
    normal -= np.log(np.exp(normal).sum(axis=0))
    pairs = normal[:, :1] + normal[None, :, 1]
    # Rows are first tokens, columns are last tokens. The last one is not before the first one, nor far behind it.
    is_in_order = np.triu(np.ones(pairs.shape, dtype=bool))
    is_too_long = np.triu(is_in_order, _MOST_ANSWER_TOKENS)
    allowed = is_in_order & ~is_too_long
    best = np.where(allowed, pairs, -np.inf).argmax()
    first, last = divmod(int(best), len(pairs))
    return float(pairs[first, last]), first, last
