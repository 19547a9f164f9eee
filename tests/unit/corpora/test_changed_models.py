"""A model that gives other vectors than those that are stored is noticed before it embeds anything for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.corpora.embedding_models import CorpusModels
from pgclarify.errors import EmbeddingError, EmbeddingUnavailable, ModelChanged
from pgclarify.protocols import Embedder
from tests.fakes import FakeEmbedder
from tests.fakes.spaces import FakeSpaceStore

TEXTS = ["Cars are covered.", "Trucks are not.", "Boats cost more.", "Planes never fly.", "Ask at the desk."]
Disturb = Callable[[NDArray[np.float32]], NDArray[np.float32]]


class Store(FakeSpaceStore):
    """Spaces with stored vectors, and what was noted about their models.

    Args:
        rows: The passages of each space, by its id.
    """

    def __init__(self, rows: dict[int, list[dict[str, Any]]]) -> None:
        super().__init__()
        self.rows = rows
        self.noted: dict[int, str | None] = {}

    async def to_check(self) -> list[dict[str, Any]]:
        return [{"embedding_space_id": each, "model": "fake", "dimensions": 256} for each in self.rows]

    async def stored_vectors(self, embedding_space_id: int, most: int) -> list[dict[str, Any]]:
        return self.rows[embedding_space_id][:most]

    async def note_model_change(self, embedding_space_id: int, error: str | None) -> None:
        self.noted[embedding_space_id] = error


class Failing(FakeEmbedder):
    """A model that raises an error for the first calls."""

    def __init__(self, *errors: EmbeddingError) -> None:
        super().__init__()
        self.errors = [*errors]

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        if self.errors:
            raise self.errors.pop(0)
        return await super().encode(texts, are_passages=are_passages)


async def rows(disturb: Disturb = lambda vectors: vectors, texts: Sequence[str] = TEXTS) -> list[dict[str, Any]]:
    vectors = disturb(await FakeEmbedder().encode(texts, are_passages=True))
    return [
        {"title": None, "heading": None, "content": text, "vector": vector.tolist()}
        for text, vector in zip(texts, vectors, strict=True)
    ]


def models_of(store: Store, embedder: Embedder) -> CorpusModels:
    async def embedder_of(model: str) -> Embedder:
        return embedder

    return CorpusModels(embedder_of, store=store)


def rounded(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """As a halfvec stores them, and another processor computes them."""
    noise = np.random.default_rng(1).normal(0, 0.005, vectors.shape)
    return (vectors + noise).astype(np.float16).astype(np.float32)


def rotated(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Another model of the same dimensions."""
    return np.roll(vectors, 1, axis=1)


def one_differs(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """A passage whose title was changed by hand."""
    return np.vstack([rotated(vectors[:1]), vectors[1:]])


@pytest.mark.parametrize("disturb", [lambda vectors: vectors, rounded, one_differs])
async def test_the_same_model_is_used(disturb: Disturb) -> None:
    store = Store({1: await rows(disturb)})
    assert await models_of(store, FakeEmbedder()).get("fake", 256, 1) is not None
    assert store.noted == {1: None}


async def test_another_model_under_the_name_embeds_nothing_and_the_space_says_so() -> None:
    store = Store({1: await rows(rotated), 2: await rows(), 3: []})
    models = models_of(store, FakeEmbedder())
    for _ in range(2):
        with pytest.raises(ModelChanged):
            await models.get("fake", 256, 1)
    # A space that the changed model has filled can be used, and so can a new one.
    for space_id in (2, 3):
        assert await models.get("fake", 256, space_id) is not None
    assert store.noted[1]
    assert (store.noted[2], store.noted[3]) == (None, None)


async def test_all_spaces_are_looked_at_when_a_worker_starts_and_each_once() -> None:
    store, embedder = Store({1: await rows(rotated), 2: await rows()}), FakeEmbedder()
    models = models_of(store, embedder)
    await models.look()
    assert store.noted.keys() == {1, 2}
    store.noted.clear()
    await models.look()
    assert await models.get("fake", 256, 2) is not None
    assert store.noted == {}


async def test_a_model_whose_endpoint_is_away_is_compared_later(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store({1: await rows(rotated)})
    models = models_of(store, Failing(EmbeddingUnavailable("away")))
    await models.look()
    assert store.noted == {}
    assert models.missing() == ["fake"]
    models._left_until.clear()
    await models.look()
    assert store.noted[1]


async def test_texts_that_the_model_refuses_do_not_stop_it() -> None:
    store = Store({1: await rows()})
    assert await models_of(store, Failing(EmbeddingError("too long"))).get("fake", 256, 1) is not None
