from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.embedding.batching import BatchQueue, OutOfMemory
from pgclarify.errors import EmbeddingError
from pgclarify.protocols import waited_for


class Lengths:
    """Embeds a text as its length. The first batch waits until the test lets it continue."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.has_begun = threading.Event()
        self.may_go_on = threading.Event()

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        self.batches.append(texts)
        self.has_begun.set()
        assert self.may_go_on.wait(30)
        if "bad" in texts:
            raise RuntimeError("bad text")
        return np.array([[len(text)] for text in texts], dtype=np.float32)


@pytest.fixture
def compute() -> Lengths:
    return Lengths()


@pytest.fixture
def queue(compute: Lengths) -> Iterator[BatchQueue[str]]:
    queue = BatchQueue(compute, dimensions=1, max_batch_chars=400, max_chars=200, length=len)
    yield queue
    compute.may_go_on.set()
    queue.close()


def hold(queue: BatchQueue[str], compute: Lengths) -> None:
    """Let the thread begin a batch, so that later texts must wait."""
    queue.submit(["first"])
    assert compute.has_begun.wait(30)


def test_batches_keep_to_their_size_and_hold_texts_of_like_length(queue: BatchQueue[str], compute: Lengths) -> None:
    compute.may_go_on.set()
    queue.submit(["x" * length for length in range(0, 2000, 10)]).result(30)
    for batch in compute.batches:
        counted = [min(len(text), 200) for text in batch]
        assert len(batch) == 1 or max(counted) * len(batch) <= 400
        assert max(counted) <= max(64, 2 * min(counted))


def test_small_call_passes_a_large_one(queue: BatchQueue[str], compute: Lengths) -> None:
    hold(queue, compute)
    large = queue.submit(["x" * 100] * 1000)
    small = queue.submit(["query"])
    compute.may_go_on.set()
    small.result(30)
    large.result(30)
    assert ["query"] in compute.batches[:3]


def test_texts_of_a_run_that_is_waited_for_pass_those_of_a_batch(queue: BatchQueue[str], compute: Lengths) -> None:
    hold(queue, compute)
    others = [queue.submit(["b" * 300]) for _ in range(9)]
    with waited_for(True):
        person = queue.submit(["p" * 300, "p" * 300])
    compute.may_go_on.set()
    for future in (person, *others):
        future.result(30)
    assert compute.batches[1] == ["p" * 300] * 2


def test_cancelled_call_is_not_computed(queue: BatchQueue[str], compute: Lengths) -> None:
    hold(queue, compute)
    assert queue.submit(["never", "mind"]).cancel()
    kept = queue.submit(["kept"])
    compute.may_go_on.set()
    kept.result(30)
    assert compute.batches == [["first"], ["kept"]]


def test_failure_reaches_its_callers_and_no_others(queue: BatchQueue[str], compute: Lengths) -> None:
    hold(queue, compute)
    bad = queue.submit(["bad", "x" * 150])
    compute.may_go_on.set()
    with pytest.raises(EmbeddingError) as caught:
        bad.result(30)
    assert caught.value.detail == "RuntimeError: bad text"
    assert queue.submit(["good"]).result(30).tolist() == [[4.0]]
    assert ["x" * 150] not in compute.batches


def test_closing_fails_what_waits_and_what_comes_after(queue: BatchQueue[str], compute: Lengths) -> None:
    hold(queue, compute)
    waiting = queue.submit(["x" * 100] * 50)
    closing = threading.Thread(target=queue.close)
    closing.start()
    # From now on, the queue takes no texts, and the current batch may end.
    with pytest.raises(EmbeddingError):
        while True:
            queue.submit(["late"])
    compute.may_go_on.set()
    closing.join(30)
    assert not closing.is_alive()
    with pytest.raises(EmbeddingError):
        waiting.result(30)
    assert compute.batches == [["first"]]


@pytest.fixture
def pair() -> Iterator[tuple[BatchQueue[str], list[list[str]]]]:
    """A queue of two threads, and the batches. The first two batches are only computed at the same time."""
    batches: list[list[str]] = []
    both = threading.Barrier(2, timeout=30)

    def compute(texts: list[str]) -> NDArray[np.float32]:
        batches.append(texts)
        if len(batches) <= 2:
            both.wait()
        if "bad" in texts[0]:
            raise RuntimeError("bad text")
        return np.array([[len(text)] for text in texts], dtype=np.float32)

    queue = BatchQueue(compute, dimensions=1, max_batch_chars=400, max_chars=200, length=len, threads=2)
    yield queue, batches
    queue.close()


def test_threads_that_are_idle_share_a_call(pair: tuple[BatchQueue[str], list[list[str]]]) -> None:
    queue, batches = pair
    texts = ["x" * length for length in (4, 1, 3, 2)]
    assert queue.submit(texts).result(30).tolist() == [[4], [1], [3], [2]]
    assert sorted(map(len, batches)) == [2, 2]


class SmallDevice:
    """Embeds a text as its length. It has room for a limited number of texts."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.batches: list[int] = []

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        self.batches.append(len(texts))
        if len(texts) > self.room:
            raise OutOfMemory("There is no memory for this batch.")
        return np.array([[len(text)] for text in texts], dtype=np.float32)


def on_device(device: SmallDevice) -> BatchQueue[str]:
    return BatchQueue(device, dimensions=1, max_batch_chars=1600, max_chars=200, length=len)


def test_a_batch_without_room_is_computed_in_halves_and_no_larger_one_is_made() -> None:
    device = SmallDevice(room=5)
    queue = on_device(device)
    texts = ["x" * (100 - number) for number in range(16)]
    for _ in range(2):
        assert queue.submit(texts).result(30).tolist() == [[float(len(text))] for text in texts]
    queue.close()
    assert device.batches[:4] == [16, 8, 4, 4]
    # A text of twice the length counts as two. The learned limit also holds for the second request.
    assert max(device.batches[5:]) <= 8
    assert all(batch <= 5 for batch in device.batches[-4:])


def test_no_room_for_a_single_text_is_an_error_and_the_queue_goes_on() -> None:
    device = SmallDevice(room=0)
    queue = on_device(device)
    with pytest.raises(OutOfMemory):
        queue.submit(["one", "two"]).result(30)
    device.room = 1
    assert queue.submit(["three"]).result(30).tolist() == [[5.0]]
    queue.close()


def test_a_call_whose_batches_both_fail_is_told_once(pair: tuple[BatchQueue[str], list[list[str]]]) -> None:
    queue, _ = pair
    with pytest.raises(EmbeddingError):
        queue.submit(["bad", "bad"]).result(30)
    assert queue.submit(["a", "b"]).result(30).tolist() == [[1], [1]]
