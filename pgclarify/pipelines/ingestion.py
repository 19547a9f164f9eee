"""Make pending documents searchable: cut them into chunks, embed those that are new, store both."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pgclarify.errors import (
    ConfigurationError,
    DatabaseBusy,
    DatabaseError,
    DimensionMismatch,
    EmbeddingError,
    ServerUnavailable,
)
from pgclarify.ingest.chunking import Chunker
from pgclarify.model import Chunk, IndexedDocument, PendingDocument, passage_hash
from pgclarify.pipelines.failures import describe
from pgclarify.pipelines.models import LOADING_SECONDS, Models
from pgclarify.protocols import DocumentStore, Embedder

_logger = logging.getLogger(__name__)

# Classes of SQLSTATE: data exceptions and program limits; and a value that a check refuses.
_ABOUT_DATA = ("22", "54", "23514")


def is_about_data(error: DatabaseError) -> bool:
    """Whether the database refused the values that it was given, now and whenever they are given again."""
    return (error.sqlstate or "").startswith(_ABOUT_DATA)


class Splitter(Protocol):
    """Cuts documents into chunks, in a thread; `pgclarify.ingest.chunking.Chunker` is the one in use."""

    def split(self, content: str) -> list[Chunk]:
        """Cut a document; chunks in order."""

    def embedding_text(self, title: str | None, heading: str | None, content: str) -> str:
        """Render what is embedded for a chunk."""


def chunker_of(embedder: Embedder) -> Splitter:
    """Make the chunker whose chunks fit into an embedding model.

    Raises:
        ConfigurationError: If the model reads too few tokens for that.
    """
    return Chunker(embedder.tokenizer, embedder.max_tokens)


class Ingestion:
    """Indexes pending documents, claim by claim.

    Memory is bounded by what one claim holds (its text and its vectors), however long a document is: chunks go through
    the model a batch at a time.

    Args:
        store: The tables of the corpora.
        embedders: Gives the embedding model of a name; raises ModelNotFound.
        splitters: Makes the splitter for a model; asked once a model.
        loading_seconds: How long other corpora wait for a model that is being loaded.
        max_documents: Most documents in one claim.
        max_chars: Most characters in one claim, unless a single document has more.
        batch_size: Chunks in one call of the model.
        retry_seconds: How long a claim that could not be stored is kept for another try.
    """

    def __init__(
        self,
        store: DocumentStore,
        embedders: Callable[[str], Awaitable[Embedder]],
        *,
        splitters: Callable[[Embedder], Splitter] = chunker_of,
        loading_seconds: float = LOADING_SECONDS,
        max_documents: int = 256,
        max_chars: int = 4_000_000,
        batch_size: int = 256,
        retry_seconds: float = 1.0,
    ) -> None:
        self._store = store
        self._models = Models(embedders, loading_seconds)
        self._make_splitter = splitters
        self._splitters: dict[str, Splitter] = {}
        self._may_hold_leases = False
        self._max_documents = max_documents
        self._max_chars = max_chars
        self._batch_size = batch_size
        self._retry_seconds = retry_seconds

    async def ingest_once(self) -> int:
        """Claim pending documents of one corpus and index them; the caller loops until there are none.

        Chunks of which a document has a passage are not embedded again. A document that cannot be cut, embedded or
        stored is marked as failed, with the reason; the others go on. What waits for a model that this process has not,
        or not yet, is given back, and so is all if the store fails, or is busy twice.

        Returns:
            How many documents were claimed, failed ones included; 0 if none is pending.

        Raises:
            DatabaseError: If the store fails, other than over one document.
        """
        pending = await self._store.claim_documents(
            max_documents=self._max_documents, max_chars=self._max_chars, skipped_models=self._models.missing()
        )
        if not pending:
            # What somebody was changing when it was to be stored is still leased.
            if self._may_hold_leases:
                self._may_hold_leases = await self._store.release_documents() > 0
            return 0
        self._may_hold_leases = True
        # All are of one corpus, and so for one model.
        model = pending[0].embedding_model
        embedder = await self._models.get(model)
        if embedder is None:
            await self._store.release_documents()
            return len(pending)
        try:
            splitter = self._splitter(embedder, pending[0])
        except (ConfigurationError, EmbeddingError) as error:
            self._models.leave(model, error)
            await self._store.release_documents()
            return len(pending)
        try:
            cut = await self._cut(pending, splitter)
            hashes = await self._hashes([document for document, _ in cut if document.was_indexed])
            await self._keep(await self._embed(cut, hashes, splitter, embedder))
        except ServerUnavailable:
            raise
        except DatabaseError:
            await self._store.release_documents()
            raise
        return len(pending)

    async def close(self) -> None:
        """Wait no longer for models that are being loaded."""
        await self._models.close()

    def _splitter(self, embedder: Embedder, document: PendingDocument) -> Splitter:
        if document.dimensions != embedder.dimensions:
            raise DimensionMismatch(
                "the embedding model has other dimensions than the corpus",
                detail=f"The model gives {embedder.dimensions}, the corpus holds {document.dimensions}.",
            )
        if embedder.model not in self._splitters:
            self._splitters[embedder.model] = self._make_splitter(embedder)
        return self._splitters[embedder.model]

    async def _cut(
        self, pending: Sequence[PendingDocument], splitter: Splitter
    ) -> list[tuple[PendingDocument, list[Chunk]]]:
        cut = []
        for document in pending:
            try:
                cut.append((document, await asyncio.to_thread(splitter.split, document.content)))
            except Exception as error:  # whatever it is: one document must not hold up the others
                await self._fail(document, error)
        return cut

    async def _hashes(self, documents: Sequence[PendingDocument]) -> Mapping[str, Sequence[bytes]]:
        return await self._store.passage_hashes(documents) if documents else {}

    async def _embed(
        self,
        cut: Sequence[tuple[PendingDocument, list[Chunk]]],
        hashes: Mapping[str, Sequence[bytes]],
        splitter: Splitter,
        embedder: Embedder,
    ) -> list[IndexedDocument]:
        """Embed chunks that are new, in batches that run across documents, so that short documents fill them too."""
        flat = [
            (index, chunk)
            for index, (document, chunks) in enumerate(cut)
            for chunk in _new_chunks(document.title, chunks, hashes.get(document.document_id, ()))
        ]
        vectors = np.empty((len(flat), embedder.dimensions), dtype=np.float32)
        failed: dict[int, EmbeddingError] = {}
        for start in range(0, len(flat), self._batch_size):
            batch = flat[start : start + self._batch_size]
            owners = [index for index, _ in batch]
            titled = [(cut[index][0].title, chunk) for index, chunk in batch]
            texts = await asyncio.to_thread(_render, splitter, titled)
            part = vectors[start : start + len(batch)]
            try:
                part[:] = await embedder.encode(texts)
            except EmbeddingError:
                # One document may be to blame: find out which, and keep the others.
                await _embed_apart(texts, owners, part, failed, embedder)
        for index, error in failed.items():
            await self._fail(cut[index][0], error)
        rows = {(index, chunk.ordinal): row for (index, chunk), row in zip(flat, vectors, strict=True)}
        return [
            IndexedDocument(document, chunks, [rows.get((index, chunk.ordinal)) for chunk in chunks])
            for index, (document, chunks) in enumerate(cut)
            if index not in failed
        ]

    async def _keep(self, indexed: Sequence[IndexedDocument]) -> None:
        if not indexed:
            return
        try:
            await self._store_patiently(indexed)
        except DatabaseError as error:
            if not is_about_data(error):
                raise
            if len(indexed) == 1:
                await self._fail(indexed[0].document, error)
                return
            # One document may be to blame, and would hold up the others at every claim.
            for document in indexed:
                await self._keep([document])

    async def _store_patiently(self, indexed: Sequence[IndexedDocument]) -> None:
        try:
            await self._store.store_documents(indexed)
        except DatabaseBusy:
            # Embedding it all again would take longer than what stands in the way.
            await asyncio.sleep(self._retry_seconds)
            await self._store.store_documents(indexed)

    async def _fail(self, document: PendingDocument, error: Exception) -> None:
        reason = describe(error)
        _logger.warning("document %r of corpus %d: %s", document.document_id, document.corpus_id, reason)
        await self._store.fail_document(document, reason)


def _new_chunks(title: str | None, chunks: Sequence[Chunk], hashes: Sequence[bytes]) -> list[Chunk]:
    """Leave out chunks that are there already: as many of a text, first ones first, as there are passages of it."""
    there = Counter(hashes)
    new = []
    for chunk in chunks:
        key = passage_hash(title, chunk.heading, chunk.content)
        if there[key] > 0:
            there[key] -= 1
        else:
            new.append(chunk)
    return new


def _render(splitter: Splitter, titled: Sequence[tuple[str | None, Chunk]]) -> list[str]:
    return [splitter.embedding_text(title, chunk.heading, chunk.content) for title, chunk in titled]


async def _embed_apart(
    texts: Sequence[str],
    owners: Sequence[int],
    vectors: NDArray[np.float32],
    failed: dict[int, EmbeddingError],
    embedder: Embedder,
) -> None:
    """Embed one batch document by document, and note those that fail.

    Args:
        texts: The batch.
        owners: The document of each text; ascending.
        vectors: Filled in place: float32, shape (len(texts), dimensions).
        failed: Filled in place; documents in it already are left out.
        embedder: The model.
    """
    for owner in sorted(set(owners) - failed.keys()):
        start = owners.index(owner)
        end = start + owners.count(owner)
        try:
            vectors[start:end] = await embedder.encode(texts[start:end])
        except EmbeddingError as error:
            failed[owner] = error
