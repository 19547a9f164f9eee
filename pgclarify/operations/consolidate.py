"""Consolidation again: of verdicts that are there, with no model call."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from pgclarify.errors import EmbeddingError, RunLost, describe
from pgclarify.model import Run, RunStatus, Verdict
from pgclarify.operations.clarification.interpretations import Grounded, conclude, embed_mode, reading_text
from pgclarify.operations.trace import Trace
from pgclarify.protocols import Embedder, RunStore

_logger = logging.getLogger(__name__)


async def reconsolidate(run: Run, store: RunStore, embedder: Embedder) -> None:
    """Carry out a run whose operation is "consolidate": group its parent's verdicts again, and ask no model.

    Readings are embedded again if settings["embed"] is not settings["parent_embed"], what their vectors hold.

    Args:
        run: The run.
        store: Its tables.
        embedder: The corpus's model.

    Raises:
        DatabaseError: If the store fails.
    """
    try:
        verdicts = sorted(await store.verdicts(run), key=lambda pair: pair[1].rank)
        try:
            embedded = await _embedded(run, verdicts, store, embedder)
        except EmbeddingError as error:
            await store.finish_run(run, RunStatus.FAILED, [], describe(error))
            return
        await conclude(run, embedded, store, Trace())
    except RunLost as lost:
        _logger.info("run %d was left: %s", run.run_id, lost.message)


async def _embedded(
    run: Run, verdicts: Sequence[tuple[str, Verdict]], store: RunStore, embedder: Embedder
) -> list[tuple[str, Verdict]]:
    """Give every verdict the vector that the run's settings ask for, and keep it."""
    is_same_mode = embed_mode(run) == run.settings.get("parent_embed", "question_answer")
    stale = [(document_id, verdict) for document_id, verdict in verdicts if verdict.vector is None or not is_same_mode]
    readings = [Grounded.of(document_id, verdict) for document_id, verdict in stale]
    vectors = await embedder.encode([reading_text(run, one.interpretation, one.answer) for one in readings])
    fresh = {verdict.rank: replace(verdict, vector=vector) for (_, verdict), vector in zip(stale, vectors, strict=True)}
    for verdict in fresh.values():
        await store.record_verdict(run, verdict)
    return [(document_id, fresh.get(verdict.rank, verdict)) for document_id, verdict in verdicts]
