"""Of an edited document, only passages that are new are embedded."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from pgclarify.data.documents import Chunk
from pgclarify.data.vocabulary import Document
from pgclarify.ingest.chunking import Chunker
from pgclarify.protocols import Embedder
from tests.fakes import FakeDocumentStore, FakeEmbedder
from tests.unit.corpora.ingesting import SHORT, ingestion, vectors

PARAGRAPHS = [f"Paragraph {number} says something of its own about cars {number}." * 3 for number in range(12)]


async def edited(before: Document, *after: Document) -> tuple[FakeDocumentStore, list[list[str]]]:
    """Index a document, then others in one claim. Returns the store, and the calls of the model for the others."""
    store, embedder = FakeDocumentStore([before]), FakeEmbedder()
    pipeline = ingestion(store, embedder, chunkers=Paragraphs, batch_size=4)
    await pipeline.ingest_once()
    embedder.calls.clear()
    for document in after:
        store.add(document)
    await pipeline.ingest_once()
    assert store.failed == {}
    calls = [list(call) for call in embedder.calls]
    chunker = Paragraphs(embedder)
    for document in after:
        texts = [
            chunker.embedding_text(document.title, chunk.heading, chunk.content)
            for chunk in chunker.split(document.content)
        ]
        # After all retries, each passage has the vector of its own text.
        assert np.array_equal(vectors(store, document.document_id), await embedder.encode(texts))
    return store, calls


class Paragraphs(Chunker):
    """Cuts at empty lines."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder.tokenizer, embedder.max_tokens)

    def split_parts(self, content: str) -> Iterator[list[Chunk]]:
        yield [
            Chunk(number, None, found[0], found.start(), found.end())
            for number, found in enumerate(re.finditer(".+", content), start=1)
        ]


async def test_only_what_changed_in_a_document_is_embedded_again() -> None:
    changed = [*PARAGRAPHS[:5], "Another paragraph.", *PARAGRAPHS[6:]]
    store, calls = await edited(Document("long", "\n\n".join(PARAGRAPHS)), Document("long", "\n\n".join(changed)))
    assert calls == [["Another paragraph."]]
    assert store.stored == [["long"], ["long"]]


async def test_moving_text_around_embeds_nothing() -> None:
    moved = "\n\n\n".join(["", *PARAGRAPHS[3:], *PARAGRAPHS[:3]])
    _, calls = await edited(Document("long", "\n\n".join(PARAGRAPHS)), Document("long", moved))
    assert calls == []


async def test_batches_stay_full_when_edited_and_new_documents_come_together() -> None:
    changed = ["A new beginning.", *PARAGRAPHS[1:], "A new end."]
    fresh = Document("fresh", "\n\n".join(f"Fresh paragraph {number}." for number in range(7)))
    _, calls = await edited(Document("long", "\n\n".join(PARAGRAPHS)), Document("long", "\n\n".join(changed)), fresh)
    assert [len(call) for call in calls] == [4, 4, 1]
    assert calls[0][:2] == ["A new beginning.", "A new end."]


async def test_a_passage_that_cannot_be_embedded_leaves_the_document_as_it_was() -> None:
    store, embedder = FakeDocumentStore([Document("long", "\n\n".join(PARAGRAPHS))]), FakeEmbedder(fails_on="poison")
    pipeline = ingestion(store, embedder, chunkers=Paragraphs)
    await pipeline.ingest_once()
    before = store.indexed["long"]
    store.add(Document("long", "\n\n".join([*PARAGRAPHS, "poison"])))
    store.add(SHORT[0])
    await pipeline.ingest_once()
    assert list(store.failed) == ["long"]
    assert store.indexed["long"] is before
    assert store.stored == [["long"], ["policy"]]
