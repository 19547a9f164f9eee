"""Exploring retrieval: passages are scored in batches, and the neighbors of good ones follow.

`pgclarify.algorithms.Explorer` decides the order. This module makes one call of the scorer for each batch, and one
statement for every second one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.exploration import Explored, Explorer, credit
from pgclarify.data.candidates import Candidate, Found
from pgclarify.data.documents import Passage, bare_text
from pgclarify.data.runs import Tally
from pgclarify.operations.context import RunContext
from pgclarify.protocols import Embedder, Reranker

# SUNAR, §4: ten neighbors of each passage. Batches of 16 are from its authors' code.
NEIGHBORS = 10
BATCH_SIZE = 16
# The signal that a first stage of each method does not use.
_OTHER_SIGNAL = {"dense": "lexical", "lexical": "dense", "hybrid": "both"}

Scorer: TypeAlias = Callable[[Sequence[Found], Tally], Awaitable[Sequence[float]]]
Rescorer: TypeAlias = Callable[[Sequence[Passage], Sequence[float]], Awaitable[Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Query:
    """The query of a search.

    Attributes:
        text: The question, relaxed or not, or a part of it.
        vector: Its vector, float32, shape (dimensions,); None if neither method nor signal needs it.
        method: The first stage: dense, lexical or hybrid.
        signal: dense, lexical or both: the second score of passages; None for none.
        asked_vector: The vector of the run's question, if the text is another one; else None.
    """

    text: str
    vector: NDArray[np.float32] | None
    method: str
    signal: str | None
    asked_vector: NDArray[np.float32] | None = None


async def make_query(embedder: Embedder, text: str, method: str, *, is_scored_by_signal: bool) -> Query:
    """Make the query of a search, with the vector that it needs.

    Args:
        embedder: The corpus's model.
        text: The question, relaxed or not, or a part of it.
        method: The first stage: dense, lexical or hybrid.
        is_scored_by_signal: Whether passages get a second score, by the signal that the first stage does not use; for
            hybrid, by both.

    Raises:
        EmbeddingError: If the model fails.

    Source: SUNAR, §3.1.1, which pairs a dense graph with a sparse first stage and the other way round.
    """
    signal = _OTHER_SIGNAL[method] if is_scored_by_signal else None
    if method == "lexical" and signal is None:
        return Query(text, None, method, signal)
    (vector,) = await embedder.encode([text])
    return Query(text, vector, method, signal)


async def by_signal(found: Sequence[Found], tally: Tally) -> list[float]:
    """Return the scores that passages have from their signal; no model is called. A `Scorer`.

    Raises:
        ValueError: If they have none.
    """
    scores = [one.signal_score for one in found if one.signal_score is not None]
    if len(scores) < len(found):
        raise ValueError("passages were searched for without a signal")
    return scores


def scorer_of(reranker: Reranker | None, question: str) -> Scorer:
    """Make the scorer of an exploration.

    Args:
        reranker: Scores passages; None for their signal.
        question: The question that passages should answer.
    """
    if reranker is None:
        return by_signal

    async def score(found: Sequence[Found], tally: Tally) -> Sequence[float]:
        return await reranker(question, [one.passage for one in found], tally=tally)

    return score


async def find_first(
    context: RunContext,
    query: Query,
    *,
    depth: int,
    step_ordinal: int | None = None,
    are_chosen: bool = False,
    are_distinct: bool = True,
) -> list[Found]:
    """Search for the first ranking of an exploration.

    Args:
        context: The run.
        query: The query.
        depth: Most passages, from 1. An exploration reads at most max_passages.
        step_ordinal: The step of an investigation, from 1.
        are_chosen: Whether to store the ranking as the candidates of the run, which has none yet.
        are_distinct: Whether only the best of several passages with the same text is found.

    Returns:
        The first ranking, best first.

    Raises:
        RunLost: If the run is no longer this worker's.
    """
    with context.trace.stage("retrieval", step_ordinal=step_ordinal) as tally:
        found = await context.passages.find_passages(
            context.run,
            query.text,
            query.vector,
            method=query.method,
            depth=depth,
            signal=query.signal,
            are_chosen=are_chosen,
            asked_vector=query.asked_vector,
            are_distinct=are_distinct,
        )
        tally.rows = len(found)
        tally.note = f"{query.method}: {query.text}" if context.said else query.method
    return found


async def find_for_each(
    context: RunContext, embedder: Embedder, queries: Sequence[str], *, depth: int
) -> list[list[Found]]:
    """Search with each of several queries, by settings["method"].

    One after the other, because each search locks the run's row: concurrent searches would wait for each other, and
    each would hold one of the few connections of all runs.

    Args:
        context: The run.
        embedder: The corpus's model.
        queries: Any number.
        depth: Most passages of each, from 1.

    Returns:
        For each query its passages, best first.

    Raises:
        EmbeddingError: If the queries could not be embedded.
        RunLost: If the run is no longer this worker's.
    """
    method = context.run.settings["method"]
    vectors = [None] * len(queries) if method == "lexical" else await embedder.encode(queries)
    return [
        await context.passages.find_passages(context.run, query, vector, method=method, depth=depth)
        for query, vector in zip(queries, vectors, strict=True)
    ]


class Exploration:
    """Scores passages, alternately from the first ranking and from the neighbors of scored ones, to the end.

    If both signals score, a passage gets a share of the score of the passage that led to it: see
    `pgclarify.algorithms.credit`.

    Args:
        context: The run.
        query: The query of the first stage; with a signal, neighbors are scored by it.
        first: The first ranking, best first.
        scorer: Scores a batch: the result of `scorer_of`.
        max_passages: Most passages to score, from 1.
        batch_size: Most passages of a batch, from 1.
        k: Most neighbors of each passage, from 0; 0 means reranking only.
        rescore: Changes the scores of a batch, given its passages; None changes nothing.
        step_ordinal: The step of an investigation, from 1.
        are_distinct: Whether a neighbor with the text of a known passage is left out, as `find_first` leaves it out.

    Source: SUNAR, Algorithm 1.
    """

    def __init__(
        self,
        context: RunContext,
        query: Query,
        *,
        first: Sequence[Found],
        scorer: Scorer,
        max_passages: int,
        batch_size: int = BATCH_SIZE,
        k: int = NEIGHBORS,
        rescore: Rescorer | None = None,
        step_ordinal: int | None = None,
        are_distinct: bool = True,
    ) -> None:
        self._context = context
        self._query = query
        self._scorer = scorer
        self._k = k
        self._rescore = rescore
        self._step_ordinal = step_ordinal
        self._known = {one.passage.passage_id: one for one in first}
        self._ranking = set(self._known)
        self._are_distinct = are_distinct
        self._texts = {bare_text(one.passage.content) for one in first}
        self._explorer = Explorer(list(self._known), budget=max_passages, batch_size=batch_size)
        self._number = 0
        # The batch of each issued passage, and the score of each scored one.
        self._batches: dict[int, int] = {}
        self._scores: dict[int, float] = {}
        # The scores before rescoring.
        self._relevance: dict[int, float] = {}

    async def carry_out(self) -> list[Candidate]:
        """Return the scored passages, by score, ranked from 1; nothing is recorded.

        Raises:
            CompletionError: If the scorer called a model that gave no score.
            EmbeddingError: If the scorer's own model failed.
            RunLost: If the run is no longer this worker's.
        """
        waiting: list[int] = []
        while ids := self._explorer.next_batch():
            self._number += 1
            self._batches.update(dict.fromkeys(ids, self._number))
            await self._score(ids)
            waiting += ids
            # After a batch of neighbors, the first ranking has its turn, as long as it has passages left. So one
            # statement looks up the neighbors of two batches.
            if self._explorer.led_by(ids[0]) is None or self._batches.keys() >= self._ranking:
                await self._observe(waiting)
                waiting = []
        await self._observe(waiting)
        return [self._candidate(rank, one) for rank, one in enumerate(self._explorer.results(), start=1)]

    async def _observe(self, ids: Sequence[int]) -> None:
        """Pass scores to the explorer, with the neighbors of the passages if more can be scored."""
        edges = await self._neighbors(ids) if self._k and ids and self._explorer.budget_left else {}
        self._explorer.observe({passage_id: self._scores[passage_id] for passage_id in ids}, edges)

    async def _neighbors(self, ids: Sequence[int]) -> Mapping[int, Sequence[int]]:
        with self._context.trace.stage("neighbors", batch=self._number, step_ordinal=self._step_ordinal) as tally:
            near = await self._context.passages.find_neighbors(
                self._context.run,
                [self._known[passage_id].passage for passage_id in ids],
                k=self._k,
                known=self._known,
                query=self._query.text,
                vector=self._query.vector,
                signal=self._query.signal,
            )
            tally.rows = len(near.passages)
        for one in near.passages:
            text = bare_text(one.passage.content)
            if not self._are_distinct or text not in self._texts:
                self._texts.add(text)
                self._known[one.passage.passage_id] = one
        return {
            passage_id: [near_id for near_id in near_ids if near_id in self._known]
            for passage_id, near_ids in near.edges.items()
        }

    async def _score(self, ids: Sequence[int]) -> None:
        found = [self._known[passage_id] for passage_id in ids]
        with self._context.trace.stage("reranking", batch=self._number, step_ordinal=self._step_ordinal) as tally:
            scores = await self._scorer(found, tally)
            tally.rows = len(scores)
        if self._k and self._query.signal == "both":
            leads = [self._explorer.led_by(passage_id) for passage_id in ids]
            scores = [
                credit(score, None if lead is None else self._relevance[lead])
                for score, lead in zip(scores, leads, strict=True)
            ]
        self._relevance.update(zip(ids, scores, strict=True))
        if self._rescore is not None:
            scores = await self._rescore([one.passage for one in found], scores)
        self._scores.update(zip(ids, scores, strict=True))

    def _candidate(self, rank: int, explored: Explored[int]) -> Candidate:
        found, via = self._known[explored.id], self._explorer.led_by(explored.id)
        return Candidate(
            rank=rank,
            passage=found.passage,
            score=explored.score,
            # A passage of the first ranking may also be a neighbor.
            origin=found.origin if via is None else "neighbor",
            via_passage_id=via,
            batch=self._batches[explored.id],
            step_ordinal=self._step_ordinal,
        )
