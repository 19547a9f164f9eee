"""Retrieval without judgement: what `search` does, and what other jobs start with."""

from __future__ import annotations

import logging

from pgclarify.errors import BudgetSpent, CompletionError, ConfigurationError, EmbeddingError, RunLost, describe
from pgclarify.model import Candidate, Run, RunStatus
from pgclarify.operations.retrieval.exploration import (
    BATCH_SIZE,
    NEIGHBORS,
    Query,
    by_reranker,
    by_signal,
    explore_passages,
    find_first,
    other_signal,
    stop_reason,
)
from pgclarify.operations.retrieval.first_stage import left_as_found, ranked
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.operations.trace import Trace
from pgclarify.protocols import Embedder, ExplorationStore, Reranker, RunStore

_logger = logging.getLogger(__name__)


async def search(
    run: Run,
    store: RunStore,
    exploration: ExplorationStore,
    embedder: Embedder,
    rerankers: Rerankers,
) -> None:
    """Carry out a run whose operation is "search": its candidates are its result.

    Without settings["reranker"] they are what settings["search"] ranks first. With it, settings["budget"] passages are
    scored again, and the best settings["top_k"] are the result: if settings["retrieval"] is adaptive, passages that are
    come to through the neighborhood graph are among them. If a budget does not let a model grade all of them, they are
    what settings["search"] ranks first, and the run is partial. A run that was cancelled or taken over meanwhile is
    left alone, without an error.

    Args:
        run: The run; settings["search"] is dense, lexical or hybrid.
        store: Where the candidates go.
        exploration: Where the passages are.
        embedder: The corpus's model; not used if nothing needs the question's vector.
        rerankers: Who may score again.

    Raises:
        DatabaseError: If the store fails.
    """
    trace = Trace()
    try:
        try:
            name = run.settings.get("reranker")
            if name is None:
                await retrieve(run, run.question, store, embedder, trace)
            else:
                reranker = await rerankers.get(name, store)
                await _retrieve_and_rerank(run, exploration, embedder, reranker, trace)
        except (CompletionError, ConfigurationError, EmbeddingError) as error:
            await store.finish_run(run, RunStatus.FAILED, [], describe(error), stages=trace.stages)
        else:
            await store.finish_run(
                run, RunStatus.SUCCEEDED, [], None, stages=trace.stages, stop_reason=trace.stop_reason
            )
    except RunLost as lost:
        _logger.info("run %d was left: %s", run.run_id, lost.message)


async def _retrieve_and_rerank(
    run: Run, store: ExplorationStore, embedder: Embedder, reranker: Reranker | None, trace: Trace
) -> None:
    """Record the best of what was scored again, neighbors among them if the run's retrieval is adaptive."""
    method, budget = run.settings["search"], run.settings["budget"]
    is_adaptive = run.settings.get("retrieval") == "adaptive"
    signal = other_signal(method) if reranker is None else None
    vector = (await embedder.encode([run.question]))[0] if Query.needs_vector(method, signal) else None
    query = Query(run.question, vector, method, signal)
    first = await find_first(run, query, store=store, depth=budget, trace=trace)
    try:
        explored = await explore_passages(
            run,
            query,
            store=store,
            first=first,
            scorer=by_signal if reranker is None else by_reranker(reranker, run.question),
            budget=budget,
            trace=trace,
            # Half the budget at most: one batch must leave something for what it leads to. Where no neighbors are
            # followed, nothing of a batch decides about the next one.
            batch_size=max(1, min(BATCH_SIZE, budget // 2)) if is_adaptive else budget,
            k=NEIGHBORS if is_adaptive else 0,
        )
    except BudgetSpent as refusal:
        # Grades of some passages say nothing about the others.
        with trace.stage("reranking") as tally:
            tally.note = left_as_found(refusal)
        explored = ranked(first)
        is_adaptive = False
    if is_adaptive:
        trace.stop_reason = stop_reason(len(explored), budget)
    await store.record_candidates(run, explored[: run.settings["top_k"]])


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
