"""The tables of spaces that are being filled, for reembedding."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg.rows import DictRow

from pgclarify.data.documents import PendingPassage
from pgclarify.database.documents import LEASE
from pgclarify.database.pool import Pool, fetch, fetch_value

# Pause before a passage that could not be embedded is tried again: long enough for temporary problems to end.
_PAUSE = timedelta(seconds=20)


class EmbeddingSpaces:
    """The spaces that one worker fills with another embedding model."""

    def __init__(self, pool: Pool, worker_id: int) -> None:
        self._pool = pool
        self._worker_id = worker_id
        self._last_space_id = 0

    async def claim_passages(self, *, max_passages: int, skipped_models: Sequence[str] = ()) -> list[PendingPassage]:
        """Lease passages that have no vector in one space yet. Successive calls go from space to space.

        Spaces of skipped_models are left to other workers.
        """
        rows = await fetch(
            self._pool,
            "claim_passages",
            worker_id=self._worker_id,
            max_passages=max_passages,
            lease=LEASE,
            skipped_models=list(skipped_models),
            after_space_id=self._last_space_id,
        )
        if rows:
            self._last_space_id = rows[0]["embedding_space_id"]
        return [PendingPassage(**row) for row in rows]

    async def release_passages(self) -> int:
        """Release all leases of this worker; return how many it must keep for now."""
        return int(await fetch_value(self._pool, "release_passages", worker_id=self._worker_id))

    async def store_vectors(
        self, passages: Sequence[PendingPassage], vectors: NDArray[np.float32], are_cut_off: Sequence[bool]
    ) -> None:
        """Write vectors in one transaction.

        A passage that vanished since it was claimed, or that another session is removing, is skipped.

        Args:
            passages: Claimed, all of one space.
            vectors: float32, shape (len(passages), dimensions), rows of unit length.
            are_cut_off: Whether the model could not read a passage to its end.
        """
        await fetch(
            self._pool,
            "store_vectors",
            worker_id=self._worker_id,
            embedding_space_id=passages[0].embedding_space_id,
            document_ids=[passage.document_id for passage in passages],
            passage_ids=[passage.passage_id for passage in passages],
            are_cut_off=list(are_cut_off),
            vectors=[HalfVector(vector) for vector in vectors],
        )

    async def fail_passage(self, passage: PendingPassage, error: str) -> None:
        """Store that a passage could not be embedded. It is tried again a few times."""
        await fetch(
            self._pool,
            "fail_passage",
            worker_id=self._worker_id,
            embedding_space_id=passage.embedding_space_id,
            document_id=passage.document_id,
            passage_id=passage.passage_id,
            error=error,
            pause=_PAUSE,
        )

    async def to_check(self) -> list[DictRow]:
        """Return the spaces whose models are compared with stored vectors: embedding_space_id, model, dimensions."""
        return await fetch(self._pool, "spaces_to_check")

    async def stored_vectors(self, embedding_space_id: int, most: int) -> list[DictRow]:
        """Return a few passages of a space: title, heading, content, and the vector as a list of numbers."""
        return await fetch(self._pool, "stored_vectors", embedding_space_id=embedding_space_id, most=most)

    async def note_model_change(self, embedding_space_id: int, error: str | None) -> None:
        """Store that the model of a space gives other vectors than those that are stored; None if it does not."""
        await fetch(self._pool, "note_model_change", embedding_space_id=embedding_space_id, error=error)

    async def note_space_error(self, embedding_space_id: int, error: str) -> None:
        """Store why this worker cannot fill a space."""
        await fetch(self._pool, "note_space_error", embedding_space_id=embedding_space_id, error=error)
