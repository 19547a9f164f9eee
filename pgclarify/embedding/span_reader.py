"""Small trained networks that read question and passage together: one finds the answer, one judges each sentence."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.verdicts import AnswerSpan
from pgclarify.embedding.batching import BatchQueue
from pgclarify.embedding.minilm import open_session, threads_of_environment
from pgclarify.embedding.windows import WINDOW_TOKENS, Window, Windows

_MOST_ANSWER_TOKENS: Final = 30
# Padded tokens of a batch, which is one long window or several short ones. Larger batches take as much time for each
# token, and 25 MB more in each thread.
_BATCH_TOKENS: Final = WINDOW_TOKENS
# The columns of the results.
_COLUMNS = ("answerable", "log_probability", "first", "last")


class LocalSpanReader:
    """The trained reader of the package pgclarify-minilm, with ONNX Runtime. For English. Implements PassageReader.

    Windows of passages that wait at the same time are computed in batches, in its own threads. A network is loaded on
    first use.

    Args:
        folder: The folder of the model's files.
        in_int8: Compute in 8-bit integers: half the CPU time, and logits that differ by .05 on average. Only for
            processors for which `multiplies_int8` is true.

    Source: BERT (Devlin et al., 2019), §4.2 and §4.3; docs/methods/extractive.md tells of its training.
    """

    def __init__(self, folder: Path, *, in_int8: bool = False) -> None:
        ending = ".int8.onnx" if in_int8 else ".onnx"
        self._windows = Windows(folder)
        self._spans = _Network(folder / f"reader{ending}", ("span", "answerable"), _row_of_span, len(_COLUMNS))
        self._sentences = _Network(folder / f"sentences{ending}", ("tells",), _row_of_tokens, WINDOW_TOKENS)

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
        rows = await self._spans.compute(windows)
        best = int(rows[:, 0].argmax())
        answerable, log_probability, first, last = rows[best].tolist()
        offsets = windows[best].offsets
        start, _ = offsets[int(first)]
        _, end = offsets[int(last)]
        return AnswerSpan(start, end, answerable, log_probability)

    async def judge(
        self, question: str, title: str, passage: str, sentences: Sequence[tuple[int, int]]
    ) -> Sequence[float]:
        """Tell how probably each sentence of a passage answers a question. The network computes in other threads.

        Args:
            question: A question, or a few words.
            title: The title and headings of the passage; "" if there are none.
            passage: Only its first 2,048 tokens are read.
            sentences: Start and end of each sentence in the passage, in characters.

        Returns:
            A probability in [0, 1] for each sentence: the logistic function of its tokens' mean; 0 for one without
            tokens.

        Raises:
            EmbeddingError: If the network fails, or the reader is closed.
        """
        windows = [*self._windows.of(question, title, passage)]
        if not windows:
            return [0.0] * len(sentences)
        rows = await self._sentences.compute(windows)
        # A token in two windows counts twice.
        starts, ends = np.array([offset for window in windows for offset in window.offsets]).T
        logits = np.concatenate([row[: len(window.offsets)] for window, row in zip(windows, rows, strict=True)])
        return [_probability(logits[(starts >= start) & (ends <= end)]) for start, end in sentences]

    def close(self) -> None:
        """Stop the threads after their current batches. Can be called twice."""
        self._spans.close()
        self._sentences.close()


class _Network:
    """A graph that is computed on batches of windows.

    Args:
        graph: Its file, with the inputs that a BERT model has.
        outputs: The names of its outputs.
        row: Makes the result for a window of these outputs.
        dimensions: The length of such a result.
    """

    def __init__(
        self,
        graph: Path,
        outputs: Sequence[str],
        row: Callable[[Window, Sequence[NDArray[np.float32]]], Sequence[float] | NDArray[np.float32]],
        dimensions: int,
    ) -> None:
        self._graph = graph
        self._outputs = outputs
        self._row = row
        self._dimensions = dimensions
        self._loading = threading.Lock()
        self._session: Any = None
        self._queue = BatchQueue(
            self._compute,
            dimensions=dimensions,
            max_batch_chars=_BATCH_TOKENS,
            max_chars=WINDOW_TOKENS,
            length=lambda window: len(window.tokens),
            name="the span reader",
            threads=threads_of_environment(),
        )

    async def compute(self, windows: Sequence[Window]) -> NDArray[np.float32]:
        """Return a result for each window."""
        # Let other tasks queue their passages first. Otherwise the first of many is a batch of its own.
        await asyncio.sleep(0)
        return await asyncio.wrap_future(self._queue.submit(windows))

    def close(self) -> None:
        self._queue.close()

    def _open(self) -> Any:  # noqa: ANN401 - without types
        """Return the network; the first thread that needs it loads it."""
        with self._loading:
            if self._session is None:
                self._session = open_session(self._graph)
            return self._session

    def _compute(self, windows: list[Window]) -> NDArray[np.float32]:
        longest = max(len(window.tokens) for window in windows)
        tokens, mask, types = np.zeros((3, len(windows), longest), dtype=np.int64)
        for row, window in enumerate(windows):
            length = len(window.tokens)
            tokens[row, :length] = window.tokens
            mask[row, :length] = 1
            types[row, window.title_start : length] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": types}
        computed = self._open().run(self._outputs, inputs)
        rows = np.zeros((len(windows), self._dimensions), dtype=np.float32)
        for row, window in enumerate(windows):
            result = self._row(window, [one[row] for one in computed])
            rows[row, : len(result)] = result
        return rows


def _row_of_span(window: Window, outputs: Sequence[NDArray[np.float32]]) -> Sequence[float]:
    spans, answerable = outputs
    return answerable[0], *_best_span(_of_passage(window, spans))


def _row_of_tokens(window: Window, outputs: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the logits of the passage's tokens, the first one first."""
    (logits,) = outputs
    return _of_passage(window, logits)[:, 0]


def _of_passage(window: Window, rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows of the passage's tokens."""
    end = window.passage_start + len(window.offsets)
    return rows[window.passage_start : end]


def _probability(logits: NDArray[np.float32]) -> float:
    """Return the logistic function of the mean; 0 if there are none."""
    if len(logits) == 0:
        return 0.0
    odds = np.exp(-logits.mean())
    return float(1.0 / (1.0 + odds))


def _best_span(logits: NDArray[np.float32]) -> tuple[float, int, int]:
    """Return the most probable span: its log probability, first and last token.

    Args:
        logits: The logits of each token as first and as last token of the answer, shape (tokens, 2).
    """
    normal = logits - logits.max(axis=0)
    sums = np.exp(normal).sum(axis=0)
    normal -= np.log(sums)
    pairs = normal[:, :1] + normal[None, :, 1]
    # Rows are first tokens, columns are last tokens. The last one is not before the first one, nor far behind it.
    is_pair = np.ones(pairs.shape, dtype=bool)
    is_in_order = np.triu(is_pair)
    is_too_long = np.triu(is_in_order, _MOST_ANSWER_TOKENS)
    allowed = is_in_order & ~is_too_long
    candidates = np.where(allowed, pairs, -np.inf)
    best = candidates.argmax()
    first, last = divmod(int(best), len(pairs))
    return float(pairs[first, last]), first, last
