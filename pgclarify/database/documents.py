"""The document tables, for ingestion."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from pgvector import HalfVector
from psycopg import AsyncConnection

from pgclarify.data.documents import IndexedDocument, PendingDocument, passage_hash
from pgclarify.database.errors import translated
from pgclarify.database.pool import Pool, fetch, fetch_value
from pgclarify.database.queries import queries, statement

# Longer than one claim takes on a slow machine. Leases of a dead worker are taken over at once.
LEASE = timedelta(minutes=15)


class Documents:
    """The documents that one worker indexes: long ones, or the others."""

    def __init__(self, pool: Pool, worker_id: int, *, are_long: bool = False) -> None:
        self._pool = pool
        self._worker_id = worker_id
        self._are_long = are_long
        self._last_corpus_id = 0

    async def leased_documents(self, documents: Sequence[PendingDocument]) -> set[str]:
        """Return which claimed documents of one corpus are still leased here and unchanged, by document_id."""
        if not documents:
            return set()
        rows = await fetch(
            self._pool,
            "leased_documents",
            worker_id=self._worker_id,
            corpus_id=documents[0].corpus_id,
            document_ids=[document.document_id for document in documents],
            content_hashes=[document.content_hash for document in documents],
            lease=LEASE,
        )
        return {row["result"] for row in rows}

    async def fail_document(self, document: PendingDocument, error: str) -> None:
        """Mark a document as one that cannot be indexed, with the reason."""
        await fetch(
            self._pool,
            "fail_document",
            worker_id=self._worker_id,
            corpus_id=document.corpus_id,
            document_id=document.document_id,
            content_hash=document.content_hash,
            error=error,
        )

    async def note_space_error(self, embedding_space_id: int, error: str) -> None:
        """Store why the documents of a corpus wait for its embedding model, until one of them is stored."""
        await fetch(self._pool, "note_space_error", embedding_space_id=embedding_space_id, error=error)

    async def claim_documents(
        self, *, max_documents: int, max_chars: int, skipped_models: Sequence[str] = ()
    ) -> list[PendingDocument]:
        """Lease pending documents of one corpus: at least one if there is any, of any length.

        Successive calls go from corpus to corpus, so that no corpus waits for all documents of another one. Corpora of
        skipped_models are left to other workers.
        """
        rows = await fetch(
            self._pool,
            "claim_documents",
            worker_id=self._worker_id,
            max_documents=max_documents,
            max_chars=max_chars,
            lease=LEASE,
            skipped_models=list(skipped_models),
            after_corpus_id=self._last_corpus_id,
            are_long=self._are_long,
        )
        if rows:
            self._last_corpus_id = rows[0]["corpus_id"]
        return [PendingDocument(**row) for row in rows]

    async def release_documents(self, documents: Sequence[PendingDocument] | None = None) -> int:
        """Release the leases of this worker; return how many it must keep for now.

        Args:
            documents: Of one corpus, at least one; None for all. A document that changed since it was claimed is
                skipped, because another claim of this worker may have it.
        """
        kept = await fetch_value(
            self._pool,
            "release_documents",
            worker_id=self._worker_id,
            are_long=self._are_long,
            corpus_id=documents[0].corpus_id if documents else None,
            document_ids=[document.document_id for document in documents] if documents else None,
            content_hashes=[document.content_hash for document in documents] if documents else None,
        )
        return int(kept)

    async def passage_hashes(self, documents: Sequence[PendingDocument]) -> dict[str, list[bytes]]:
        """Return the texts for which claimed documents of one corpus have passages with vectors.

        Returns:
            By document_id, passage_hash of each of its passages, in any order; documents without passages are missing.
        """
        rows = await fetch(
            self._pool,
            "passage_hashes",
            corpus_id=documents[0].corpus_id,
            document_ids=[document.document_id for document in documents],
        )
        return {row["document_id"]: row["content_hashes"] for row in rows}

    async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
        """Write passages, vectors and term counts, and mark the documents searchable, in one transaction.

        Passages whose text is unchanged keep their id and vector. A document is skipped if it changed or vanished since
        it was claimed, if another session is changing it, or if it lost a passage whose vector was to stay. A single
        document is waited for.

        Raises:
            DatabaseBusy: If another session holds the corpus, or a single document for longer than lock_timeout.
        """
        batch_id = uuid4()
        first = documents[0].document
        parameters = {
            "worker_id": self._worker_id,
            "batch_id": batch_id,
            # All documents of the claim have the same corpus and space.
            "corpus_id": first.corpus_id,
            "embedding_space_id": first.embedding_space_id,
            "document_ids": [indexed.document.document_id for indexed in documents],
            "content_hashes": [indexed.document.content_hash for indexed in documents],
        }
        with translated():
            async with self._pool.connection() as connection, connection.transaction():
                await _copy_passages(connection, batch_id, documents)
                await connection.execute(statement("store_documents", parameters), parameters)


async def _copy_passages(
    connection: AsyncConnection[Any], batch_id: UUID, documents: Sequence[IndexedDocument]
) -> None:
    """Copy chunks and vectors to the staging table of store_documents, in the connection's transaction."""
    async with connection.cursor() as cursor, cursor.copy(queries["stage_passages"]) as copy:
        copy.set_types(["uuid", "text", "int4", "text", "text", "int4", "int4", "bytea", "halfvec"])
        for indexed in documents:
            for chunk, vector in zip(indexed.chunks, indexed.vectors, strict=True):
                await copy.write_row(
                    (
                        batch_id,
                        indexed.document.document_id,
                        chunk.ordinal,
                        chunk.heading,
                        chunk.content,
                        chunk.start_char,
                        chunk.end_char,
                        passage_hash(indexed.document.title, chunk.heading, chunk.content),
                        None if vector is None else HalfVector(vector),
                    )
                )
