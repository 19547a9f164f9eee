"""Merges waiting inputs of a model into batches, and computes them in its own threads.

An input is a text, or anything else that a model reads.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pgclarify.errors import DimensionMismatch, EmbeddingError, EmbeddingUnavailable
from pgclarify.protocols import is_waited_for

_logger = logging.getLogger(__name__)

# One batch of this many begins with the oldest request, so that many small requests cannot starve a large one.
_OLDEST_FIRST_EVERY = 4
# Inputs share a batch if none is longer than the shortest by this factor, because padding is computed, too.
_LENGTH_RATIO = 2
# Below this length, padding is cheaper than another batch.
_SHORT_CHARS = 64

_Input = TypeVar("_Input")


class OutOfMemory(EmbeddingUnavailable):
    """The device of a model is out of memory. The texts are not the cause, and may fit later.

    Args:
        detail: What did not fit.
    """

    # The message of a failed run must not mention an endpoint.
    sqlstate = EmbeddingError.sqlstate

    def __init__(self, detail: str) -> None:
        super().__init__(
            "the device of the worker's models is out of memory",
            detail=detail,
            hint="Free memory of the GPU, or set PGCLARIFY_DEVICE=cpu for the worker and start it again.",
        )


@dataclass(slots=True)
class _Request(Generic[_Input]):
    """Inputs of one caller; order has the positions that are not done yet, the next one last.

    Attributes:
        lengths: Lengths of the inputs, in characters.
        is_waited_for: Whether a caller waits for the run that they belong to.
    """

    inputs: Sequence[_Input]
    lengths: Sequence[int]
    order: list[int]
    vectors: NDArray[np.float32]
    is_waited_for: bool
    future: Future[NDArray[np.float32]] = field(default_factory=Future)
    unfinished: int = 0
    is_over: bool = False


class BatchQueue(Generic[_Input]):
    """A queue of inputs for a function that computes batches, in its own threads.

    Requests of runs with a waiting caller come first, then those with the fewest inputs left. They share a batch with
    inputs of similar length. A large request takes many batches, and small requests are computed between them.
    Thread-safe.

    Args:
        compute: Maps inputs to float32 vectors, shape (len(inputs), dimensions). Called in `threads` threads. After
            OutOfMemory it gets the batch in halves, and later batches are not larger than these.
        dimensions: Length of a vector.
        max_batch_chars: Most characters in a batch, padding included; a single input always fits.
        max_chars: Longer inputs are counted as this long.
        length: Returns the length of an input in characters.
        name: The model's name, for errors.
        threads: How many batches are computed at the same time.
    """

    def __init__(
        self,
        compute: Callable[[list[_Input]], NDArray[np.float32]],
        *,
        dimensions: int,
        max_batch_chars: int,
        max_chars: int,
        length: Callable[[_Input], int],
        name: str = "the embedding model",
        threads: int = 1,
    ) -> None:
        self._compute = compute
        self._dimensions = dimensions
        self._max_batch_chars = max_batch_chars
        self._max_chars = max_chars
        self._length = length
        self._name = name
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="pgclarify-embedding")
        self._lock = threading.Lock()
        self._requests: list[_Request[_Input]] = []
        self._threads = threads
        # Threads that were started, and how many of them are computing.
        self._started = 0
        self._computing = 0
        self._is_closed = False
        self._batches = 0

    def submit(self, inputs: Sequence[_Input]) -> Future[NDArray[np.float32]]:
        """Queue inputs. Cancelling the future removes the inputs that are not computed yet.

        Returns:
            Their vectors: float32, shape (len(inputs), dimensions), in the order of inputs.

        Raises:
            EmbeddingError: If the queue is closed.
        """
        lengths = [min(self._length(each), self._max_chars) for each in inputs]
        request = _Request(
            inputs=inputs,
            lengths=lengths,
            # The shortest input comes last, because the next one is taken from the end.
            order=sorted(range(len(inputs)), key=lambda position: -lengths[position]),
            vectors=np.empty((len(inputs), self._dimensions), dtype=np.float32),
            is_waited_for=is_waited_for(),
            unfinished=len(inputs),
        )
        with self._lock:
            if self._is_closed:
                raise EmbeddingError(f"{self._name} is closed")
            self._requests.append(request)
            self._wake()
        return request.future

    def close(self) -> None:
        """Stop after the current batch; waiting requests fail."""
        with self._lock:
            self._is_closed = True
        self._executor.shutdown(wait=True)

    def _work(self) -> None:
        """Compute until nothing is waiting. Runs in the threads."""
        while batch := self._next_batch():
            try:
                vectors = self._compute_in_parts([request.inputs[position] for request, position in batch])
            except Exception as error:
                self._fail({id(request): request for request, _ in batch}.values(), error)
            else:
                for row, (request, position) in zip(vectors, batch, strict=True):
                    request.vectors[position] = row
                for request in self._finish(batch):
                    request.future.set_result(request.vectors)
            with self._lock:
                self._computing -= 1

    def _compute_in_parts(self, inputs: list[_Input]) -> NDArray[np.float32]:
        """Compute a batch; if it does not fit into memory, its halves, and so on.

        Raises:
            OutOfMemory: If a single input does not fit.
            EmbeddingError: As `_checked`.
        """
        try:
            return self._checked(self._compute(inputs), len(inputs))
        except OutOfMemory:
            if len(inputs) == 1:
                raise
        middle = -(-len(inputs) // 2)
        longest = max(min(self._length(each), self._max_chars) for each in inputs)
        with self._lock:
            self._max_batch_chars = min(self._max_batch_chars, longest * middle)
            most = self._max_batch_chars
        _logger.warning(
            "%s ran out of memory on a batch of %d: batches now have at most %d characters",
            self._name,
            len(inputs),
            most,
        )
        return np.concatenate([self._compute_in_parts(inputs[:middle]), self._compute_in_parts(inputs[middle:])])

    def _checked(self, vectors: NDArray[np.float32], number: int) -> NDArray[np.float32]:
        """Check what a model returned: numpy would copy one row, or one number, to all.

        Raises:
            DimensionMismatch: If it does not have a row for each input, all of the model's dimensions.
            EmbeddingError: If it has numbers that are not finite.
        """
        if vectors.shape != (number, self._dimensions):
            raise DimensionMismatch(
                f"{self._name} returned vectors of another shape",
                detail=f"It returned {vectors.shape}; expected: {(number, self._dimensions)}.",
            )
        if not np.isfinite(vectors).all():
            raise EmbeddingError(f"{self._name} returned numbers that are not finite")
        return vectors

    def _wake(self) -> None:
        """Start a thread if inputs are waiting and not all threads are started. The lock is held."""
        if self._requests and self._started < self._threads:
            self._started += 1
            self._executor.submit(self._work)

    def _finish(self, batch: list[tuple[_Request[_Input], int]]) -> list[_Request[_Input]]:
        """Count finished inputs. Return the requests that are now complete and not cancelled."""
        complete = []
        with self._lock:
            for request, _ in batch:
                request.unfinished -= 1
                if request.unfinished == 0 and _end(request):
                    complete.append(request)
        return complete

    def _next_batch(self) -> list[tuple[_Request[_Input], int]]:
        """Take the next inputs; none if nothing is waiting, so that the thread may end."""
        with self._lock:
            self._requests = [r for r in self._requests if r.order and not r.future.cancelled()]
            if self._is_closed:
                closed, self._requests = self._requests, []
            else:
                closed = []
            batch = self._pick() if self._requests else []
            self._requests = [r for r in self._requests if r.order]
            if batch:
                self._computing += 1
                self._wake()
            else:
                self._started -= 1
        self._fail(closed, EmbeddingError(f"{self._name} is closed"))
        return batch

    def _pick(self) -> list[tuple[_Request[_Input], int]]:
        self._batches += 1
        requests = self._requests
        if self._batches % _OLDEST_FIRST_EVERY:
            requests = sorted(requests, key=lambda request: (not request.is_waited_for, len(request.order)))
        # Leave a share of the inputs for idle threads.
        most = -(-sum(len(request.order) for request in requests) // (self._threads - self._computing))
        batch: list[tuple[_Request[_Input], int]] = []
        shortest = longest = 0
        for request in requests:
            while request.order and len(batch) < most:
                length = request.lengths[request.order[-1]]
                if batch:
                    new_shortest, new_longest = min(shortest, length), max(longest, length)
                    is_too_large = new_longest * (len(batch) + 1) > self._max_batch_chars
                    if is_too_large or new_longest > max(_SHORT_CHARS, _LENGTH_RATIO * new_shortest):
                        break
                    shortest, longest = new_shortest, new_longest
                else:
                    shortest = longest = length
                batch.append((request, request.order.pop()))
        return batch

    def _fail(self, requests: Iterable[_Request[_Input]], error: Exception) -> None:
        for request in requests:
            with self._lock:
                request.order.clear()
                is_wanted = _end(request)
            if is_wanted:
                failure = (
                    error
                    if isinstance(error, EmbeddingError)
                    else EmbeddingError(f"{self._name} failed", detail=f"{type(error).__name__}: {error}")
                )
                if failure is not error:
                    failure.__cause__ = error
                request.future.set_exception(failure)


def _end(request: _Request[_Input]) -> bool:
    """Mark a request as ended. Return whether its caller must still be told. The lock is held."""
    if request.is_over:
        return False
    request.is_over = True
    return request.future.set_running_or_notify_cancel()
