"""Makes pending documents searchable: cuts them into chunks, embeds new chunks, stores both."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pgclarify import tracing
from pgclarify.corpora.embedding_models import CorpusModels, public_reason
from pgclarify.corpora.splitting import CLAIM_CHUNKS, is_behind_endpoint, new_chunks, render
from pgclarify.data.documents import Chunk, IndexedDocument, PendingDocument
from pgclarify.database.documents import Documents
from pgclarify.errors import (
    DatabaseBusy,
    DatabaseError,
    EmbeddingError,
    EmbeddingUnavailable,
    PgclarifyError,
    ServerUnavailable,
    describe,
)
from pgclarify.ingest.chunking import Chunker
from pgclarify.protocols import Embedder, Payer, TextsFailed, paid_by

_logger = logging.getLogger(__name__)

# Claims of one Ingestion in memory: one is being embedded by an endpoint while another is cut or stored.
_MOST_CLAIMS = 2
# Pauses of half a minute for an endpoint that stops answering in the middle of a long document.
_MOST_PAUSES = 5


class Ingestion:
    """Indexes pending documents, claim by claim; successive claims are from different corpora.

    A claim indexes about 256 passages, or a single document that has more. Further documents are released. While a
    model's endpoint works on one claim, the previous one is stored, or the next one is cut.

    Args:
        store: The tables of the corpora.
        models: The embedding models, which all work on corpora shares.
        max_documents: Most documents in one claim.
        max_chars: Most characters in one claim, unless a single document has more.
        batch_size: Chunks in one call of a model on this machine. Between calls, documents that changed meanwhile are
            dropped.
        retry_seconds: How long to wait before a claim that could not be stored is tried again.
    """

    def __init__(
        self,
        store: Documents,
        models: CorpusModels,
        *,
        max_documents: int = 256,
        max_chars: int = 4_000_000,
        batch_size: int = 64,
        retry_seconds: float = 1.0,
    ) -> None:
        self._store = store
        self._models = models
        self._may_hold_leases = False
        self._max_documents = max_documents
        self._max_chars = max_chars
        self._batch_size = batch_size
        self._retry_seconds = retry_seconds
        self._under_way: set[asyncio.Task[None]] = set()

    async def ingest_once(self) -> int:
        """Claim pending documents of one corpus and index them; call it until it returns 0.

        If an endpoint embeds, the work may continue after this returns, unless it returns 0.

        A chunk is not embedded again if the document already has its passage. A document that cannot be cut, embedded
        or stored is marked as failed with the reason; the others continue. Documents are released if their model is
        missing, is still loading, or its endpoint does not answer; in the middle of a long document, the endpoint is
        tried again for some minutes first. All are released if the store fails, or is busy twice.

        Returns:
            How many documents were claimed, including failed ones; 0 if none is pending.

        Raises:
            DatabaseError: If the store fails for another reason than one document, now or for earlier work.
        """
        await self._wait_until_at_most(_MOST_CLAIMS - 1)
        pending = await self._store.claim_documents(
            max_documents=self._max_documents, max_chars=self._max_chars, skipped_models=self._models.missing()
        )
        if not pending:
            await self._wait_until_at_most(0)
            # Documents that another session was changing could not be released, and are still leased.
            if self._may_hold_leases:
                self._may_hold_leases = await self._store.release_documents() > 0
            return 0
        self._may_hold_leases = True
        # All are of one corpus, so they need one model.
        first = pending[0]
        try:
            ready = await self._models.get(first.embedding_model, first.dimensions, first.embedding_space_id)
        except PgclarifyError as error:
            await self._delay(first, error)
            ready = None
        if ready is None:
            await self._store.release_documents(pending)
            return len(pending)
        embedder, chunker = ready
        try:
            cut, left_over = await self._cut(pending, chunker)
            if left_over:
                await self._store.release_documents(left_over)
        except ServerUnavailable:
            raise
        except DatabaseError:
            await self._store.release_documents(pending)
            raise
        if not cut:
            return len(pending)
        indexing = self._index(cut, chunker, embedder)
        if is_behind_endpoint(embedder):
            # Meanwhile this process stores and cuts other claims.
            self._under_way.add(asyncio.create_task(indexing, name="indexing"))
        else:
            await indexing
        return len(pending)

    async def close(self) -> None:
        """Stop waiting for endpoints."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _wait_until_at_most(self, most: int) -> None:
        """Wait until at most this many claims are in work.

        Raises:
            DatabaseError: If the store failed for one of them.
        """
        while True:
            for task in [task for task in self._under_way if task.done()]:
                self._under_way.remove(task)
                task.result()
            if len(self._under_way) <= most:
                return
            await asyncio.wait(self._under_way, return_when=asyncio.FIRST_COMPLETED)

    async def _index(
        self, cut: Sequence[tuple[PendingDocument, list[Chunk]]], chunker: Chunker, embedder: Embedder
    ) -> None:
        """Embed and store documents of one claim; release them if the model's endpoint or the store fails.

        Raises:
            DatabaseError: If the store fails for another reason than one document.
        """
        documents = [document for document, _ in cut]
        first = documents[0]
        facts = {
            "pgclarify.corpus_id": first.corpus_id,
            "pgclarify.embedding_model": first.embedding_model,
            "pgclarify.documents": len(documents),
            "pgclarify.passages": sum(len(chunks) for _, chunks in cut),
        }
        try:
            with tracing.span("indexing", facts), paid_by(Payer(embedding_space_id=first.embedding_space_id)):
                # Also for new documents: if a node of a distributed corpus is down, this fails before anything is paid.
                hashes = await self._store.passage_hashes(documents)
                indexed = await self._embed(cut, hashes, chunker, embedder)
                await self._keep(indexed)
        except EmbeddingUnavailable as error:
            self._models.leave(first.embedding_model, error)
            await self._delay(first, error)
            await self._store.release_documents(documents)
        except ServerUnavailable:
            raise
        except DatabaseError:
            await self._store.release_documents(documents)
            raise

    async def _cut(
        self, pending: Sequence[PendingDocument], chunker: Chunker
    ) -> tuple[list[tuple[PendingDocument, list[Chunk]]], Sequence[PendingDocument]]:
        """Cut as many documents as one claim may index; set failed ones aside. Return the others."""
        cut: list[tuple[PendingDocument, list[Chunk]]] = []
        size = 0
        for place, document in enumerate(pending):
            if size >= CLAIM_CHUNKS:
                return cut, pending[place:]
            try:
                chunks = await _split(chunker, document.content)
            except Exception as error:  # any: one document must not stop the others
                await self._fail(document, error)
                continue
            if cut and size + len(chunks) > CLAIM_CHUNKS:
                return cut, pending[place:]
            cut.append((document, chunks))
            size += len(chunks)
        return cut, ()

    async def _embed(
        self,
        cut: Sequence[tuple[PendingDocument, list[Chunk]]],
        hashes: Mapping[str, Sequence[bytes]],
        chunker: Chunker,
        embedder: Embedder,
    ) -> list[IndexedDocument]:
        """Embed new chunks. Batches contain chunks of several documents, so that short documents fill them too."""
        flat = [
            (index, chunk)
            for index, (document, chunks) in enumerate(cut)
            for chunk in new_chunks(document.title, chunks, hashes.get(document.document_id, ()))
        ]
        rows: dict[tuple[int, int], NDArray[np.float32]] = {}
        failed: dict[int, EmbeddingError] = {}
        left = set(range(len(cut)))
        # Behind an endpoint a whole claim, so that its requests run concurrently.
        size = CLAIM_CHUNKS if is_behind_endpoint(embedder) else self._batch_size
        pauses = 0
        while flat:
            batch = flat[:size]
            titled = [(cut[index][0].title, chunk) for index, chunk in batch]
            texts = await asyncio.to_thread(render, chunker, titled)
            try:
                part = await self._embed_batch(texts, [index for index, _ in batch], failed, embedder)
            except EmbeddingUnavailable as error:
                # Without a long document, there is little to lose.
                if len(rows) < CLAIM_CHUNKS or pauses == _MOST_PAUSES:
                    raise
                pauses += 1
                await self._models.pause(cut[0][0].embedding_model, error)
            else:
                pauses = 0
                rows.update(((index, chunk.ordinal), row) for (index, chunk), row in zip(batch, part, strict=True))
                flat = flat[size:]
            if flat:
                # Stop working on documents that failed, were removed or changed meanwhile, or whose corpus was dropped.
                leased = await self._store.leased_documents([cut[index][0] for index in sorted(left - failed.keys())])
                left = {index for index in left if cut[index][0].document_id in leased}
                flat = [(index, chunk) for index, chunk in flat if index in left]
        for index, reason in failed.items():
            await self._fail(cut[index][0], reason)
        return [
            IndexedDocument(document, chunks, [rows.get((index, chunk.ordinal)) for chunk in chunks])
            for index, (document, chunks) in enumerate(cut)
            if index in left and index not in failed
        ]

    async def _embed_batch(
        self, texts: Sequence[str], owners: Sequence[int], failed: dict[int, EmbeddingError], embedder: Embedder
    ) -> NDArray[np.float32]:
        """Embed one batch, and note which documents fail.

        Args:
            texts: The batch.
            owners: The document of each text; ascending.
            failed: Filled in place.
            embedder: The model.

        Returns:
            float32, shape (len(texts), dimensions); rows of documents that fail are undefined.

        Raises:
            EmbeddingUnavailable: If its endpoint does not answer.
        """
        vectors = np.empty((len(texts), embedder.dimensions), dtype=np.float32)
        try:
            vectors[:] = await self._models.encode(embedder, texts)
        except EmbeddingUnavailable:
            raise
        except TextsFailed as refusal:
            failed.update((owners[place], reason) for place, reason in refusal.failed.items())
            for place, vector in refusal.vectors.items():
                vectors[place] = vector
        except EmbeddingError:
            # One document may be the cause: embed each alone to find it, and keep the others.
            for owner in sorted(set(owners)):
                start = owners.index(owner)
                end = start + owners.count(owner)
                try:
                    vectors[start:end] = await self._models.encode(embedder, texts[start:end])
                except EmbeddingUnavailable:
                    raise
                except EmbeddingError as error:
                    failed[owner] = error
        return vectors

    async def _keep(self, indexed: Sequence[IndexedDocument]) -> None:
        if not indexed:
            return
        try:
            await self._store_patiently(indexed)
        except DatabaseError as error:
            if not error.is_about_data:
                raise
            if len(indexed) == 1:
                await self._fail(indexed[0].document, error)
                return
            # One document may be the cause, and would stop the others at every claim.
            for document in indexed:
                await self._keep([document])

    async def _store_patiently(self, indexed: Sequence[IndexedDocument]) -> None:
        try:
            await self._store.store_documents(indexed)
        except DatabaseBusy:
            # Waiting is cheaper than embedding everything again.
            await asyncio.sleep(self._retry_seconds)
            await self._store.store_documents(indexed)

    async def _delay(self, document: PendingDocument, error: PgclarifyError) -> None:
        reason = public_reason(document.embedding_model, error)
        await self._store.note_space_error(document.embedding_space_id, reason)

    async def _fail(self, document: PendingDocument, error: Exception) -> None:
        reason = describe(error)
        _logger.warning("document %r of corpus %d: %s", document.document_id, document.corpus_id, reason)
        await self._store.fail_document(document, reason)


async def _split(chunker: Chunker, content: str) -> list[Chunk]:
    """Cut a document in a thread, part by part, so that a worker that stops does not wait for a whole book."""
    parts, chunks = chunker.split_parts(content), list[Chunk]()
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        chunks += part
    return chunks
