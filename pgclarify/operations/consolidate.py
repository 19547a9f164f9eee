"""Consolidates existing verdicts again, without model calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgclarify.data.verdicts import Verdict
from pgclarify.operations.clarification.interpretations import Grounded, conclude, embed_mode, reading_text
from pgclarify.operations.context import Ending, RunContext
from pgclarify.protocols import Embedder


async def consolidate(context: RunContext) -> Ending:
    """Group the verdicts of a run's parent again.

    Readings are embedded again if settings["embed"] differs from settings["parent_embed"], the text of their vectors.
    """
    embedder = await context.reading_embedder()
    verdicts = sorted(await context.store.verdicts(context.run), key=lambda pair: pair[1].rank)
    return await conclude(context, await _embedded(context, verdicts, embedder))


async def _embedded(
    context: RunContext, verdicts: Sequence[tuple[str, Verdict]], embedder: Embedder
) -> list[tuple[str, Verdict]]:
    """Make the vector of each verdict that the run's settings require, and store it."""
    run = context.run
    is_same_mode = embed_mode(run) == run.settings.get("parent_embed", "question_answer")
    stale = [(document_id, verdict) for document_id, verdict in verdicts if verdict.vector is None or not is_same_mode]
    readings = [Grounded.of(document_id, verdict) for document_id, verdict in stale]
    vectors = await embedder.encode([reading_text(run, one.interpretation, one.answer) for one in readings])
    fresh = {verdict.rank: replace(verdict, vector=vector) for (_, verdict), vector in zip(stale, vectors, strict=True)}
    for verdict in fresh.values():
        await context.store.record_verdict(run, verdict)
    return [(document_id, fresh.get(verdict.rank, verdict)) for document_id, verdict in verdicts]
