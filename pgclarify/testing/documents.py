"""The tables of a corpus, in memory."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence

from pgclarify.errors import DatabaseError
from pgclarify.model import Document, IndexedDocument, PendingDocument


class FakeDocumentStore:
    """Documents of one corpus, pending until they are stored or failed.

    Args:
        documents: What is pending.
        embedding_model: The corpus's model.
        dimensions: Length of its vectors.
        refuses: Ids of documents that cannot be stored: whatever is stored with one of them is refused as a whole.
        refusal: SQLSTATE of that.

    Attributes:
        pending: Documents that nobody has claimed.
        indexed: By id, what was stored.
        failed: By id, why it could not be indexed.
        stored: Ids of each call of `store_documents` that succeeded.
        leased: What is claimed, and neither stored, failed nor given back.
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
        self.pending = [
            PendingDocument(
                corpus_id=1,
                document_id=document.document_id,
                title=document.title,
                content=document.content,
                content_hash=hashlib.sha256(document.content.encode()).digest(),
                embedding_model=embedding_model,
                dimensions=dimensions,
            )
            for document in documents
        ]
        self.indexed: dict[str, IndexedDocument] = {}
        self.failed: dict[str, str] = {}
        self.stored: list[list[str]] = []
        self.leased: dict[str, PendingDocument] = {}
        self._refuses = frozenset(refuses)
        self._refusal = refusal

    async def claim_documents(
        self, *, max_documents: int, max_chars: int, skipped_models: Sequence[str] = ()
    ) -> list[PendingDocument]:
        """Take pending documents off the list; at least one if there is any, however long."""
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

    async def release_documents(self) -> int:
        """Put what is leased back on the list."""
        await asyncio.sleep(0)
        self.pending[:0] = self.leased.values()
        self.leased.clear()
        return 0

    async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
        """Keep all of them, or none."""
        await asyncio.sleep(0)
        ids = [document.document.document_id for document in documents]
        if refused := self._refuses.intersection(ids):
            raise DatabaseError("a document cannot be stored", detail=f"It is {min(refused)}.", sqlstate=self._refusal)
        self.stored.append(ids)
        for document_id in ids:
            self.leased.pop(document_id, None)
        self.indexed.update(zip(ids, documents, strict=True))

    async def fail_document(self, document: PendingDocument, error: str) -> None:
        """Keep the reason."""
        await asyncio.sleep(0)
        self.failed[document.document_id] = error
        self.leased.pop(document.document_id, None)
