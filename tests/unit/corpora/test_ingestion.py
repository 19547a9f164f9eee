"""Pending documents become searchable, and a bad document does not delay the others."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.corpora.embedding_models import public_reason
from pgclarify.corpora.ingestion import Ingestion
from pgclarify.corpora.long_documents import LongIngestion
from pgclarify.corpora.splitting import Splitter, chunker_of
from pgclarify.embedding.batching import OutOfMemory
from pgclarify.errors import (
    ConfigurationError,
    DatabaseBusy,
    DatabaseError,
    DimensionMismatch,
    EmbeddingUnavailable,
    ModelNotFound,
    PgclarifyError,
    ServerUnavailable,
)
from pgclarify.ingest.chunking import Chunker
from pgclarify.model import Chunk, IndexedDocument, LongDocument
from pgclarify.protocols import DocumentStore, Embedder, LongDocumentStore
from pgclarify.vocabulary import Document
from tests.fakes import FakeDocumentStore, FakeEmbedder, FakeStore, scripts
from tests.unit.operations.rental_cars import clarify_with

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
        retry_seconds=0.0,
    )


def vectors(store: FakeDocumentStore, document_id: str) -> NDArray[np.float32]:
    """The vectors of a document's passages, in order."""
    rows = [row for row in store.indexed[document_id].vectors if row is not None]
    assert len(rows) == len(store.indexed[document_id].chunks)
    return np.array(rows)


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
    # A batch may have passages of several documents, so all batches except the last are full.
    assert sizes[:-1] == [8] * (len(sizes) - 1)
    assert sum(sizes) == sum(len(one.chunks) for one in store.indexed.values())
    expected = await embedder.encode([chunk.content for chunk in indexed.chunks])
    assert np.array_equal(vectors(store, "long"), expected)


async def test_all_that_is_claimed_goes_to_an_endpoint_at_once() -> None:
    content = "\n\n".join(f"Paragraph {number} says something of its own about rental cars." for number in range(100))
    store = FakeDocumentStore([Document("long", content), *SHORT], embedding_model="endpoint:fake")
    embedder = FakeEmbedder(model="endpoint:fake")
    pipeline = ingestion(store, embedder, batch_size=8)
    assert [await pipeline.ingest_once() for _ in range(2)] == [4, 0]
    assert [len(call) for call in embedder.calls] == [sum(len(one.chunks) for one in store.indexed.values())]


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
    assert len(store.pending) == 1, "no more is held in memory"

    store.may_store.set()
    assert await third == 1
    assert await pipeline.ingest_once() == 0
    assert sorted(store.stored) == [["drivers"], ["offices"], ["policy"]]


async def test_what_is_under_way_ends_when_the_worker_does() -> None:
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


async def test_an_empty_document_is_indexed_without_a_passage() -> None:
    store, embedder = FakeDocumentStore([Document("empty", "  \n"), SHORT[0]]), FakeEmbedder()
    assert await ingestion(store, embedder).ingest_once() == 2
    assert store.indexed["empty"].chunks == []
    assert store.indexed["empty"].vectors == []
    assert len(store.indexed["policy"].chunks) == 1


async def test_a_document_that_cannot_be_embedded_fails_alone() -> None:
    content = "\n\n".join(f"Paragraph {number} of it, with several words to fill a passage." for number in range(20))
    documents = [SHORT[0], Document("bad", f"{content}\n\npoison\n\n{content}\n\npoison"), *SHORT[1:]]
    store = FakeDocumentStore(documents)
    embedder = FakeEmbedder(fails_on="poison")
    assert await ingestion(store, embedder, batch_size=4).ingest_once() == 4
    assert list(store.failed) == ["bad"]
    assert "poison" in store.failed["bad"]
    assert all(embedder.are_passages)
    # The first bad passage is embedded in its batch, and then alone. The second one is only embedded in its batch.
    assert sum(any("poison" in text for text in call) for call in embedder.calls) == 3
    assert store.stored == [["policy", "drivers", "offices"]]
    for document_id in store.indexed:
        assert np.allclose(np.linalg.norm(vectors(store, document_id), axis=1), 1)


async def test_a_document_that_cannot_be_cut_fails_alone() -> None:
    class PickySplitter:
        def __init__(self, embedder: Embedder) -> None:
            self._chunker = chunker_of(embedder)

        def split_part(self, content: str, start: int = 0, *, ordinal: int = 1) -> tuple[list[Chunk], int | None]:
            if "driver" in content:
                raise ValueError("no driver\n  here")
            return self._chunker.split_part(content, start, ordinal=ordinal)

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
    # The documents are released, and not claimed again for a while.
    assert [await pipeline.ingest_once() for _ in range(3)] == [3, 0, 0]
    assert store.failed == {}
    assert store.stored == []
    assert list(store.delayed) == [1], "what they wait for is kept"
    assert [document.document_id for document in store.pending] == ["policy", "drivers", "offices"]


