"""Retrieval that goes on from what it has found: passages are scored in batches, and neighbors of good ones follow.

The order is `pgclarify.algorithms.Explorer`'s. Here is what it costs: a call of the scorer for each batch, and one
statement for every other batch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms import Explorer, credit
from pgclarify.model import Candidate, Found, Passage, Run
from pgclarify.pipelines.trace import Tally, Trace
from pgclarify.protocols import ExplorationStore, Reranker

# SUNAR, §4: ten neighbors of each passage are followed. Batches of 16 are what its authors' code has.
NEIGHBORS = 10
BATCH_SIZE = 16
# What a first stage of each method leaves to be said.
_OTHER_SIGNAL = {"dense": "lexical", "lexical": "dense", "hybrid": "both"}

Scorer: TypeAlias = Callable[[Sequence[Found], Tally], Awaitable[Sequence[float]]]
Rescorer: TypeAlias = Callable[[Sequence[Passage], Sequence[float]], Awaitable[Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Query:
    """What passages are searched with.

    Attributes:
        text: The question, relaxed or not, or a part of it.
        vector: Its vector, float32, shape (dimensions,); None if neither method nor signal needs it.
        method: The first stage: dense, lexical or hybrid.
        signal: dense, lexical or both: by what passages are scored that come along; None for nothing.
    """

    text: str
    vector: NDArray[np.float32] | None
    method: str
    signal: str | None

    @staticmethod
    def needs_vector(method: str, signal: str | None) -> bool:
        """Tell whether a search by this method, scored by this signal, takes a vector."""
        return method != "lexical" or signal in ("dense", "both")


def other_signal(method: str) -> str:
    """Name the signal that complements a first stage: the other one, or after both of them both.

    Args:
        method: dense, lexical or hybrid.

    Source: SUNAR, §3.1.1, which pairs a dense graph with a sparse first stage and the other way round.
    """
    return _OTHER_SIGNAL[method]


async def by_signal(found: Sequence[Found], tally: Tally) -> list[float]:
    """Score passages by the signal that they came with; nobody is asked. A `Scorer`.

    Raises:
        ValueError: If they came without one.
    """
    scores = [one.signal_score for one in found if one.signal_score is not None]
    if len(scores) < len(found):
        raise ValueError("passages were searched for without a signal")
    return scores


def by_reranker(reranker: Reranker, question: str) -> Scorer:
    """Make a scorer of a reranker.

    Args:
        reranker: Who scores.
        question: What passages are to answer.
    """

    async def score(found: Sequence[Found], tally: Tally) -> Sequence[float]:
        return await reranker.score(question, [one.passage for one in found], tally=tally)

    return score


async def find_first(
    run: Run, query: Query, *, store: ExplorationStore, depth: int, trace: Trace, step_ordinal: int | None = None
) -> list[Found]:
    """Search for what an exploration begins with.

    Args:
        run: The run.
        query: What is searched with.
        store: Where the passages are.
        depth: Most passages, from 1. More than the budget are never looked at.
        trace: Where the stage is noted.
        step_ordinal: The step of an investigation that this is for, from 1.

    Returns:
        The first ranking, best first.

    Raises:
        RunLost: If the run is no longer this worker's.
    """
    with trace.stage("retrieval", step_ordinal=step_ordinal) as tally:
        found = await store.find_passages(
            run, query.text, query.vector, method=query.method, depth=depth, signal=query.signal
        )
        tally.rows = len(found)
        tally.note = query.method
    return found


async def explore_passages(
    run: Run,
    query: Query,
    *,
    store: ExplorationStore,
    first: Sequence[Found],
    scorer: Scorer,
    budget: int,
    trace: Trace,
    batch_size: int = BATCH_SIZE,
    k: int = NEIGHBORS,
    rescore: Rescorer | None = None,
    step_ordinal: int | None = None,
) -> list[Candidate]:
    """Score passages in turn from the first ranking and from the neighbors of what was scored, until nothing is left.

    Scored by both signals, a passage shares in the score of the one that led to it: see `pgclarify.algorithms.credit`.

    Args:
        run: The run.
        query: What neighbors are scored against, if by a signal: that of the first stage.
        store: Where the passages and their neighbors are.
        first: The first ranking, best first.
        scorer: Who scores a batch: `by_signal`, or `by_reranker` of one.
        budget: Most passages that are scored, from 1.
        trace: Where the stages of each batch are noted.
        batch_size: Most passages of a batch, from 1.
        k: Most neighbors of each that are followed; 0 for none, which is reranking.
        rescore: Changes the scores of a batch, given its passages; None leaves them as they are.
        step_ordinal: The step of an investigation that this is for, from 1.

    Returns:
        What was scored, by that score, and ranked from 1; nothing is recorded.

    Raises:
        CompletionError: If the scorer asked a model that gave no score.
        EmbeddingError: If the scorer's own model failed.
        RunLost: If the run is no longer this worker's.

    Source: SUNAR, Algorithm 1.
    """
    known = {one.passage.passage_id: one for one in first}
    ranking = list(known)
    explorer = Explorer(ranking, budget=budget, batch_size=batch_size)
    batches: dict[int, int] = {}
    observed: dict[int, float] = {}
    # What was scored, and is to be observed together with what is near to it.
    scored: dict[int, float] = {}
    number = 0
    while ids := explorer.next_batch():
        number += 1
        batches.update(dict.fromkeys(ids, number))
        found = [known[passage_id] for passage_id in ids]
        with trace.stage("reranking", batch=number, step_ordinal=step_ordinal) as tally:
            scores = await scorer(found, tally)
            tally.rows = len(scores)
        if k and query.signal == "both":
            leads = [explorer.led_by(passage_id) for passage_id in ids]
            scores = [
                credit(score, None if lead is None else observed[lead])
                for score, lead in zip(scores, leads, strict=True)
            ]
        if rescore is not None:
            scores = await rescore([one.passage for one in found], scores)
        scored.update(zip(ids, scores, strict=True))
        # After a batch of neighbors it is the first ranking's turn: what is near can be asked for after that, with what
        # is near to that.
        is_rankings_turn = explorer.led_by(ids[0]) is not None and not batches.keys() >= set(ranking)
        if not k or not explorer.budget_left or is_rankings_turn:
            continue
        with trace.stage("neighbors", batch=number, step_ordinal=step_ordinal) as tally:
            near = await store.find_neighbors(
                run,
                [known[passage_id].passage for passage_id in scored],
                k=k,
                known=known,
                query=query.text,
                vector=query.vector,
                signal=query.signal,
            )
            tally.rows = len(near.passages)
        known.update((one.passage.passage_id, one) for one in near.passages)
        explorer.observe(scored, near.edges)
        observed |= scored
        scored = {}
    explorer.observe(scored, {})
    candidates = []
    for rank, explored in enumerate(explorer.results(), start=1):
        via = explorer.led_by(explored.id)
        candidates.append(
            Candidate(
                rank=rank,
                passage=known[explored.id].passage,
                score=explored.score,
                # A passage of the first ranking may be come to through a neighbor as well.
                origin=known[explored.id].origin if via is None else "neighbor",
                via_passage_id=via,
                batch=batches[explored.id],
                step_ordinal=step_ordinal,
            )
        )
    return candidates


def stop_reason(explored: int, budget: int) -> str:
    """Say why an exploration went no further.

    Args:
        explored: Passages that were scored.
        budget: The most that could be.
    """
    return f"the budget of {budget} passages is spent" if explored >= budget else "nothing was left to look at"
