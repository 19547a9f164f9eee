"""Pending documents become searchable, and a bad document does not delay the others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.data.documents import Chunk, IndexedDocument, PendingDocument
from pgclarify.data.vocabulary import Document
from pgclarify.errors import DatabaseBusy, DatabaseError, EmbeddingError, ServerUnavailable
from pgclarify.ingest.chunking import Chunker
from pgclarify.protocols import Embedder, TextsFailed
from tests.fakes import FakeDocumentStore, FakeEmbedder
from tests.unit.corpora.ingesting import SHORT, ingestion, vectors


async def test_documents_are_cut_embedded_and_stored_once() -> None:
    store, embedder = FakeDocumentStore(SHORT), FakeEmbedder()
    assert await ingestion(store, embedder).ingest_once() == 3

    assert store.stored == [["policy", "drivers", "offices"]]
    assert store.failed == {}
    policy = store.indexed["policy"]
    assert [chunk.content for chunk in policy.chunks] == [SHORT[0].content]
    # A vector is of title and content in one text. One call of the model embeds all documents.
    assert len(embedder.calls) == 1
    text = Chunker(embedder.tokenizer, embedder.max_tokens).embedding_text("Basic policy", None, SHORT[0].content)
    assert embedder.calls[0][0] == text
    assert "Basic policy" in text
    for row, document_id in enumerate(("policy", "drivers", "offices")):
        expected = await embedder.encode(embedder.calls[0][row : row + 1])
        assert np.array_equal(vectors(store, document_id), expected)


async def test_a_long_document_goes_through_the_model_in_batches() -> None:
    content = "\n\n".join(f"Paragraph {number} says something of its own about rental cars." for number in range(100))
    store, embedder = FakeDocumentStore([Document("long", content), *SHORT]), FakeEmbedder()
    assert await ingestion(store, embedder, batch_size=8).ingest_once() == 4

    indexed = store.indexed["long"]
    assert len(indexed.chunks) > 16
    assert [chunk.content for chunk in indexed.chunks] == [
        content[chunk.start_char : chunk.end_char] for chunk in indexed.chunks
    ]
    sizes = [len(call) for call in embedder.calls]
    assert max(sizes) == 8
    # A batch may have passages of several documents, so all batches except the last are full.
    assert sizes[:-1] == [8] * (len(sizes) - 1)
    assert sum(sizes) == sum(len(one.chunks) for one in store.indexed.values())
    expected = await embedder.encode([chunk.content for chunk in indexed.chunks])
    assert np.array_equal(vectors(store, "long"), expected)


class _SlowStore(FakeDocumentStore):
    """A store that waits for permission before it stores."""

    def __init__(self) -> None:
        super().__init__(SHORT, embedding_model="endpoint:fake")
        self.may_store = asyncio.Event()
        self.asked_to = asyncio.Semaphore(0)

    async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
        self.asked_to.release()
        await self.may_store.wait()
        await super().store_documents(documents)


async def test_an_endpoint_embeds_while_what_it_has_embedded_is_stored() -> None:
    store = _SlowStore()
    pipeline = ingestion(store, FakeEmbedder(model="endpoint:fake"), max_documents=1)
    assert [await pipeline.ingest_once() for _ in range(2)] == [1, 1]
    for _ in range(2):
        await store.asked_to.acquire()
    third = asyncio.create_task(pipeline.ingest_once())
    for _ in range(100):
        await asyncio.sleep(0)
    assert store.stored == []
    assert len(store.pending) == 1, "no more documents are in memory"

    store.may_store.set()
    assert await third == 1
    assert await pipeline.ingest_once() == 0
    assert sorted(store.stored) == [["drivers"], ["offices"], ["policy"]]


async def test_closing_the_pipeline_ends_the_store_in_progress() -> None:
    store = _SlowStore()
    pipeline = ingestion(store, FakeEmbedder(model="endpoint:fake"))
    assert await pipeline.ingest_once() == 3
    await store.asked_to.acquire()
    await pipeline.close()
    store.may_store.set()
    for _ in range(100):
        await asyncio.sleep(0)
    assert store.stored == []


async def test_a_failure_under_way_is_raised_and_gives_only_its_own_documents_back() -> None:
    store = FakeDocumentStore(SHORT, embedding_model="endpoint:fake", refuses=["policy"], refusal="53100")
    pipeline = ingestion(store, FakeEmbedder(model="endpoint:fake"), max_documents=2)
    claimed = 0
    with pytest.raises(DatabaseError):
        while True:
            claimed += await pipeline.ingest_once()
    assert claimed == 3
    assert [document.document_id for document in store.pending] == ["policy", "drivers"]
    assert "offices" in {*store.leased, *store.indexed}
    assert store.failed == {}
    await pipeline.close()


async def test_a_document_that_cannot_be_embedded_fails_alone() -> None:
    content = "\n\n".join(f"Paragraph {number} of it, with several words to fill a passage." for number in range(20))
    documents = [SHORT[0], Document("bad", f"{content}\n\npoison\n\n{content}\n\npoison"), *SHORT[1:]]
    store = FakeDocumentStore(documents)
    embedder = FakeEmbedder(fails_on="poison")
    assert await ingestion(store, embedder, batch_size=4).ingest_once() == 4
    assert list(store.failed) == ["bad"]
    assert "poison" in store.failed["bad"]
    assert all(embedder.are_passages)
    # The first bad passage is embedded in its batch, and then alone. After that, nothing of its document is embedded.
    assert sum(any("poison" in text for text in call) for call in embedder.calls) == 2
    assert store.stored == [["policy", "drivers", "offices"]]
    for document_id in store.indexed:
        assert np.allclose(np.linalg.norm(vectors(store, document_id), axis=1), 1)


async def test_a_long_document_is_not_embedded_to_its_end_once_a_text_of_it_failed() -> None:
    content = "\n\n".join(f"Paragraph {number} says something of its own about rental cars." for number in range(200))
    store, embedder = FakeDocumentStore([Document("long", f"poison\n\n{content}")]), FakeEmbedder(fails_on="poison")
    assert await ingestion(store, embedder, batch_size=8).ingest_once() == 1
    assert list(store.failed) == ["long"]
    assert [len(call) for call in embedder.calls] == [8, 8]


async def test_vectors_beside_a_text_that_fails_are_not_asked_for_again() -> None:
    class Endpoint(FakeEmbedder):
        async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
            vectors = await super().encode(texts, are_passages=are_passages)
            failed = {place: EmbeddingError("it is refused") for place, text in enumerate(texts) if "poison" in text}
            if failed:
                raise TextsFailed(failed, {place: row for place, row in enumerate(vectors) if place not in failed})
            return vectors

    store = FakeDocumentStore([*SHORT, Document("bad", "Some poison.")])
    embedder = Endpoint()
    assert await ingestion(store, embedder).ingest_once() == 4
    assert store.failed == {"bad": "it is refused"}
    assert len(embedder.calls) == 1
    for document in SHORT:
        expected = await FakeEmbedder().encode(embedder.calls[0])
        (vector,) = vectors(store, document.document_id)
        assert any(np.allclose(vector, row) for row in expected)


async def test_a_document_that_cannot_be_cut_fails_alone() -> None:
    class PickyChunker(Chunker):
        def __init__(self, embedder: Embedder) -> None:
            super().__init__(embedder.tokenizer, embedder.max_tokens)

        def split_parts(self, content: str) -> Iterator[list[Chunk]]:
            if "driver" in content:
                raise ValueError("no driver\n  here")
            return super().split_parts(content)

    store = FakeDocumentStore(SHORT)
    assert await ingestion(store, FakeEmbedder(), chunkers=PickyChunker).ingest_once() == 3
    assert store.failed == {"drivers": "ValueError: no driver here"}
    assert store.stored == [["policy", "offices"]]


async def test_a_document_that_cannot_be_stored_fails_alone() -> None:
    store = FakeDocumentStore(SHORT, refuses=["drivers"])
    assert await ingestion(store, FakeEmbedder()).ingest_once() == 3
    assert list(store.failed) == ["drivers"]
    assert store.stored == [["policy"], ["offices"]]


async def test_no_document_is_blamed_for_a_server_that_is_gone() -> None:
    class GoneStore(FakeDocumentStore):
        async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
            raise ServerUnavailable("no connection")

    store = GoneStore(SHORT)
    with pytest.raises(DatabaseError):
        await ingestion(store, FakeEmbedder()).ingest_once()
    assert store.failed == {}


@pytest.mark.parametrize("sqlstate", ["40P01", "40001", "53100", "55P03", "42883", "XX000"])
async def test_no_document_is_blamed_for_an_error_that_passes(sqlstate: str) -> None:
    store = FakeDocumentStore(SHORT, refuses=["drivers"], refusal=sqlstate)
    with pytest.raises(DatabaseError):
        await ingestion(store, FakeEmbedder()).ingest_once()
    assert store.failed == {}
    assert [document.document_id for document in store.pending] == ["policy", "drivers", "offices"]


@pytest.mark.parametrize("times", [1, 2])
async def test_embeddings_are_kept_while_the_store_is_busy(times: int) -> None:
    class BusyStore(FakeDocumentStore):
        times_busy = times

        async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
            if self.times_busy:
                self.times_busy -= 1
                raise DatabaseBusy("canceling statement due to lock timeout", sqlstate="55P03")
            await super().store_documents(documents)

    store, embedder = BusyStore(SHORT), FakeEmbedder()
    pipeline = ingestion(store, embedder)
    if times == 2:
        with pytest.raises(DatabaseBusy):
            await pipeline.ingest_once()
        assert [document.document_id for document in store.pending] == ["policy", "drivers", "offices"]
    assert await pipeline.ingest_once() == 3
    assert store.stored == [["policy", "drivers", "offices"]]
    assert store.failed == {}
    assert len(embedder.calls) == times


async def test_nothing_is_embedded_while_passages_can_be_neither_read_nor_stored() -> None:
    """As those of a distributed corpus while a node is down. A paid model would be paid at every attempt."""

    class DownStore(FakeDocumentStore):
        async def passage_hashes(self, documents: Sequence[PendingDocument]) -> dict[str, list[bytes]]:
            raise DatabaseBusy("connection to the remote node failed", sqlstate="08006")

        async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
            raise DatabaseBusy("connection to the remote node failed", sqlstate="08006")

    store, embedder = DownStore(SHORT), FakeEmbedder()
    pipeline = ingestion(store, embedder)
    for _ in range(3):
        with pytest.raises(DatabaseBusy):
            await pipeline.ingest_once()
    assert embedder.calls == []
    assert len(store.pending) == len(SHORT)


async def test_documents_that_the_store_skips_are_released_and_tried_again() -> None:
    """A user changed the document, so the store skipped it. It is still leased, and tried again."""

    class HeldStore(FakeDocumentStore):
        held = True

        async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
            if not self.held:
                await super().store_documents(documents)

    store = HeldStore(SHORT)
    pipeline = ingestion(store, FakeEmbedder())
    assert [await pipeline.ingest_once() for _ in range(2)] == [3, 0]
    assert len(store.pending) == 3
    store.held = False
    assert await pipeline.ingest_once() == 3
    assert store.stored == [["policy", "drivers", "offices"]]


async def test_claims_are_bounded_and_the_caller_loops() -> None:
    store = FakeDocumentStore(SHORT)
    pipeline = ingestion(store, FakeEmbedder(), max_documents=2, max_chars=10_000)
    assert [await pipeline.ingest_once() for _ in range(3)] == [2, 1, 0]
    store = FakeDocumentStore(SHORT)
    pipeline = ingestion(store, FakeEmbedder(), max_chars=1)
    assert [await pipeline.ingest_once() for _ in range(4)] == [1, 1, 1, 0]
