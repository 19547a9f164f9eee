"""Retrieval alone: what `search` does, and what every other job starts with."""

from __future__ import annotations

import logging

from pgclarify.errors import EmbeddingError, RunLost
from pgclarify.model import Candidate, Run, RunStatus
from pgclarify.pipelines.failures import describe
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
    try:
        try:
            await retrieve(run, run.question, store, embedder)
        except EmbeddingError as error:
            await store.finish_run(run, RunStatus.FAILED, [], describe(error))
        else:
            await store.finish_run(run, RunStatus.SUCCEEDED, [], None)
    except RunLost as lost:
        _logger.info("run %d was left: %s", run.run_id, lost.message)


async def retrieve(run: Run, query: str, store: RunStore, embedder: Embedder) -> list[Candidate]:
    """Retrieve a run's candidates, embedding the query if the search needs its vector.

    Args:
        run: The run; settings["search"] is dense, lexical or hybrid.
        query: The question, relaxed or not.
        store: Where the passages are and the candidates go.
        embedder: The corpus's model.

    Returns:
        Candidates by rank, at most settings["top_k"].

    Raises:
        EmbeddingError: If the query could not be embedded.
        RunLost: If the run is no longer this worker's.

    Source: VERDICT, Eq. 7.
    """
    vector = None if run.settings["search"] == "lexical" else (await embedder.encode([query]))[0]
    return await store.retrieve(run, query, vector)
