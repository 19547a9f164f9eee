"""A space is filled with another model's vectors, and a bad passage does not delay the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.corpora.embedding_models import CorpusModels
from pgclarify.corpora.reembedding import Reembedding
from pgclarify.database.spaces import EmbeddingSpaces
from pgclarify.errors import (
    DatabaseBusy,
    DatabaseError,
    EmbeddingError,
    EmbeddingUnavailable,
    ModelNotFound,
    ServerUnavailable,
)
from pgclarify.protocols import Embedder, TextsFailed
from tests.fakes import FakeEmbedder, FakeSpaceStore

CONTENTS = ["Cars are insured.", "Boats are not.", "Planes are, if they stay on the ground."]


def reembedding(store: EmbeddingSpaces, embedder: FakeEmbedder) -> Reembedding:
    async def embedder_of(model: str) -> Embedder:
        if model != embedder.model:
            raise ModelNotFound("no such model", detail=f"It is {model!r}.")
        return embedder

    return Reembedding(store, CorpusModels(embedder_of), max_passages=100)


async def test_passages_are_embedded_in_one_call_and_stored() -> None:
    store, embedder = FakeSpaceStore(CONTENTS), FakeEmbedder()
    assert await reembedding(store, embedder).fill_once() == 3
    assert embedder.calls == [CONTENTS]
    assert embedder.are_passages == [True]
    assert store.stored == [[1, 2, 3]]
    assert store.cut_off == set()
    expected = await embedder.encode(CONTENTS)
    assert all(np.array_equal(store.vectors[row + 1], expected[row]) for row in range(3))


async def test_passages_that_the_model_does_not_read_to_their_end() -> None:
    # Special tokens count, too: a passage of 62 words is read completely, one of 63 words is not.
    store = FakeSpaceStore(["word " * 62, "word " * 63])
    await reembedding(store, FakeEmbedder(max_tokens=64)).fill_once()
    assert store.cut_off == {2}
    assert sorted(store.vectors) == [1, 2]


async def test_passages_wait_for_a_model_whose_endpoint_does_not_answer() -> None:
    store, embedder = FakeSpaceStore(CONTENTS), FakeEmbedder()
    embedder.is_away = True
    pipeline = reembedding(store, embedder)
    # The passages are released, and not claimed again for a while.
    assert [await pipeline.fill_once() for _ in range(3)] == [3, 0, 0]
    assert store.failed == {}
    assert list(store.refused) == [1]
    assert len(store.pending) == 3


@pytest.mark.parametrize("is_open", [False, True])
async def test_why_a_space_is_not_filled_has_no_foreign_words(is_open: bool) -> None:
    error = EmbeddingUnavailable("it failed", detail="It says: a passage that is not for all.", hint="Start it.")

    class Refusing(FakeEmbedder):
        async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
            raise error

    async def embedder_of(model: str) -> Embedder:
        if is_open:
            return Refusing()
        raise error

    store = FakeSpaceStore(CONTENTS)
    await Reembedding(store, CorpusModels(embedder_of)).fill_once()
    assert store.refused == {1: "it failed: Start it."}


async def test_a_passage_that_cannot_be_embedded_is_noted_alone() -> None:
    store, embedder = FakeSpaceStore([*CONTENTS[:2], "poison", CONTENTS[2]]), FakeEmbedder(fails_on="poison")
    assert await reembedding(store, embedder).fill_once() == 4
    assert sorted(store.vectors) == [1, 2, 4]
    assert list(store.failed) == [3]
    assert "poison" not in store.failed[3], "all roles that see the corpus see why its model does not change"


async def test_an_endpoint_is_paid_once_for_the_other_passages() -> None:
    class Refusing(FakeEmbedder):
        async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
            vectors = await super().encode(texts, are_passages=are_passages)
            poison = texts.index("poison")
            others = {place: vector for place, vector in enumerate(vectors) if place != poison}
            raise TextsFailed({poison: EmbeddingError("it was refused", detail="", hint="")}, others)

    class Busy(FakeSpaceStore):
        async def fail_passage(self, *_: object) -> None:
            assert sorted(self.vectors) == [1, 2, 4], "they are stored first"
            raise DatabaseBusy("not now", sqlstate="55P03")

    with pytest.raises(DatabaseBusy):
        await reembedding(Busy([*CONTENTS[:2], "poison", CONTENTS[2]]), Refusing()).fill_once()
    store, embedder = FakeSpaceStore([*CONTENTS[:2], "poison", CONTENTS[2]]), Refusing()
    await reembedding(store, embedder).fill_once()
    assert len(embedder.calls) == 1
    assert list(store.failed) == [3]
    expected = await FakeEmbedder().encode(CONTENTS)
    assert all(np.array_equal(store.vectors[passage], expected[row]) for row, passage in enumerate([1, 2, 4]))


async def test_a_vector_that_cannot_be_stored_is_noted_alone() -> None:
    store = FakeSpaceStore(CONTENTS, refuses=[2])
    assert await reembedding(store, FakeEmbedder()).fill_once() == 3
    assert sorted(store.vectors) == [1, 3]
    assert "cannot be stored" in store.failed[2]


@pytest.mark.parametrize("model", ["other", "narrow"])
async def test_a_model_that_is_not_there_or_not_the_same_is_left_to_others(model: str) -> None:
    store = FakeSpaceStore(CONTENTS, embedding_model="fake" if model == "narrow" else model, dimensions=256)
    pipeline = reembedding(store, FakeEmbedder(dimensions=128 if model == "narrow" else 256))
    assert await pipeline.fill_once() == 3
    assert len(store.pending) == 3
    assert store.failed == {}
    assert list(store.refused) == [1]
    assert await pipeline.fill_once() == 0, "it is not tried again at once"


async def test_when_the_server_is_gone_nothing_is_asked_of_it() -> None:
    class Gone(FakeSpaceStore):
        async def store_vectors(self, *_: object) -> None:
            raise ServerUnavailable("no connection", sqlstate="08006")

        async def release_passages(self) -> int:
            raise DatabaseError("asked")

    with pytest.raises(ServerUnavailable):
        await reembedding(Gone(CONTENTS), FakeEmbedder()).fill_once()


async def test_leased_passages_are_released_once_nothing_else_waits() -> None:
    class Skipping(FakeSpaceStore):
        async def store_vectors(self, *_: object) -> None:
            """Another session has locked the passages."""

    store = Skipping(CONTENTS)
    pipeline = reembedding(store, FakeEmbedder())
    assert await pipeline.fill_once() == 3
    assert len(store.leased) == 3
    assert await pipeline.fill_once() == 0
    assert store.leased == {}
    assert len(store.pending) == 3
