"""A text is embedded once for all callers; a failure, and many texts at once, are not remembered."""

import asyncio
import gc
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.embedding.remembering import RememberedTexts
from pgclarify.errors import EmbeddingError
from pgclarify.protocols import Embedder
from tests.fakes.embedder import FakeEmbedder


def remembering(*fakes: FakeEmbedder, most: int = 100) -> RememberedTexts:
    by_name = {fake.model: fake for fake in fakes}

    async def get(model: str) -> Embedder:
        return by_name[model]

    return RememberedTexts(get, most=most)


async def test_a_text_is_embedded_once() -> None:
    fake = FakeEmbedder()
    texts = remembering(fake)
    first = await (await texts.get("fake")).encode(["rental cars"])
    again = await (await texts.get("fake")).encode(["rental cars"])
    assert fake.calls == [["rental cars"]]
    np.testing.assert_array_equal(first, await fake.encode(["rental cars"]))
    np.testing.assert_array_equal(first, again)


async def test_callers_at_the_same_time_share_what_one_of_them_embeds() -> None:
    fake = FakeEmbedder()
    embedder = await remembering(fake).get("fake")
    vectors = await asyncio.gather(*(embedder.encode([text]) for text in ("a", "b", "a", "a")))
    assert fake.calls == [["a"], ["b"]]
    np.testing.assert_array_equal(vectors[0], vectors[3])


async def test_a_question_is_not_a_passage_of_the_same_words() -> None:
    fake = FakeEmbedder()
    embedder = await remembering(fake).get("fake")
    for are_passages in (False, True, False, True):
        await embedder.encode(["a"], are_passages=are_passages)
    assert fake.are_passages == [False, True]


async def test_a_failure_is_not_remembered() -> None:
    fake = FakeEmbedder(fails_on="bad")
    embedder = await remembering(fake).get("fake")
    failed = await asyncio.gather(*(embedder.encode(["bad"]) for _ in range(2)), return_exceptions=True)
    assert [type(one) for one in failed] == [EmbeddingError] * 2
    fake._fails_on = None
    assert (await embedder.encode(["bad"])).shape == (1, 256)


async def test_a_caller_that_is_cancelled_does_not_take_the_text_from_others() -> None:
    fake = FakeEmbedder()
    begun, may_end = asyncio.Event(), asyncio.Event()

    class Slow(FakeEmbedder):
        async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
            begun.set()
            await may_end.wait()
            return await fake.encode(texts)

    embedder = await remembering(Slow()).get("fake")
    first = asyncio.create_task(embedder.encode(["a"]))
    await begun.wait()
    second = asyncio.create_task(embedder.encode(["a"]))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    may_end.set()
    assert (await second).shape == (1, 256)


async def test_an_error_is_not_logged_if_its_callers_were_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    embedder = await remembering(FakeEmbedder(fails_on="bad")).get("fake")
    caller = asyncio.create_task(embedder.encode(["bad"]))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await asyncio.sleep(0)
    gc.collect()
    assert caplog.records == []


async def test_the_last_texts_are_remembered_and_many_at_once_are_not() -> None:
    fake = FakeEmbedder()
    embedder = await remembering(fake, most=2).get("fake")
    for text in ("a", "b", "a", "c", "a", "b"):
        await embedder.encode([text])
    assert fake.calls == [["a"], ["b"], ["c"], ["b"]]
    fake.calls.clear()
    for _ in range(2):
        assert (await embedder.encode(["a", "x"])).shape == (2, 256)
    assert fake.calls == [["a", "x"]] * 2
    assert (await embedder.encode([])).shape == (0, 256)


async def test_a_model_does_not_see_the_texts_of_another() -> None:
    fakes = FakeEmbedder(), FakeEmbedder(model="other", dimensions=8)
    texts = remembering(*fakes)
    assert (await (await texts.get("fake")).encode(["a"])).shape == (1, 256)
    assert (await (await texts.get("other")).encode(["a"])).shape == (1, 8)
