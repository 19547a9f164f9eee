"""all-MiniLM-L6-v2 in 8-bit integers, with the real weights, on sentences of the demo's documents."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.config import Device
from pgclarify.embedding import LocalEmbedder, load_embedder
from pgclarify.embedding.minilm import multiplies_int8
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import ConfigurationError
from tests.pages import CHECKOUT

MODEL = "all-MiniLM-L6-v2"
needs_instructions = pytest.mark.skipif(
    not multiplies_int8(), reason="this processor has no instructions for products of 8-bit integers"
)


def sentences() -> list[str]:
    """At most two hundred sentences of the demo's documents, short and long."""
    text = "".join(page.read_text() for page in sorted((CHECKOUT / "pgclarify" / "demo_corpus").glob("*.md")))
    found = [" ".join(sentence.split()) for sentence in re.split(r"(?<=[.:])\s", text)]
    return sorted(set(filter(None, found)))[:200]


@pytest.fixture(scope="module")
def exact() -> NDArray[np.float32]:
    embedder = load_embedder(MODEL)
    try:
        return asyncio.run(embedder.encode(sentences()))
    finally:
        embedder.close()


@pytest.fixture(scope="module")
def rounded() -> Iterator[LocalEmbedder]:
    embedder = load_embedder(MODEL, device=Device.INT8)
    yield embedder
    embedder.close()


@needs_instructions
async def test_vectors_are_close_to_those_of_float32(rounded: LocalEmbedder, exact: NDArray[np.float32]) -> None:
    similarities = ((await rounded.encode(sentences())) * exact).sum(axis=1)
    assert similarities.min() > 0.985
    # This shows that the precision differs: in float32, the difference would be 1e-6.
    assert similarities.min() < 1 - 1e-5


@needs_instructions
async def test_company_in_a_batch_does_not_change_a_vector(rounded: LocalEmbedder) -> None:
    texts = sentences()[:40]
    together, *alone = await asyncio.gather(rounded.encode(texts), *(rounded.encode([text]) for text in texts))
    assert np.array_equal(together, np.concatenate(alone))


def test_a_processor_without_the_instructions_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.embedding.multiplies_int8", lambda: False)
    with pytest.raises(ConfigurationError) as caught:
        load_embedder(MODEL, device=Device.INT8)
    assert caught.value.hint and "PGCLARIFY_DEVICE" in caught.value.hint


@pytest.mark.parametrize(
    ("device", "has_instructions", "is_rounded"),
    [
        (Device.AUTO, multiplies_int8(), multiplies_int8()),
        # Without these instructions, readings use the same vectors as everything else.
        (Device.AUTO, False, False),
        (Device.CPU, multiplies_int8(), False),
    ],
)
async def test_readings_are_rounded_where_the_processor_can(
    device: Device, has_instructions: bool, is_rounded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgclarify.embedding.registry.multiplies_int8", lambda: has_instructions)
    embedders = Embedders(device=device)
    text = ["How do I rent a car?"]
    try:
        question = await (await embedders.get(MODEL)).encode(text)
        reading = await (await embedders.get_for_readings(MODEL)).encode(text)
    finally:
        embedders.close()
    difference = np.abs(question - reading).max()
    assert 1e-5 < difference < 0.05 if is_rounded else difference == 0
