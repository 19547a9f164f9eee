"""Embeds existing passages with another model, while searches still use the old one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

import numpy as np

from pgclarify.corpora.embedding_models import CorpusModels, public_reason
from pgclarify.data.documents import PendingPassage
from pgclarify.database.spaces import EmbeddingSpaces
from pgclarify.errors import (
    DatabaseError,
    EmbeddingError,
    EmbeddingUnavailable,
    PgclarifyError,
    ServerUnavailable,
    describe,
)
from pgclarify.ingest.chunking import Chunker
from pgclarify.protocols import Embedder, Payer, TextsFailed, paid_by

_logger = logging.getLogger(__name__)


class Reembedding:
    """Embeds passages for spaces that are being filled, claim by claim.

    Args:
        store: The tables of the spaces.
        models: The embedding models, which all work on corpora shares.
        max_passages: Most passages in one claim.
    """

    def __init__(
        self,
        store: EmbeddingSpaces,
        models: CorpusModels,
        *,
        max_passages: int = 128,
    ) -> None:
        self._store = store
        self._models = models
        self._may_hold_leases = False
        self._max_passages = max_passages

    async def fill_once(self) -> int:
        """Claim passages of one space and embed them; call it until it returns 0.

        A passage that cannot be embedded or stored is noted with the reason; the others continue. Passages are released
        if their model is missing, is still loading, or its endpoint does not answer, and also if the store fails.

        Returns:
            How many passages were claimed, including failed ones; 0 if none is waiting.

        Raises:
            DatabaseError: If the store fails for another reason than one passage.
        """
        passages = await self._store.claim_passages(
            max_passages=self._max_passages, skipped_models=self._models.missing()
        )
        if not passages:
            # Passages that another session was holding could not be released, and are still leased.
            if self._may_hold_leases:
                self._may_hold_leases = await self._store.release_passages() > 0
            return 0
        self._may_hold_leases = True
        first = passages[0]
        try:
            ready = await self._models.get(first.embedding_model, first.dimensions, first.embedding_space_id)
        except PgclarifyError as error:
            await self._refuse(first, error)
            return len(passages)
        if ready is None:
            await self._store.release_passages()
            return len(passages)
        embedder, chunker = ready
        try:
            with paid_by(Payer(embedding_space_id=first.embedding_space_id)):
                await self._fill(passages, chunker, embedder)
        except EmbeddingUnavailable as error:
            self._models.leave(first.embedding_model, error)
            await self._refuse(first, error)
        except ServerUnavailable:
            raise
        except DatabaseError:
            await self._store.release_passages()
            raise
        return len(passages)

    async def _fill(self, passages: Sequence[PendingPassage], chunker: Chunker, embedder: Embedder) -> None:
        """Embed and store passages together, or one by one if one of them may have caused a failure.

        Raises:
            EmbeddingUnavailable: If the model's endpoint does not answer.
            DatabaseError: If the store fails for another reason than one passage.
        """
        refused: Mapping[int, EmbeddingError] = {}
        embedded = passages
        try:
            texts = await asyncio.to_thread(_render, chunker, passages)
            try:
                vectors = np.asarray(await self._models.encode(embedder, texts), dtype=np.float32)
            except TextsFailed as failure:
                refused = failure.failed
                places = sorted(failure.vectors)
                embedded, texts = [passages[place] for place in places], [texts[place] for place in places]
                vectors = np.asarray([failure.vectors[place] for place in places], dtype=np.float32)
            if embedded:
                are_cut_off = await asyncio.to_thread(_are_cut_off, embedder, texts)
                await self._store.store_vectors(embedded, vectors, are_cut_off)
        except EmbeddingUnavailable:
            raise
        except (DatabaseError, EmbeddingError) as error:
            if isinstance(error, DatabaseError) and not error.is_about_data:
                raise
            if len(passages) == 1:
                await self._fail(passages[0], error)
                return
            for passage in embedded:
                await self._fill([passage], chunker, embedder)
        # After the others are stored, because they are paid for.
        for place, reason in refused.items():
            await self._fail(passages[place], reason)

    async def _refuse(self, passage: PendingPassage, error: PgclarifyError) -> None:
        await self._store.release_passages()
        reason = public_reason(passage.embedding_model, error)
        await self._store.note_space_error(passage.embedding_space_id, reason)

    async def _fail(self, passage: PendingPassage, error: Exception) -> None:
        _logger.warning(
            "passage %d of document %r cannot be embedded with %s: %s",
            passage.passage_id,
            passage.document_id,
            passage.embedding_model,
            describe(error),
        )
        # The space keeps the reason.
        await self._store.fail_passage(passage, public_reason(passage.embedding_model, error))


def _render(chunker: Chunker, passages: Sequence[PendingPassage]) -> list[str]:
    return [chunker.embedding_text(passage.title, passage.heading, passage.content) for passage in passages]


def _are_cut_off(embedder: Embedder, texts: Sequence[str]) -> list[bool]:
    """Return whether a model cuts texts: the passages were made for another model."""
    return [len(encoding) > embedder.max_tokens for encoding in embedder.tokenizer.encode_batch(list(texts))]
