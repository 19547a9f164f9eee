"""Retrieval without verdicts."""

from __future__ import annotations

from pgclarify.data.counting import counted
from pgclarify.errors import BudgetSpent
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.retrieval.exploration import (
    BATCH_SIZE,
    NEIGHBORS,
    Exploration,
    find_first,
    make_query,
    scorer_of,
)
from pgclarify.operations.retrieval.first_stage import FirstStage, left_as_found, ranked
from pgclarify.protocols import Embedder, Reranker


async def search(context: RunContext) -> Ending:
    """Search for a run; its candidates are the result.

    Without settings["reranker"] the result is the first ranking of settings["method"]. With it,
    settings["max_passages"] passages are scored again, and the best settings["top_k"] are the result. If
    settings["retrieval"] is adaptive, neighbors in the graph are among them. If a budget refuses a model's grades, the
    result is the first ranking, and the run is partial. Passages with the same text are all in it.

    Args:
        context: The run; settings["method"] is dense, lexical or hybrid.
    """
    embedder = await context.embedder()
    name = context.run.settings.get("reranker")
    if name is None:
        await FirstStage(context, embedder, None, are_distinct=False).choose(context.run.question)
    else:
        reranker = await context.models.rerankers.get(name, context.store)
        await _retrieve_and_rerank(context, embedder, reranker)
    return Ending()


async def _retrieve_and_rerank(context: RunContext, embedder: Embedder, reranker: Reranker | None) -> None:
    """Record the best of the passages that were scored again, with neighbors if the run's retrieval is adaptive."""
    run, settings = context.run, context.run.settings
    max_passages = settings["max_passages"]
    is_adaptive = settings.get("retrieval") == "adaptive"
    query = await make_query(embedder, run.question, settings["method"], is_scored_by_signal=reranker is None)
    first = await find_first(context, query, depth=max_passages, are_distinct=False)
    try:
        explored = await Exploration(
            context,
            query,
            first=first,
            scorer=scorer_of(reranker, run.question),
            max_passages=max_passages,
            # At most half of max_passages, so that a batch leaves some for its neighbors. Without neighbors, no batch
            # affects the next one.
            batch_size=max(1, min(BATCH_SIZE, max_passages // 2)) if is_adaptive else max_passages,
            k=NEIGHBORS if is_adaptive else 0,
            are_distinct=False,
        ).carry_out()
    except BudgetSpent as refusal:
        # Grades of some passages say nothing about the others.
        with context.trace.stage("reranking") as tally:
            tally.note = left_as_found(refusal)
        explored = ranked(first)
        is_adaptive = False
    if is_adaptive:
        is_limited = len(explored) >= max_passages
        limit = f"the limit of {counted(max_passages, 'passage')} is reached"
        context.trace.stop_reason = limit if is_limited else "nothing was left to look at"
    await context.passages.record_candidates(run, explored[: settings["top_k"]])
