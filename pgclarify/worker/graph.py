"""The neighborhood graph, kept beside everything else."""

from __future__ import annotations

from pgclarify.database.pool import Pool, fetch

# A second of two cores: a transaction that holds up nobody for long.
_PASSAGES_A_BATCH = 2000


async def link(pool: Pool) -> None:
    """Link passages, and unlink those that are gone, until nothing is left to do."""
    while (await fetch(pool, "link_passages", max_passages=_PASSAGES_A_BATCH))[0]["passages"]:
        pass