async def test_documents_wait_for_a_model_whose_endpoint_does_not_answer() -> None:
    store, embedder = FakeDocumentStore(SHORT), FakeEmbedder(fails_on="poison")
    pipeline = ingestion(store, embedder)
    embedder.is_away = True
    # The documents are released, and not claimed again for a while.
    assert [await pipeline.ingest_once() for _ in range(3)] == [3, 0, 0]
    assert store.failed == {}
    assert list(store.delayed) == [1]
    assert len(embedder.calls) == 1
    assert [document.document_id for document in store.pending] == ["policy", "drivers", "offices"]

    embedder.is_away = False
    assert await ingestion(store, embedder).ingest_once() == 3
    assert store.stored == [["policy", "drivers", "offices"]]


FOREIGN = "/etc/key says: a passage that is not for all"


@pytest.mark.parametrize(
    "error",
    [
        ConfigurationError("no key file", detail=FOREIGN, hint="Write the key there."),
        DimensionMismatch("too many dimensions", detail=FOREIGN, hint="Ask for fewer."),
        EmbeddingUnavailable("it failed", detail=FOREIGN, hint="Start it."),
        OutOfMemory(FOREIGN),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("is_long", [False, True])
async def test_what_documents_wait_for_is_kept_without_foreign_words(
    error: PgclarifyError, is_long: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def embedder_of(model: str) -> Embedder:
        raise error

    class LongStore(FakeDocumentStore):
        async def release_document(self) -> int:
            return await self.release_documents()

    store = LongStore(SHORT)
    if is_long:
        claimed = LongDocument(store.pending[0], None, 0, 0)
        await LongIngestion(cast(LongDocumentStore, store), embedder_of).embed_part(claimed)
    else:
        await Ingestion(store, embedder_of).ingest_once()
    assert store.delayed == {1: f"{error.message}: {error.hint}"}
    assert FOREIGN in caplog.text


def test_the_reason_does_not_tell_what_is_at_a_path() -> None:
    reasons = {
        public_reason("/etc", ModelNotFound("no model there", detail=FOREIGN)),
        public_reason("/etc", ModelNotFound("not a model", hint="Install its library.")),
    }
    assert len(reasons) == 1


async def test_documents_wait_for_a_gpu_that_is_full() -> None:
    class Full(FakeEmbedder):
        async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
            raise OutOfMemory("It had no room for a batch of 1.")

    store = FakeDocumentStore(SHORT)
    await ingestion(store, Full()).ingest_once()
    assert store.failed == {}
    assert "PGCLARIFY_DEVICE=cpu" in store.delayed[1]


async def test_a_model_that_was_asked_in_vain_is_told_without_foreign_words() -> None:
    class Refusing(FakeEmbedder):
        async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
            raise EmbeddingUnavailable("it failed", detail=FOREIGN, hint="Start it.")

    store = FakeDocumentStore(SHORT)
    await ingestion(store, Refusing()).ingest_once()
    assert store.delayed == {1: "it failed: Start it."}


class _GoesAfterOne(FakeEmbedder):
    """An embedder that becomes unavailable after it has failed on a text."""

    def __init__(self) -> None:
        super().__init__(fails_on="poison")

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        try:
            return await super().encode(texts, are_passages=are_passages)
        finally:
            self.is_away = True


async def test_no_document_is_blamed_if_the_endpoint_goes_while_one_is_looked_for() -> None:
    store = FakeDocumentStore([SHORT[0], Document("bad", "poison"), SHORT[1]])
    assert await ingestion(store, _GoesAfterOne()).ingest_once() == 3
    assert store.failed == {}
    assert store.stored == []
    assert len(store.pending) == 3
    assert list(store.delayed) == [1]


async def test_an_endpoint_that_does_not_answer_at_first_is_told_once_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pgclarify.corpora.embedding_models._MODEL_RETRY_SECONDS", 0.0)
    asked = asyncio.Event()

    async def embedder_of(model: str) -> Embedder:
        await asked.wait()
        raise EmbeddingUnavailable("the embedding endpoint cannot be reached")

    store = FakeDocumentStore(SHORT)
    pipeline = Ingestion(store, embedder_of, loading_seconds=0.0)
    assert await pipeline.ingest_once() == 3
    assert store.delayed == {}, "it is not known yet"
    asked.set()
    while not store.delayed:
        await pipeline.ingest_once()
    assert store.failed == {}
    await pipeline.close()


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


@pytest.mark.parametrize("times", [1, 2])
async def test_what_is_embedded_is_kept_while_the_store_is_busy(times: int) -> None:
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


async def test_what_could_not_be_stored_for_now_is_given_back() -> None:
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


PARAGRAPHS = [f"Paragraph {number} says something of its own about cars {number}." * 3 for number in range(12)]


async def edited(before: Document, *after: Document) -> tuple[FakeDocumentStore, list[list[str]]]:
    """Index a document, then others in one claim. Returns the store, and the calls of the model for the others."""
    store, embedder = FakeDocumentStore([before]), FakeEmbedder()
    pipeline = ingestion(store, embedder, splitters=Paragraphs, batch_size=4)
    await pipeline.ingest_once()
    embedder.calls.clear()
    for document in after:
        store.add(document)
    await pipeline.ingest_once()
    assert store.failed == {}
    calls = [list(call) for call in embedder.calls]
    splitter = Paragraphs(embedder)
    for document in after:
        texts = [
            splitter.embedding_text(document.title, chunk.heading, chunk.content)
            for chunk in splitter.split_part(document.content)[0]
        ]
        # After all retries, each passage has the vector of its own text.
        assert np.array_equal(vectors(store, document.document_id), await embedder.encode(texts))
    return store, calls


class Paragraphs:
    """Cuts at empty lines."""

    def __init__(self, embedder: Embedder) -> None:
        self._chunker = chunker_of(embedder)

    def split_part(self, content: str, start: int = 0, *, ordinal: int = 1) -> tuple[list[Chunk], int | None]:
        chunks = [
            Chunk(number, None, found[0], start + found.start(), start + found.end())
            for number, found in enumerate(re.finditer(".+", content[start:]), start=ordinal)
        ]
        return chunks, None

    def embedding_text(self, title: str | None, heading: str | None, content: str) -> str:
        return self._chunker.embedding_text(title, heading, content)


async def test_only_what_changed_in_a_document_is_embedded_again() -> None:
    changed = [*PARAGRAPHS[:5], "Another paragraph.", *PARAGRAPHS[6:]]
    store, calls = await edited(Document("long", "\n\n".join(PARAGRAPHS)), Document("long", "\n\n".join(changed)))
    assert calls == [["Another paragraph."]]
    assert store.stored == [["long"], ["long"]]


async def test_moving_text_around_embeds_nothing() -> None:
    moved = "\n\n\n".join(["", *PARAGRAPHS[3:], *PARAGRAPHS[:3]])
    _, calls = await edited(Document("long", "\n\n".join(PARAGRAPHS)), Document("long", moved))
    assert calls == []


async def test_a_text_that_stands_more_often_than_before_is_embedded_as_often_as_it_is_new() -> None:
    twice, four_times = [PARAGRAPHS[0]] * 2, [PARAGRAPHS[0], PARAGRAPHS[1], *[PARAGRAPHS[0]] * 3]
    _, calls = await edited(Document("long", "\n\n".join(twice)), Document("long", "\n\n".join(four_times)))
    assert calls == [[PARAGRAPHS[1], PARAGRAPHS[0], PARAGRAPHS[0]]]


async def test_a_new_title_is_embedded_with_every_passage() -> None:
    content = "\n\n".join(PARAGRAPHS[:3])
    _, calls = await edited(Document("long", content), Document("long", content, title="Cars"))
    assert calls == [[f"Cars\n{paragraph}" for paragraph in PARAGRAPHS[:3]]]


async def test_batches_stay_full_when_edited_and_new_documents_come_together() -> None:
    changed = ["A new beginning.", *PARAGRAPHS[1:], "A new end."]
    fresh = Document("fresh", "\n\n".join(f"Fresh paragraph {number}." for number in range(7)))
    store, calls = await edited(
        Document("long", "\n\n".join(PARAGRAPHS)), Document("long", "\n\n".join(changed)), fresh
    )
    assert [len(call) for call in calls] == [4, 4, 1]
    assert calls[0][:2] == ["A new beginning.", "A new end."]
    # Hashes are asked for changed documents only, because a new document has no passages.
    assert store.asked == [["long"]]


async def test_a_passage_that_cannot_be_embedded_leaves_the_document_as_it_was() -> None:
    store, embedder = FakeDocumentStore([Document("long", "\n\n".join(PARAGRAPHS))]), FakeEmbedder(fails_on="poison")
    pipeline = ingestion(store, embedder, splitters=Paragraphs)
    await pipeline.ingest_once()
    before = store.indexed["long"]
    store.add(Document("long", "\n\n".join([*PARAGRAPHS, "poison"])))
    store.add(SHORT[0])
    await pipeline.ingest_once()
    assert list(store.failed) == ["long"]
    assert store.indexed["long"] is before
    assert store.stored == [["long"], ["policy"]]


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
    await clarify_with(store, run, scripts.verifier(), embedder)
    assert [candidate.passage.document_id for candidate in store.runs[run.run_id].candidates] == [
        "policy",
        "drivers",
        "offices",
    ]
    assert store.runs[run.run_id].candidates[0].passage.title == "Basic policy"
