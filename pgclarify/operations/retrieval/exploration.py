"""Retrieval that goes on from what it has found: passages are scored in batches, and neighbors of good ones follow.

The order is `pgclarify.algorithms.Explorer`'s. Here is what it costs: a call of the scorer for each batch, and a
statement or two for every other one.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms import Explored, Explorer, credit
from pgclarify.language.numbers import counted
from pgclarify.model import Candidate, Found, Passage
from pgclarify.operations.context import RunContext
from pgclarify.operations.trace import Tally
from pgclarify.protocols import Reranker

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


async def find_first(context: RunContext, query: Query, *, depth: int, step_ordinal: int | None = None) -> list[Found]:
    """Search for what an exploration begins with.

    Args:
        context: The run.
        query: What is searched with.
        depth: Most passages, from 1. An exploration looks at no more of them than its budget.
        step_ordinal: The step of an investigation that this is for, from 1.

    Returns:
        The first ranking, best first.

    Raises:
        RunLost: If the run is no longer this worker's.
    """
    with context.trace.stage("retrieval", step_ordinal=step_ordinal) as tally:
        found = await context.stores.passages.find_passages(
            context.run, query.text, query.vector, method=query.method, depth=depth, signal=query.signal
        )
        tally.rows = len(found)
        tally.note = query.method
    return found


async def explore_passages(
    context: RunContext,
    query: Query,
    *,
    first: Sequence[Found],
    scorer: Scorer,
    budget: int,
    batch_size: int = BATCH_SIZE,
    k: int = NEIGHBORS,
    rescore: Rescorer | None = None,
    step_ordinal: int | None = None,
) -> list[Candidate]:
    """Score passages in turn from the first ranking and from the neighbors of what was scored, until nothing is left.

    Scored by both signals, a passage shares in the score of the one that led to it: see `pgclarify.algorithms.credit`.

    Args:
        context: The run.
        query: What neighbors are scored against, if by a signal: that of the first stage.
        first: The first ranking, best first.
        scorer: Who scores a batch: `by_signal`, or `by_reranker` of one.
        budget: Most passages that are scored, from 1.
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
    exploration = _Exploration(
        context,
        query,
        first=first,
        scorer=scorer,
        budget=budget,
        batch_size=batch_size,
        k=k,
        rescore=rescore,
        step_ordinal=step_ordinal,
    )
    return await exploration.carry_out()


