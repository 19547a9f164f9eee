"""Makes long documents searchable: each step embeds one part, and all parts are published together at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pgclarify.corpora.embedding_models import CorpusModels, public_reason
from pgclarify.corpora.splitting import expected_passages, new_chunks, render, texts_a_call
from pgclarify.data.documents import Chunk, IndexedDocument, LongDocument, PendingDocument
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
from pgclarify.protocols import Embedder, Payer, paid_by

_logger = logging.getLogger(__name__)

# For a model on this machine. Between calls, a document that changed meanwhile is dropped.
_CHUNKS_A_CALL = 64


class LongIngestion:
    """Indexes documents that Ingestion has set aside; successive steps are for different corpora.

    The embedded parts are stored, so that any worker can continue. Searches find the old content of a document until
    all parts of the new content replace it, in one transaction.

    Args:
        store: The tables of the corpora.
        models: The embedding models, which all work on corpora shares.
        retry_seconds: How long to wait before a part that could not be stored is tried again.
    """

    def __init__(
        self,
        store: Documents,
        models: CorpusModels,
        *,
        retry_seconds: float = 1.0,
    ) -> None:
        self._store = store
        self._models = models
        self._may_hold_lease = False
        self._retry_seconds = retry_seconds

    async def claim(self) -> LongDocument | None:
        """Claim the next long document; None if there is none."""
        claimed = await self._store.claim_long_document(skipped_models=self._models.missing())
        if claimed is not None:
            self._may_hold_lease = True
        elif self._may_hold_lease:
            # A document that another session was changing could not be released, and is still leased.
            self._may_hold_lease = await self._store.release_documents(are_long=True) > 0
        return claimed

    async def embed_part(self, claimed: LongDocument) -> None:
        """Cut, embed and stage the next part of a claimed document.

        A document is marked as failed, with the reason, if a part cannot be cut, embedded or stored. It is released if
        its model is missing, is still loading, or its endpoint does not answer, and also if the store fails.

        Raises:
            DatabaseError: If the store fails for another reason than this document.
        """
        try:
            ready = await self._models.get(claimed.document.embedding_model, claimed.document.dimensions)
        except PgclarifyError as error:
            await self._delay(claimed.document, error)
            ready = None
        if ready is None:
            await self._store.release_documents(are_long=True)
            return
        embedder, chunker = ready
        document = claimed.document
        try:
            chunks, next_start = await asyncio.to_thread(
                chunker.split_part, document.content, claimed.staged_chars, ordinal=claimed.staged_passages + 1
            )
        except Exception as error:  # any: otherwise the document would be claimed again without end
            await self._fail(claimed, error)
            return
        end = len(document.content) if next_start is None else next_start
        try:
            with paid_by(Payer(embedding_space_id=document.embedding_space_id)):
                vectors = await self._embed(claimed, chunks, chunker, embedder)
            if vectors is None:
                await self._store.release_documents(are_long=True)
                return
            staged = claimed.staged_passages + len(chunks)
            keep = partial(
                self._store.keep_part,
                IndexedDocument(document, chunks, vectors),
                claimed,
                end_char=end,
                passages_left=max(expected_passages(document, end, staged) - staged, 1),
            )
            try:
                is_kept = await keep()
            except DatabaseBusy:
                # Waiting is cheaper than embedding the part again.
                await asyncio.sleep(self._retry_seconds)
                is_kept = await keep()
            if not is_kept:
                await self._store.release_documents(are_long=True)
        except ServerUnavailable:
            raise
        except EmbeddingUnavailable as error:
            self._models.leave(document.embedding_model, error)
            await self._delay(document, error)
            await self._store.release_documents(are_long=True)
        except EmbeddingError as error:
            await self._fail(claimed, error)
        except DatabaseError as error:
            await self._failed_to_store(claimed, error)

    async def publish(self, claimed: LongDocument) -> bool:
        """Publish a claimed document whose parts are all staged.

        Returns:
            False if it must be tried again, because another session is changing the document.

        Raises:
            DatabaseError: If the store fails for another reason than this document.
        """
        try:
            is_published = await self._store.publish(claimed)
        except ServerUnavailable:
            raise
        except DatabaseError as error:
            await self._failed_to_store(claimed, error)
            return True
        if not is_published:
            await self._store.release_documents(are_long=True)
        return is_published

    async def _embed(
        self, claimed: LongDocument, chunks: Sequence[Chunk], chunker: Chunker, embedder: Embedder
    ) -> list[NDArray[np.float32] | None] | None:
        """Return the vectors of new chunks, None for the others; None as a whole if it was changed."""
        title = claimed.document.title
        # Also for a new document: if a node of a distributed corpus is down, this fails before anything is paid.
        hashes = await self._store.passage_hashes([claimed.document], claimed.batch_id)
        new = new_chunks(title, chunks, hashes.get(claimed.document.document_id, ()))
        rows: dict[int, NDArray[np.float32]] = {}
        size = texts_a_call(embedder, _CHUNKS_A_CALL)
        for start in range(0, len(new), size):
            if start and not await self._store.leased_documents([claimed.document]):
                return None
            batch = new[start : start + size]
            texts = await asyncio.to_thread(render, chunker, [(title, chunk) for chunk in batch])
            vectors = np.asarray(await embedder.encode(texts, are_passages=True), dtype=np.float32)
            rows.update((chunk.ordinal, row) for chunk, row in zip(batch, vectors, strict=True))
        return [rows.get(chunk.ordinal) for chunk in chunks]

    async def _delay(self, document: PendingDocument, error: PgclarifyError) -> None:
        reason = public_reason(document.embedding_model, error)
        await self._store.note_space_error(document.embedding_space_id, reason)

    async def _failed_to_store(self, claimed: LongDocument, error: DatabaseError) -> None:
        if error.is_about_data:
            await self._fail(claimed, error)
            return
        await self._store.release_documents(are_long=True)
        raise error

    async def _fail(self, claimed: LongDocument, error: Exception) -> None:
        reason = describe(error)
        _logger.warning(
            "document %r of corpus %d: %s", claimed.document.document_id, claimed.document.corpus_id, reason
        )
        await self._store.fail_document(claimed.document, reason)
