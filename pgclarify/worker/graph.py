"""The neighborhood graph, kept beside everything else."""

from __future__ import annotations

import logging

from pgclarify.database.pool import Pool, fetch
from pgclarify.worker.graph_building import BuildFailed, GraphBuilding

_logger = logging.getLogger(__name__)

# A second of two cores: a transaction that holds up nobody for long.
_PASSAGES_A_BATCH = 2000


async def link(pool: Pool, building: GraphBuilding) -> None:
    """Link passages, and unlink those that are gone, until nothing is left to do."""
    while await _build(building) or (await fetch(pool, "link_passages", max_passages=_PASSAGES_A_BATCH))[0]["passages"]:
        pass


async def _build(building: GraphBuilding) -> bool:
    try:
        return await building.build_once()
    except BuildFailed as failed:
        _logger.warning("a graph is built by the database: %s", failed, exc_info=failed.__cause__)
        return True
