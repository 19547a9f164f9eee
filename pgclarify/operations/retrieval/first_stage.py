"""The first ranking of a run, and its candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgclarify.data.candidates import Candidate, Found
from pgclarify.errors import BudgetSpent
from pgclarify.operations.context import RunContext
from pgclarify.operations.retrieval.exploration import Query, find_first, make_query, scorer_of
from pgclarify.protocols import Embedder, Reranker

# VERDICT, §5.1.3: the reranker scores a hundred passages.
RERANKED = 100


def ranked(found: Sequence[Found]) -> list[Candidate]:
    """Make candidates from passages, best first, with ranks from 1."""
    return [Candidate(rank, one.passage, one.score, one.origin) for rank, one in enumerate(found, start=1)]


def left_as_found(refusal: BudgetSpent) -> str:
    """Say why passages have the order of the search although a model should rank them."""
    return f"in the order of the search: {refusal.message}"


class FirstStage:
    """Ranks passages for a run: by its search and, if settings["reranker"] is set, again by that.

    Args:
        context: The run; settings["method"] is dense, lexical or hybrid.
        embedder: The corpus's model; unused if nothing needs the question's vector.
        reranker: Ranks passages again; None for the retrieval signal that the search does not use.
        are_distinct: Whether only the best of several passages with the same text is ranked.
    """

    def __init__(
        self, context: RunContext, embedder: Embedder, reranker: Reranker | None, *, are_distinct: bool = True
    ) -> None:
        self._context = context
        self._embedder = embedder
        self._reranker = reranker
        self._are_distinct = are_distinct
        self._queries: dict[str, Query] = {}
        self._scores: dict[int, float] = {}
        self._is_graded = True

    @property
    def is_reranked(self) -> bool:
        """Whether passages are ranked again; then the scores of two rankings are comparable."""
        settings = self._context.run.settings
        return self._is_graded and settings.get("reranker") is not None

    async def prepare(self, question: str) -> Query:
        """Make the query of a question, or return it: a run can make it while it waits for something else.

        Args:
            question: The run's own, or relaxed.

        Raises:
            EmbeddingError: If it could not be embedded.
        """
        if question not in self._queries:
            by_signal = self.is_reranked and self._reranker is None
            method = self._context.run.settings["method"]
            self._queries[question] = await make_query(self._embedder, question, method, is_scored_by_signal=by_signal)
        return self._queries[question]

    async def choose(self, question: str) -> list[Candidate]:
        """Rank passages, and record the first as candidates.

        These are settings["top_k"] passages, or settings["max_passages"] if that is less.

        Args:
            question: As in `rank`.

        Returns:
            The recorded ones, by rank. Passages that are gone by now cannot be judged or cited.

        Raises:
            CompletionError: As in `rank`.
            EmbeddingError: As in `rank`.
            RunLost: As in `rank`.

        Source: VERDICT, Eq. 7.
        """
        run = self._context.run
        wanted = self._wanted(run.settings.get("max_passages"))
        if not self.is_reranked:
            return ranked(await self._find(question, depth=wanted, are_chosen=True))
        candidates = ranked(await self.rank(question, at_most=wanted))
        kept = set(await self._context.passages.record_candidates(run, candidates))
        return [candidate for candidate in candidates if candidate.rank in kept]

    async def rank(self, question: str, *, at_most: int | None = None) -> list[Found]:
        """Rank passages; nothing is recorded.

        Args:
            question: The text to search with, relaxed or not. A reranker gets the run's own question, and each passage
                once.
            at_most: Most passages; None for settings["top_k"], which is always the limit.

        Returns:
            Best first, with the reranker's score if there is one. If a budget once refuses the reranker's calls, the
            order of the search is used from then on.

        Raises:
            CompletionError: If the reranker called a model that gave no score.
            EmbeddingError: If a model on this machine failed.
            RunLost: If the run is no longer this worker's.

        Source: VERDICT, Eq. 7 and §5.1.3.
        """
        wanted = self._wanted(at_most)
        if not self.is_reranked:
            return await self._find(question, depth=wanted)
        depth = max(RERANKED, self._wanted())
        found = await self._find(question, depth=depth)
        reranked = await self._rerank(found)
        return reranked[:wanted]

    def _wanted(self, at_most: int | None = None) -> int:
        top_k: int = self._context.run.settings["top_k"]
        return top_k if at_most is None else min(top_k, at_most)

    async def _find(self, question: str, *, depth: int, are_chosen: bool = False) -> list[Found]:
        # Groups of questions with the same meaning compare the question as it was asked.
        asked = await self.prepare(self._context.run.question)
        query = await self.prepare(question)
        if query is not asked:
            query = replace(query, asked_vector=asked.vector)
        return await find_first(
            self._context, query, depth=depth, are_chosen=are_chosen, are_distinct=self._are_distinct
        )

    async def _rerank(self, found: list[Found]) -> list[Found]:
        scorer = scorer_of(self._reranker, self._context.run.question)
        new = [one for one in found if one.passage.passage_id not in self._scores]
        with self._context.trace.stage("reranking") as tally:
            try:
                scores = await scorer(new, tally)
            except BudgetSpent as refusal:
                self._is_graded = False
                tally.note = left_as_found(refusal)
                return found
            tally.rows = len(scores)
        for one, score in zip(new, scores, strict=True):
            self._scores[one.passage.passage_id] = score
        scored = [replace(one, score=self._scores[one.passage.passage_id]) for one in found]
        # The sort is stable, so that the order of the search decides among equals.
        return sorted(scored, key=lambda one: -one.score)
