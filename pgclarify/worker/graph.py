"""Keeps the neighborhood graph up to date while the worker does its other work."""

from __future__ import annotations

import logging

from pgclarify.database.pool import Pool, fetch_value
from pgclarify.worker.graph_building import BuildFailed, GraphBuilding

_logger = logging.getLogger(__name__)

# About one second on two cores, so that no transaction blocks others for long.
_PASSAGES_A_BATCH = 2000


async def link(pool: Pool, building: GraphBuilding) -> None:
    """Link new passages and unlink deleted ones until nothing is left to do."""
    while await _build(building) or await fetch_value(pool, "link_passages", max_passages=_PASSAGES_A_BATCH):
        pass


async def _build(building: GraphBuilding) -> bool:
    try:
        return await building.build_once()
    except BuildFailed as failed:
        _logger.warning("a graph is built by the database: %s", failed, exc_info=failed.__cause__)
        return True
