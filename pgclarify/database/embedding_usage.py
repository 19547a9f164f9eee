"""Where the costs of embeddings are kept."""

from __future__ import annotations

import logging

from pgclarify.database.pool import Pool, fetch
from pgclarify.errors import DatabaseError
from pgclarify.protocols import EmbeddingTally

_logger = logging.getLogger(__name__)


async def count_embeddings(pool: Pool, tally: EmbeddingTally) -> None:
    """Write down what was embedded since the last time; if that fails, it stays in the tally.

    Raises:
        ServerUnavailable: If there is no connection.
        DatabaseBusy: If a transaction locks budgets.
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
        # Cancelled, too: to count it twice, which is rare, is better than to give it away.
        tally.add(paid)
        raise


async def try_to_count_embeddings(pool: Pool, tally: EmbeddingTally) -> None:
    """As `count_embeddings`, but a failure is a warning in the log: it must not end what goes on, or is done."""
    try:
        await count_embeddings(pool, tally)
    except DatabaseError as error:
        _logger.warning("what was embedded is not counted yet: %s", error)
