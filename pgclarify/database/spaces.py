"""The tables of spaces that are being filled, for reembedding."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from pgclarify.data.documents import PendingPassage
from pgclarify.database.pool import Pool, fetch

# Longer than one claim takes on a slow machine. Leases of a dead worker are taken over at once.
_LEASE = timedelta(minutes=15)
# Pause before a passage that could not be embedded is tried again: long enough for temporary problems to end.
_PAUSE = timedelta(seconds=20)


class EmbeddingSpaces:
    """`pgclarify.protocols.SpaceStore` for one worker."""

    def __init__(self, pool: Pool, worker_id: int) -> None:
        self._pool = pool
        self._worker_id = worker_id
        self._last_space_id = 0

    async def claim_passages(self, *, max_passages: int, skipped_models: Sequence[str] = ()) -> list[PendingPassage]:
        """See SpaceStore."""
        rows = await fetch(
            self._pool,
            "claim_passages",
            worker_id=self._worker_id,
            max_passages=max_passages,
            lease=_LEASE,
            skipped_models=list(skipped_models),
            after_space_id=self._last_space_id,
        )
        if rows:
            self._last_space_id = rows[0]["embedding_space_id"]
        return [PendingPassage(**row) for row in rows]

    async def release_passages(self) -> int:
        """See SpaceStore."""
        (row,) = await fetch(self._pool, "release_passages", worker_id=self._worker_id)
        return int(row["kept"])

    async def store_vectors(
        self, passages: Sequence[PendingPassage], vectors: NDArray[np.float32], are_cut_off: Sequence[bool]
    ) -> None:
        """See SpaceStore."""
        await fetch(
            self._pool,
            "store_vectors",
            worker_id=self._worker_id,
            embedding_space_id=passages[0].embedding_space_id,
            document_ids=[passage.document_id for passage in passages],
            passage_ids=[passage.passage_id for passage in passages],
            content_hashes=[passage.content_hash for passage in passages],
            are_cut_off=list(are_cut_off),
            vectors=[HalfVector(vector) for vector in vectors],
        )

    async def fail_passage(self, passage: PendingPassage, error: str) -> None:
        """See SpaceStore."""
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

    async def refuse_filling(self, embedding_space_id: int, error: str) -> None:
        """See SpaceStore."""
        await fetch(self._pool, "refuse_filling", embedding_space_id=embedding_space_id, error=error)
