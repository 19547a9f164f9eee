"""Retrieval alone: what `search` does, and what every other job starts with."""

from __future__ import annotations

import logging

from pgclarify.errors import EmbeddingError, RunLost
from pgclarify.model import Candidate, Run, RunStatus
from pgclarify.pipelines.failures import describe
from pgclarify.pipelines.trace import Trace
from pgclarify.protocols import Embedder, RunStore

_logger = logging.getLogger(__name__)


async def search(run: Run, store: RunStore, embedder: Embedder) -> None:
    """Carry out a run whose operation is "search": its candidates are its result, and no model is asked.

    A run that was cancelled or taken over meanwhile is left alone, without an error.

    Args:
        run: The run; settings["search"] is dense, lexical or hybrid.
        store: Where the passages are and the candidates go.
        embedder: The corpus's model; not used if the search is lexical.

    Raises:
        DatabaseError: If the store fails.
    """
    trace = Trace()
    try:
        try:
            await retrieve(run, run.question, store, embedder, trace)
        except EmbeddingError as error:
            await store.finish_run(run, RunStatus.FAILED, [], describe(error), stages=trace.stages)
        else:
            await store.finish_run(run, RunStatus.SUCCEEDED, [], None, stages=trace.stages)
    except RunLost as lost:
        _logger.info("run %d was left: %s", run.run_id, lost.message)


async def retrieve(run: Run, query: str, store: RunStore, embedder: Embedder, trace: Trace) -> list[Candidate]:
    """Retrieve a run's candidates, embedding the query if the search needs its vector.

    Args:
        run: The run; settings["search"] is dense, lexical or hybrid.
        query: The question, relaxed or not.
        store: Where the passages are and the candidates go.
        embedder: The corpus's model.
        trace: Where the stage is noted.

    Returns:
        Candidates by rank, at most settings["top_k"].

    Raises:
        EmbeddingError: If the query could not be embedded.
        RunLost: If the run is no longer this worker's.

    Source: VERDICT, Eq. 7.
    """
    with trace.stage("retrieval") as tally:
        vector = None if run.settings["search"] == "lexical" else (await embedder.encode([query]))[0]
        candidates = await store.retrieve(run, query, vector)
        tally.rows = len(candidates)
        tally.note = str(run.settings["search"])
    return candidates
