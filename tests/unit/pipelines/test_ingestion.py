"""Pending documents become searchable, and a bad one holds up nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pgclarify.errors import DatabaseError, ModelNotFound, ServerUnavailable
from pgclarify.ingest.chunking import Chunker
from pgclarify.model import Chunk, Document, IndexedDocument
from pgclarify.pipelines.clarification import clarify
from pgclarify.pipelines.ingestion import Ingestion, Splitter, chunker_of
from pgclarify.protocols import DocumentStore, Embedder
from pgclarify.testing import FakeDocumentStore, FakeEmbedder, FakeStore, FakeVerifier

SHORT = [
    Document("policy", "Rental cars are covered up to 30 dollars a day.", title="Basic policy"),
    Document("drivers", "Every driver must hold a license for two years."),
    Document("offices", "Rental offices are often near an airport."),
]


def ingestion(
    store: DocumentStore,
    embedder: FakeEmbedder,
    *,
    splitters: Callable[[Embedder], Splitter] = chunker_of,
    max_documents: int = 100,
    max_chars: int = 1_000_000,
    batch_size: int = 256,
) -> Ingestion:
    async def embedder_of(model: str) -> Embedder:
        if model != embedder.model:
            raise ModelNotFound("no such model", detail=f"It is {model!r}.")
        return embedder

    return Ingestion(
        store,
        embedder_of,
        splitters=splitters,
        max_documents=max_documents,
        max_chars=max_chars,
        batch_size=batch_size,
    )


async def test_documents_are_cut_embedded_and_stored_once() -> None:
    store, embedder = FakeDocumentStore(SHORT), FakeEmbedder()
    assert await ingestion(store, embedder).ingest_once() == 3

    assert store.stored == [["policy", "drivers", "offices"]]
    assert store.failed == {}
    policy = store.indexed["policy"]
    assert [chunk.content for chunk in policy.chunks] == [SHORT[0].content]
    # Title and content in one text; all documents in one call of the model.
    assert len(embedder.calls) == 1
    text = Chunker(embedder.tokenizer, embedder.max_tokens).embedding_text("Basic policy", None, SHORT[0].content)
    assert embedder.calls[0][0] == text
    assert "Basic policy" in text
    for row, document_id in enumerate(("policy", "drivers", "offices")):
        expected = await embedder.encode(embedder.calls[0][row : row + 1])
        assert np.array_equal(store.indexed[document_id].vectors, expected)


async def test_nothing_pending() -> None:
    assert await ingestion(FakeDocumentStore(), FakeEmbedder()).ingest_once() == 0


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
    # Batches run across documents: all but the last are full.
    assert sizes[:-1] == [8] * (len(sizes) - 1)
    assert sum(sizes) == sum(len(one.chunks) for one in store.indexed.values())
    expected = await embedder.encode([chunk.content for chunk in indexed.chunks])
    assert np.array_equal(indexed.vectors, expected)


async def test_an_empty_document_is_indexed_without_a_passage() -> None:
    store, embedder = FakeDocumentStore([Document("empty", "  \n"), SHORT[0]]), FakeEmbedder()
    assert await ingestion(store, embedder).ingest_once() == 2
    assert store.indexed["empty"].chunks == []
    assert store.indexed["empty"].vectors.shape == (0, embedder.dimensions)
    assert len(store.indexed["policy"].chunks) == 1


async def test_a_document_that_cannot_be_embedded_fails_alone() -> None:
    content = "\n\n".join(f"Paragraph {number} of it, with several words to fill a passage." for number in range(20))
    documents = [SHORT[0], Document("bad", f"{content}\n\npoison\n\n{content}\n\npoison"), *SHORT[1:]]
    store = FakeDocumentStore(documents)
    embedder = FakeEmbedder(fails_on="poison")
    assert await ingestion(store, embedder, batch_size=4).ingest_once() == 4
    assert list(store.failed) == ["bad"]
    assert "poison" in store.failed["bad"]
    # Its batch, then itself; the next batch with it does not ask about it again.
    assert sum(any("poison" in text for text in call) for call in embedder.calls) == 3
    assert store.stored == [["policy", "drivers", "offices"]]
    for indexed in store.indexed.values():
        assert np.allclose(np.linalg.norm(indexed.vectors, axis=1), 1)


async def test_a_document_that_cannot_be_cut_fails_alone() -> None:
    class PickySplitter:
        def __init__(self, embedder: Embedder) -> None:
            self._chunker = chunker_of(embedder)

        def split(self, content: str) -> list[Chunk]:
            if "driver" in content:
                raise ValueError("no driver\n  here")
            return self._chunker.split(content)

        def embedding_text(self, title: str | None, heading: str | None, content: str) -> str:
            return self._chunker.embedding_text(title, heading, content)

    store = FakeDocumentStore(SHORT)
    assert await ingestion(store, FakeEmbedder(), splitters=PickySplitter).ingest_once() == 3
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


@pytest.mark.parametrize(
    ("store", "embedder"),
    [
        (FakeDocumentStore(SHORT, embedding_model="other"), FakeEmbedder()),
        (FakeDocumentStore(SHORT, dimensions=8), FakeEmbedder()),
        (FakeDocumentStore(SHORT), FakeEmbedder(max_tokens=16)),
    ],
    ids=["no model", "other dimensions", "model too small"],
)
async def test_what_waits_for_a_model_that_this_worker_has_not_is_left_to_others(
    store: FakeDocumentStore, embedder: FakeEmbedder
) -> None:
    pipeline = ingestion(store, embedder)
    # Given back, and not asked for again for a while.
    assert [await pipeline.ingest_once() for _ in range(3)] == [3, 0, 0]
    assert store.failed == {}
    assert store.stored == []
    assert [document.document_id for document in store.pending] == ["policy", "drivers", "offices"]


async def test_nobody_waits_for_a_model_that_is_being_loaded() -> None:
    loaded = asyncio.Event()
    embedder = FakeEmbedder()

    async def embedder_of(model: str) -> Embedder:
        await loaded.wait()
        return embedder

    store = FakeDocumentStore(SHORT)
    pipeline = Ingestion(store, embedder_of, loading_seconds=0.0)
    assert [await pipeline.ingest_once() for _ in range(2)] == [3, 0]
    assert len(store.pending) == 3

    loaded.set()
    claimed = 0
    while not claimed:
        await asyncio.sleep(0)
        claimed = await pipeline.ingest_once()
    while not store.stored:
        await pipeline.ingest_once()
    assert store.stored == [["policy", "drivers", "offices"]]
    await pipeline.close()


@pytest.mark.parametrize("sqlstate", ["40P01", "40001", "53100", "55P03", "42883", "XX000"])
async def test_no_document_is_blamed_for_an_error_that_passes(sqlstate: str) -> None:
    store = FakeDocumentStore(SHORT, refuses=["drivers"], refusal=sqlstate)
    with pytest.raises(DatabaseError):
        await ingestion(store, FakeEmbedder()).ingest_once()
    assert store.failed == {}
    assert [document.document_id for document in store.pending] == ["policy", "drivers", "offices"]


async def test_what_could_not_be_stored_for_now_is_given_back() -> None:
    """Somebody was changing it, so that the store left it out: it is still leased, and tried again."""

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


async def test_what_was_ingested_is_found() -> None:
    store, embedder = FakeStore(documents=SHORT), FakeEmbedder()
    await ingestion(store, embedder).ingest_once()
    run = store.add_run("rental cars")
    await clarify(run, store, FakeVerifier(), embedder)
    assert [candidate.passage.document_id for candidate in store.runs[run.run_id].candidates] == [
        "policy",
        "drivers",
        "offices",
    ]
    assert store.runs[run.run_id].candidates[0].passage.title == "Basic policy"
