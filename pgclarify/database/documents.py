"""The document tables, for ingestion."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
from pgvector import HalfVector
from psycopg import AsyncConnection

from pgclarify.data.documents import IndexedDocument, LongDocument, PendingDocument, passage_hash
from pgclarify.database.errors import translated
from pgclarify.database.pool import Pool, fetch, fetch_value
from pgclarify.database.queries import queries, statement

# Longer than one claim takes on a slow machine. Leases of a dead worker are taken over at once.
LEASE = timedelta(minutes=15)


class Documents:
    """The documents that one worker indexes: each as a whole, or a long one part by part."""

    def __init__(self, pool: Pool, worker_id: int) -> None:
        self._pool = pool
        self._worker_id = worker_id
        self._last_corpus_id = self._last_corpus_id_of_long = 0

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

    async def _publish(
        self, connection: AsyncConnection[Any], batch_id: UUID | None, documents: Sequence[PendingDocument]
    ) -> bool:
        """Publish a staged batch of one claim; return whether any document was stored."""
        parameters = {
            "worker_id": self._worker_id,
            "batch_id": batch_id,
            "corpus_id": documents[0].corpus_id,
            # All documents of the claim have the same space.
            "embedding_space_id": documents[0].embedding_space_id,
            "document_ids": [document.document_id for document in documents],
            "content_hashes": [document.content_hash for document in documents],
        }
        cursor = await connection.execute(statement("store_documents", parameters), parameters)
        row = await cursor.fetchone()
        return row is not None and bool(row["result"])

    async def note_space_error(self, embedding_space_id: int, error: str) -> None:
        """Store why the documents of a corpus wait for its embedding model, until one of them is stored."""
        await fetch(self._pool, "note_space_error", embedding_space_id=embedding_space_id, error=error)

    async def claim_documents(
        self, *, max_documents: int, max_chars: int, skipped_models: Sequence[str] = ()
    ) -> list[PendingDocument]:
        """Lease pending documents of one corpus: at least one if there is any, of any length.

        Successive calls go from corpus to corpus, so that no corpus waits for all documents of another one. Corpora of
        skipped_models are left to other workers, and long documents to `claim_long_document`.
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
        )
        if rows:
            self._last_corpus_id = rows[0]["corpus_id"]
        return [PendingDocument(**row) for row in rows]

    async def claim_long_document(self, *, skipped_models: Sequence[str] = ()) -> LongDocument | None:
        """Lease the longest-waiting long document of one corpus; None if there is none.

        Successive calls go from corpus to corpus. Corpora of skipped_models are left to other workers.
        """
        rows = await fetch(
            self._pool,
            "claim_long_document",
            worker_id=self._worker_id,
            lease=LEASE,
            skipped_models=list(skipped_models),
            after_corpus_id=self._last_corpus_id_of_long,
        )
        if not rows:
            return None
        (row,) = rows
        self._last_corpus_id_of_long = row["corpus_id"]
        staged = {name: row.pop(name) for name in ("batch_id", "staged_passages", "staged_chars")}
        return LongDocument(PendingDocument(**row), **staged)

    async def set_aside_document(self, document: PendingDocument, passages: int) -> None:
        """Release a document that is too long for one claim.

        Args:
            document: Claimed.
            passages: About how many passages it will have.
        """
        await fetch(
            self._pool,
            "set_aside_document",
            worker_id=self._worker_id,
            corpus_id=document.corpus_id,
            document_id=document.document_id,
            passages=passages,
        )

    async def release_documents(
        self, documents: Sequence[PendingDocument] | None = None, *, are_long: bool = False
    ) -> int:
        """Release the leases of this worker; return how many it must keep for now.

        Args:
            documents: Of one corpus, at least one; None for all. A document that changed since it was claimed is
                skipped, because another claim of this worker may have it.
            are_long: Whether to release long documents, instead of others.
        """
        kept = await fetch_value(
            self._pool,
            "release_documents",
            worker_id=self._worker_id,
            are_long=are_long,
            corpus_id=documents[0].corpus_id if documents else None,
            document_ids=[document.document_id for document in documents] if documents else None,
            content_hashes=[document.content_hash for document in documents] if documents else None,
        )
        return int(kept)

    async def passage_hashes(
        self, documents: Sequence[PendingDocument], batch_id: UUID | None = None
    ) -> dict[str, list[bytes]]:
        """Return the texts for which claimed documents of one corpus have passages with vectors.

        Args:
            documents: The documents.
            batch_id: The batch of staged passages of a long document. Passages that are staged to stay do not count.

        Returns:
            By document_id, passage_hash of each of its passages, in any order; documents without passages are missing.
        """
        rows = await fetch(
            self._pool,
            "passage_hashes",
            corpus_id=documents[0].corpus_id,
            document_ids=[document.document_id for document in documents],
            batch_id=batch_id,
        )
        return {row["document_id"]: row["content_hashes"] for row in rows}

    async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
        """Write passages, vectors and term counts, and mark the documents searchable, in one transaction.

        Passages whose text is unchanged keep their id and vector. A document is skipped if it changed or vanished since
        it was claimed, if another session is changing it, or if it lost a passage whose vector was to stay.
        """
        batch_id = uuid4()
        with translated():
            async with self._pool.connection() as connection, connection.transaction():
                await _copy_passages(connection, batch_id, documents)
                await self._publish(connection, batch_id, [indexed.document for indexed in documents])

    async def keep_part(
        self, part: IndexedDocument, claimed: LongDocument, *, end_char: int, passages_left: int
    ) -> bool:
        """Stage a part in one transaction, and release the document until its next turn.

        Args:
            part: The chunks of the part, with their vectors.
            claimed: The claimed document.
            end_char: Where the next part starts.
            passages_left: About how many passages are left; 1 if the parts only have to be moved into place.

        Returns:
            False if the document changed or another session is changing it; then nothing is stored.
        """
        batch_id = claimed.batch_id or uuid4()
        with translated():
            async with self._pool.connection() as connection, connection.transaction():
                await _copy_passages(connection, batch_id, [part])
                parameters = {
                    "worker_id": self._worker_id,
                    "batch_id": batch_id,
                    "corpus_id": part.document.corpus_id,
                    "document_id": part.document.document_id,
                    "content_hash": part.document.content_hash,
                    "staged_before": claimed.staged_passages,
                    "staged_passages": claimed.staged_passages + len(part.chunks),
                    "staged_chars": end_char,
                    "passages_left": passages_left,
                }
                cursor = await connection.execute(statement("keep_part", parameters), parameters)
                row = await cursor.fetchone()
                if row is not None and row["result"]:
                    return True
                raise psycopg.Rollback
        return False

    async def publish(self, claimed: LongDocument) -> bool:
        """Replace the earlier passages of a claimed document by all its staged parts, in one transaction.

        Returns:
            False if the document changed or another session is changing it; then nothing is changed.
        """
        with translated():
            async with self._pool.connection() as connection, connection.transaction():
                if await self._publish(connection, claimed.batch_id, [claimed.document]):
                    return True
                # Keep the staged parts for another attempt.
                raise psycopg.Rollback
        return False


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
