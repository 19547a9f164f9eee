"""Consolidates existing verdicts again, without model calls."""

from __future__ import annotations

from pgclarify.operations.clarification.interpretations import conclude
from pgclarify.operations.context import Ending, RunContext


async def consolidate(context: RunContext) -> Ending:
    """Group the verdicts of a run's parent again, by the vectors that they have."""
    verdicts = await context.store.verdicts(context.run)
    return await conclude(context, sorted(verdicts, key=lambda pair: pair[1].rank))