class _Exploration:
    """One exploration, and what it knows so far."""

    def __init__(
        self,
        context: RunContext,
        query: Query,
        *,
        first: Sequence[Found],
        scorer: Scorer,
        budget: int,
        batch_size: int,
        k: int,
        rescore: Rescorer | None,
        step_ordinal: int | None,
    ) -> None:
        self._context = context
        self._query = query
        self._scorer = scorer
        self._batch_size = batch_size
        self._k = k
        self._rescore = rescore
        self._step_ordinal = step_ordinal
        self._known = {one.passage.passage_id: one for one in first}
        self._ranking = set(self._known)
        self._explorer = Explorer(list(self._known), budget=budget, batch_size=batch_size)
        self._number = 0
        # Of each passage that was handed out, its batch; of each that was scored, its score.
        self._batches: dict[int, int] = {}
        self._scores: dict[int, float] = {}
        # Those whose neighbors nobody has looked up, and that the explorer has not been told of.
        self._waiting: dict[int, None] = {}
        # How many of them are looked up at first; with fewer, a second statement takes more than they spare.
        self._few = max(1, 3 * batch_size // 4)
        # Of each neighbor that was not handed out, the best score of those that lead to it.
        self._reached: dict[int, float] = {}
        self._is_rankings_turn = True

    async def carry_out(self) -> list[Candidate]:
        while ids := await self._next_batch():
            await self._score(ids)
        self._observe(list(self._waiting), {})
        return [self._candidate(rank, one) for rank, one in enumerate(self._explorer.results(), start=1)]

    async def _next_batch(self) -> list[int]:
        needed = min(self._batch_size, self._explorer.budget_left)
        if self._k and needed and not self._is_rankings_turn:
            await self._look_around(needed)
        ids = self._explorer.next_batch()
        self._number += 1
        for passage_id in ids:
            self._batches[passage_id] = self._number
            self._reached.pop(passage_id, None)
        # The first ranking's turn comes after a batch of neighbors, for as long as something is left of it.
        is_led = bool(ids) and self._explorer.led_by(ids[0]) is not None
        self._is_rankings_turn = is_led and not self._batches.keys() >= self._ranking
        return ids

    async def _look_around(self, needed: int) -> None:
        """Look up neighbors until the next batch of them is certain, though others may be looked up yet.

        It is once enough are led to by better scores than all have whose neighbors are not known. Those of the best few
        mostly are enough, so they come first; where they are not, all others follow, and the few are more from then on.
        """
        for few in (self._few, None):
            best = sorted(self._waiting, key=self._scores.__getitem__, reverse=True)
            if not best or sum(score > self._scores[best[0]] for score in self._reached.values()) >= needed:
                return
            if few is None:
                self._few *= 2
            # All equals or none: which of them come first is the explorer's to say.
            least = self._scores[best[:few][-1]]
            await self._look_up([passage_id for passage_id in best if self._scores[passage_id] >= least])

    async def _look_up(self, ids: Sequence[int]) -> None:
        with self._context.trace.stage("neighbors", batch=self._number, step_ordinal=self._step_ordinal) as tally:
            near = await self._context.stores.passages.find_neighbors(
                self._context.run,
                [self._known[passage_id].passage for passage_id in ids],
                k=self._k,
                known=self._known,
                query=self._query.text,
                vector=self._query.vector,
                signal=self._query.signal,
            )
            tally.rows = len(near.passages)
        self._known.update((one.passage.passage_id, one) for one in near.passages)
        self._observe(ids, near.edges)

    def _observe(self, ids: Sequence[int], edges: Mapping[int, Sequence[int]]) -> None:
        self._explorer.observe({passage_id: self._scores[passage_id] for passage_id in ids}, edges)
        for passage_id in ids:
            del self._waiting[passage_id]
        for lead, neighbors in edges.items():
            for passage_id in neighbors:
                if passage_id not in self._batches:
                    best = self._reached.get(passage_id, -math.inf)
                    self._reached[passage_id] = max(best, self._scores[lead])

    async def _score(self, ids: Sequence[int]) -> None:
        found = [self._known[passage_id] for passage_id in ids]
        with self._context.trace.stage("reranking", batch=self._number, step_ordinal=self._step_ordinal) as tally:
            scores = await self._scorer(found, tally)
            tally.rows = len(scores)
        if self._k and self._query.signal == "both":
            leads = [self._explorer.led_by(passage_id) for passage_id in ids]
            scores = [
                credit(score, None if lead is None else self._scores[lead])
                for score, lead in zip(scores, leads, strict=True)
            ]
        if self._rescore is not None:
            scores = await self._rescore([one.passage for one in found], scores)
        self._scores.update(zip(ids, scores, strict=True))
        self._waiting.update(dict.fromkeys(ids))

    def _candidate(self, rank: int, explored: Explored[int]) -> Candidate:
        found, via = self._known[explored.id], self._explorer.led_by(explored.id)
        return Candidate(
            rank=rank,
            passage=found.passage,
            score=explored.score,
            # A passage of the first ranking may be come to through a neighbor as well.
            origin=found.origin if via is None else "neighbor",
            via_passage_id=via,
            batch=self._batches[explored.id],
            step_ordinal=self._step_ordinal,
        )


def stop_reason(explored: int, budget: int) -> str:
    """Say why an exploration went no further.

    Args:
        explored: Passages that were scored.
        budget: The most that could be.
    """
    return (
        f"the budget of {counted(budget, 'passage')} is spent" if explored >= budget else "nothing was left to look at"
    )
