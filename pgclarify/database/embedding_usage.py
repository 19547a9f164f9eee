"""Stores the cost of embeddings."""

from __future__ import annotations

import logging

from pgclarify.database.pool import Pool, fetch
from pgclarify.errors import DatabaseError
from pgclarify.protocols import EmbeddingTally

_logger = logging.getLogger(__name__)


async def count_embeddings(pool: Pool, tally: EmbeddingTally) -> None:
    """Store the counts since the last call; if that fails, they stay in the tally.

    Raises:
        ServerUnavailable: If there is no connection.
        DatabaseBusy: If another transaction locks budgets.
        DatabaseError: If the server refuses.
    """
    paid = tally.take()
    if not paid:
        return
    try:
        await fetch(
            pool,
            "count_embeddings",
            run_ids=[each.payer.run_id for each in paid],
            embedding_space_ids=[each.payer.embedding_space_id for each in paid],
            models=[each.model for each in paid],
            texts=[each.texts for each in paid],
            tokens=[each.tokens for each in paid],
        )
    except BaseException:
        # Also after a cancellation: counting twice, which is rare, is better than not counting.
        tally.add(paid)
        raise


async def try_to_count_embeddings(pool: Pool, tally: EmbeddingTally) -> None:
    """Like `count_embeddings`, but a failure is only logged: it must not end other work."""
    try:
        await count_embeddings(pool, tally)
    except DatabaseError as error:
        _logger.warning("the usage of embeddings is not stored yet: %s", error)
