"""A fake of the embedding spaces that are being filled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.documents import PendingPassage
from pgclarify.database.spaces import EmbeddingSpaces
from pgclarify.errors import DatabaseError


class FakeSpaceStore(EmbeddingSpaces):
    """Passages without a vector in one space, until they are stored or have failed.

    Args:
        contents: Contents of the pending passages. The place, from 1, is the passage's id.
        embedding_model: The space's model.
        dimensions: Length of its vectors.
        refuses: Ids of passages that cannot be stored. A batch with one of them is refused as a whole.

    Attributes:
        pending: Passages that no worker has claimed.
        leased: Claimed passages that were neither stored, failed nor released.
        vectors: By id, the stored vector.
        cut_off: Ids of passages that were too long for the model.
        failed: By id, why a passage could not be embedded.
        refused: By id of a space, why the space could not be filled.
        stored: Ids of each call of `store_vectors` that succeeded.
    """

    def __init__(
        self,
        contents: Sequence[str] = (),
        *,
        embedding_model: str = "fake",
        dimensions: int = 256,
        refuses: Sequence[int] = (),
    ) -> None:
        self.pending = [
            PendingPassage(
                embedding_space_id=1,
                document_id=f"document {passage_id}",
                passage_id=passage_id,
                title=None,
                heading=None,
                content=content,
                embedding_model=embedding_model,
                dimensions=dimensions,
            )
            for passage_id, content in enumerate(contents, start=1)
        ]
        self.leased: dict[int, PendingPassage] = {}
        self.vectors: dict[int, NDArray[np.float32]] = {}
        self.cut_off: set[int] = set()
        self.failed: dict[int, str] = {}
        self.refused: dict[int, str] = {}
        self.stored: list[list[int]] = []
        self._refuses = frozenset(refuses)

    async def claim_passages(self, *, max_passages: int, skipped_models: Sequence[str] = ()) -> list[PendingPassage]:
        """Claim pending passages."""
        await asyncio.sleep(0)
        if self.pending and self.pending[0].embedding_model in skipped_models:
            return []
        claimed, self.pending = self.pending[:max_passages], self.pending[max_passages:]
        self.leased.update((passage.passage_id, passage) for passage in claimed)
        return claimed

    async def release_passages(self) -> int:
        """Make leased passages pending again."""
        await asyncio.sleep(0)
        self.pending[:0] = self.leased.values()
        self.leased.clear()
        return 0

    async def store_vectors(
        self, passages: Sequence[PendingPassage], vectors: NDArray[np.float32], are_cut_off: Sequence[bool]
    ) -> None:
        """Store all of them, or none."""
        await asyncio.sleep(0)
        ids = [passage.passage_id for passage in passages]
        if refused := self._refuses.intersection(ids):
            raise DatabaseError("a vector cannot be stored", detail=f"It is {min(refused)}.", sqlstate="22023")
        self.stored.append(ids)
        for passage_id, vector, is_cut_off in zip(ids, vectors, are_cut_off, strict=True):
            del self.leased[passage_id]
            self.vectors[passage_id] = vector
            if is_cut_off:
                self.cut_off.add(passage_id)

    async def fail_passage(self, passage: PendingPassage, error: str) -> None:
        """Keep the reason."""
        await asyncio.sleep(0)
        self.failed[passage.passage_id] = error
        del self.leased[passage.passage_id]

    async def note_space_error(self, embedding_space_id: int, error: str) -> None:
        """Keep the reason."""
        await asyncio.sleep(0)
        self.refused[embedding_space_id] = error
