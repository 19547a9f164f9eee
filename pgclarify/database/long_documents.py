"""The document tables, for documents that are indexed in parts."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

import psycopg

from pgclarify.data.documents import IndexedDocument, LongDocument, PendingDocument
from pgclarify.database.documents import LEASE, LeasedDocuments, copy_passages
from pgclarify.database.errors import translated
from pgclarify.database.pool import fetch, fetch_value
from pgclarify.database.queries import statement


class LongDocuments(LeasedDocuments):
    """Documents that were set aside, of which each claim of one worker stages a part."""

    async def claim_document(self, *, skipped_models: Sequence[str] = ()) -> LongDocument | None:
        """Lease the longest-waiting document of one corpus; None if there is none.

        Successive calls go from corpus to corpus. Corpora of skipped_models are left to other workers.
        """
        rows = await fetch(
            self._pool,
            "claim_long_document",
            worker_id=self._worker_id,
            lease=LEASE,
            skipped_models=list(skipped_models),
            after_corpus_id=self._last_corpus_id,
        )
        if not rows:
            return None
        (row,) = rows
        self._last_corpus_id = row["corpus_id"]
        staged = {name: row.pop(name) for name in ("batch_id", "staged_passages", "staged_chars")}
        return LongDocument(PendingDocument(**row), **staged)

    async def release_document(self) -> int:
        """Release the leases of this worker; return how many it must keep for now."""
        kept = await fetch_value(
            self._pool,
            "release_documents",
            worker_id=self._worker_id,
            are_long=True,
            corpus_id=None,
            document_ids=None,
            content_hashes=None,
        )
        return int(kept)

    async def passage_hashes(self, document: LongDocument) -> list[bytes]:
        """Return the texts of the document's passages with vectors, except passages staged to stay; in any order."""
        rows = await fetch(
            self._pool,
            "passage_hashes",
            corpus_id=document.document.corpus_id,
            document_ids=[document.document.document_id],
            batch_id=document.batch_id,
        )
        return list(rows[0]["content_hashes"]) if rows else []

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
                await copy_passages(connection, batch_id, [part])
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
