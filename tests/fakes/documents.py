"""The tables of a corpus, in memory."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.documents import IndexedDocument, PendingDocument, passage_hash
from pgclarify.data.vocabulary import Document
from pgclarify.database.documents import Documents
from pgclarify.errors import DatabaseError


class FakeDocumentStore(Documents):
    """Documents of one corpus, pending until they are stored or failed.

    Args:
        documents: The pending documents.
        embedding_model: The corpus's model.
        dimensions: Length of its vectors.
        refuses: Ids of documents that cannot be stored. A batch with one of them is refused as a whole.
        refusal: SQLSTATE of the refusal.

    Attributes:
        pending: Documents that no worker has claimed.
        indexed: By id, the stored document, with the vectors that were kept.
        failed: By id, why a document could not be indexed.
        stored: Ids of each call of `store_documents` that succeeded.
        leased: Claimed documents that were neither stored, failed nor released.
        delayed: By id of a space, why documents wait for its model.
    """

    def __init__(
        self,
        documents: Sequence[Document] = (),
        *,
        embedding_model: str = "fake",
        dimensions: int = 256,
        refuses: Sequence[str] = (),
        refusal: str = "22023",
    ) -> None:
        self.pending: list[PendingDocument] = []
        self.indexed: dict[str, IndexedDocument] = {}
        self.failed: dict[str, str] = {}
        self.stored: list[list[str]] = []
        self.leased: dict[str, PendingDocument] = {}
        self.delayed: dict[int, str] = {}
        self._embedding_model = embedding_model
        self._dimensions = dimensions
        self._refuses = frozenset(refuses)
        self._refusal = refusal
        for document in documents:
            self.add(document)

    def add(self, document: Document) -> None:
        """Add a document, or replace its content. It is then pending."""
        self.pending.append(
            PendingDocument(
                corpus_id=1,
                document_id=document.document_id,
                title=document.title,
                content=document.content,
                content_hash=hashlib.sha256(document.content.encode()).digest(),
                embedding_space_id=1,
                embedding_model=self._embedding_model,
                dimensions=self._dimensions,
            )
        )

    async def claim_documents(
        self, *, max_documents: int, max_chars: int, skipped_models: Sequence[str] = ()
    ) -> list[PendingDocument]:
        """Claim pending documents: at least one if there is any, even if it is long."""
        await asyncio.sleep(0)
        claimed: list[PendingDocument] = []
        chars = 0
        while self.pending and len(claimed) < max_documents and self.pending[0].embedding_model not in skipped_models:
            chars += len(self.pending[0].content)
            if claimed and chars > max_chars:
                break
            claimed.append(self.pending.pop(0))
        self.leased.update((document.document_id, document) for document in claimed)
        return claimed

    async def leased_documents(self, documents: Sequence[PendingDocument]) -> set[str]:
        """Return which documents are claimed."""
        await asyncio.sleep(0)
        return {document.document_id for document in documents} & self.leased.keys()

    async def release_documents(self, documents: Sequence[PendingDocument] | None = None) -> int:
        """Make leased documents of the given version pending again."""
        await asyncio.sleep(0)
        given = list(self.leased.values()) if documents is None else documents
        back = [document for document in given if self.leased.get(document.document_id) == document]
        for document in back:
            del self.leased[document.document_id]
        self.pending[:0] = back
        return len(self.leased)

    async def passage_hashes(self, documents: Sequence[PendingDocument]) -> dict[str, list[bytes]]:
        """Return the hashes of the stored passages."""
        await asyncio.sleep(0)
        ids = [document.document_id for document in documents]
        return {
            document_id: [key for key, _ in _passages(self.indexed[document_id])]
            for document_id in ids
            if document_id in self.indexed
        }

    async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
        """Store all of them, or none. A passage without a new vector keeps its old one."""
        await asyncio.sleep(0)
        ids = [document.document.document_id for document in documents]
        if refused := self._refuses.intersection(ids):
            raise DatabaseError("a document cannot be stored", detail=f"It is {min(refused)}.", sqlstate=self._refusal)
        whole = [_completed(document, self.indexed.get(document.document.document_id)) for document in documents]
        self.stored.append(ids)
        for document_id, document in zip(ids, whole, strict=True):
            self.leased.pop(document_id, None)
            self.indexed[document_id] = document

    async def fail_document(self, document: PendingDocument, error: str) -> None:
        """Keep the reason."""
        await asyncio.sleep(0)
        self.failed[document.document_id] = error
        self.leased.pop(document.document_id, None)

    async def note_space_error(self, embedding_space_id: int, error: str) -> None:
        """Keep the reason."""
        await asyncio.sleep(0)
        self.delayed[embedding_space_id] = error


def _passages(indexed: IndexedDocument) -> Iterator[tuple[bytes, NDArray[np.float32] | None]]:
    for chunk, vector in zip(indexed.chunks, indexed.vectors, strict=True):
        yield passage_hash(indexed.document.title, chunk.heading, chunk.content), vector


def _completed(indexed: IndexedDocument, before: IndexedDocument | None) -> IndexedDocument:
    """Fill in the vectors of a document's unchanged passages.

    Raises:
        DatabaseError: If there is no such passage.
    """
    had = dict(_passages(before)) if before else {}
    vectors = [had.get(key) if vector is None else vector for key, vector in _passages(indexed)]
    if any(vector is None for vector in vectors):
        raise DatabaseError("a passage has no vector", detail=f"It is of {indexed.document.document_id}.")
    return replace(indexed, vectors=vectors)
