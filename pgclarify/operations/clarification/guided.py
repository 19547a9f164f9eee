"""Verdict-guided exploration: the verdicts so far decide which passages are judged next, and when to stop.

docs/methods/verified-diversification.md gives the reasons and the measurements.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from pgclarify.algorithms.exploration import Explorer
from pgclarify.algorithms.fusion import fuse
from pgclarify.data.candidates import Candidate, Found
from pgclarify.data.counting import counted
from pgclarify.data.documents import Passage, bare_text
from pgclarify.data.verdicts import Verdict
from pgclarify.data.vocabulary import Outcome
from pgclarify.ledger.tasks import cause_of
from pgclarify.operations.clarification.interpretations import Grounded, group, vectors_of
from pgclarify.operations.clarification.relaxation import relax
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.verdicts import PassageJudge
from pgclarify.operations.retrieval.first_stage import FirstStage

# The size of a later batch depends on the number of passages before it. Usually it is a third of that number, because
# the batch may be the last. It is the same number if there is no reading yet. It is three times the number if at least
# half of the latest verdicts showed new readings, because then the batch is hardly the last.
FIRST_BATCH, _LEAST_BATCH = 8, 3
_GROWTH, _SILENT_GROWTH, _RICH_GROWTH = 1 / 3, 1.0, 3.0
# How many neighbors of a grounded passage are considered.
_NEIGHBORS = 8
# The first ranking and the neighbors each have half of a batch.
_NEIGHBORS_SHARE = 0.5
_Judged: TypeAlias = tuple[Candidate, Verdict]

# The scores that the neighbors of a passage get from its verdict.
_NEW_READING, _KNOWN_READING, _NO_READING = 2.0, 1.0, 0.0


class GuidedExploration:
    """One exploration, for one run.

    The first batch comes from the ranking by the question itself. Later batches come from that ranking, and from the
    neighbors of grounded passages: first those with a new reading, then those with a known one. Exploration ends when a
    batch adds no new reading, max_passages is reached, or no passage is left. While there is no reading at all, it
    continues.

    With settings["relax"], the question is relaxed while the first batch is judged, unless that batch can reach
    max_passages. The ranking by the relaxed question is fused with the first one.

    A reading is new if consolidation of all verdicts so far gives it a group of its own.

    Args:
        context: The run; settings["max_passages"] is the most verdicts, settings["top_k"] if it is not set.
        first_stage: Ranks passages for a question.
        judge: Judges passages.
    """

    def __init__(self, context: RunContext, first_stage: FirstStage, judge: PassageJudge) -> None:
        self._context = context
        self._run = context.run
        self._passages = context.passages
        self._trace = context.trace
        self._first_stage = first_stage
        self._judge = judge
        self._max_passages: int = self._run.settings.get("max_passages", self._run.settings["top_k"])
        self._explorer: Explorer[int] = Explorer([], budget=self._max_passages, batch_size=self._max_passages)
        # Passages of the first ranking, and neighbors.
        self._ranked: dict[int, Found] = {}
        self._near: dict[int, Found] = {}
        # For each text its first passage, and for each passage the first one of its text, which speaks for it.
        self._texts: dict[str, int] = {}
        self._first: dict[int, int] = {}
        self._chosen: dict[int, Candidate] = {}
        self._growth = _SILENT_GROWTH
        self._batch = 0
        # By rank.
        self._judged: list[_Judged] = []

    async def carry_out(self) -> list[_Judged]:
        """Explore to the end.

        Returns:
            By rank, which is the order in which they were chosen.

        Raises:
            CompletionError: If the question could not be relaxed, or the reranker failed.
            EmbeddingError: If the question could not be embedded.
            RunLost: If the run is no longer this worker's; calls in flight go on without it.
            DatabaseError: If the store fails.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                relaxes = self._run.settings.get("relax") and self._max_passages > FIRST_BATCH
                relaxing = tasks.create_task(relax(self._context)) if relaxes else None
                ranking = await self._first_stage.rank(self._context.search_text)
                self._take_ranking(ranking)
                judging = tasks.create_task(self._judge_batch(await self._next_batch()))
                if relaxing is not None and (relaxed := await relaxing) != self._context.search_text:
                    self._take_ranking(ranking, await self._first_stage.rank(relaxed))
        except BaseExceptionGroup as group_of_errors:
            raise cause_of(group_of_errors) from group_of_errors
        await self._explore(judging.result())
        return self._judged

    async def _explore(self, latest: Sequence[_Judged]) -> None:
        """Judge further batches as long as the latest one shows that this is worthwhile."""
        while self._explorer.budget_left:
            if latest and not await self._goes_on(latest):
                return
            batch = await self._next_batch()
            if not batch:
                self._trace.stop_reason = "no passage was left"
                return
            latest = await self._judge_batch(batch)
        self._trace.stop_reason = f"the limit of {counted(self._max_passages, 'verdict')} was reached"

    def _take_ranking(self, *rankings: Sequence[Found]) -> None:
        for found in rankings:
            for one in found:
                self._ranked.setdefault(self._first_of(one.passage), one)
        if self._first_stage.is_reranked:
            ids = sorted(self._ranked, key=lambda passage_id: -self._ranked[passage_id].score)
        else:
            ids = fuse(*([self._first_of(one.passage) for one in found] for found in rankings))
        self._explorer.rank_anew(ids)

    def _first_of(self, passage: Passage) -> int:
        """Return the passage that stands for all passages with the same text: the first that was found."""
        first = self._texts.setdefault(bare_text(passage.content), passage.passage_id)
        self._first[passage.passage_id] = first
        return first

    async def _next_batch(self) -> list[Candidate]:
        """Choose and record the next candidates; none if no passage is left."""
        while passage_ids := self._next_passages():
            self._batch += 1
            candidates = self._choose(passage_ids)
            kept = set(await self._passages.record_candidates(self._run, candidates))
            # Passages that are gone by now no longer count in max_passages.
            self._explorer.give_back([one.passage.passage_id for one in candidates if one.rank not in kept])
            candidates = [candidate for candidate in candidates if candidate.rank in kept]
            if candidates:
                return candidates
        return []

    def _next_passages(self) -> list[int]:
        judged = len(self._chosen)
        size = max(_LEAST_BATCH, math.ceil(self._growth * judged)) if judged else FIRST_BATCH
        # Neighbors come first, if there are any. The first ranking gets the rest, or whichever still has passages.
        share = _NEIGHBORS_SHARE if self._near else 1
        passage_ids = self._explorer.next_batch(math.ceil(share * size))
        while len(passage_ids) < size and (more := self._explorer.next_batch(size - len(passage_ids))):
            passage_ids += more
        return passage_ids

    def _choose(self, passage_ids: Sequence[int]) -> list[Candidate]:
        candidates = []
        for passage_id in passage_ids:
            via = self._explorer.led_by(passage_id)
            found = self._ranked[passage_id] if via is None else self._near[passage_id]
            candidate = Candidate(
                rank=len(self._chosen) + 1,
                passage=found.passage,
                score=found.score,
                origin=found.origin,
                via_passage_id=via,
                batch=self._batch,
            )
            self._chosen[passage_id] = candidate
            candidates.append(candidate)
        return candidates

    async def _judge_batch(self, candidates: Sequence[Candidate]) -> list[_Judged]:
        judged = await self._judge.judge(candidates, batch=self._batch) if candidates else []
        self._judged += judged
        return judged

    async def _goes_on(self, latest: Sequence[_Judged]) -> bool:
        """Tell whether another batch is worthwhile. If so, pass the latest verdicts to the explorer."""
        before = len(self._judged) - len(latest)
        clusters = await self._clusters()
        news = sum(len(places) for places in clusters if min(places) >= before)
        have_failed = all(verdict.outcome is Outcome.FAILED for _, verdict in latest)
        # Without any reading it continues.
        if not news and (clusters or have_failed):
            self._trace.stop_reason = (
                "every verdict of the last batch failed" if have_failed else "the last batch added no new reading"
            )
            return False
        scores = dict.fromkeys(range(before, len(self._judged)), _NO_READING)
        for places in clusters:
            score = _NEW_READING if min(places) >= before else _KNOWN_READING
            scores.update((place, score) for place in places if place >= before)
        fresh: dict[int, float] = {}
        for place, score in scores.items():
            # A passage may have several readings.
            passage_id = self._judged[place][0].passage.passage_id
            fresh[passage_id] = max(score, fresh.get(passage_id, _NO_READING))
        judged = {one.passage.passage_id: one.passage for one, _ in latest}
        answering = [passage for passage_id, passage in judged.items() if fresh[passage_id] != _NO_READING]
        self._explorer.observe(fresh, await self._neighbors(answering) if answering else {})
        self._growth = _growth(len(judged), news, is_silent=not clusters)
        return True

    async def _clusters(self) -> list[list[int]]:
        """Group the readings so far: for each group, the places of its verdicts."""
        places = [place for place, (_, verdict) in enumerate(self._judged) if verdict.outcome is Outcome.GROUNDED]
        grounded = [(self._judged[place][0].passage, self._judged[place][1]) for place in places]
        clusters = await group(self._run, [Grounded.of(*pair) for pair in grounded], vectors_of(grounded))
        return [[places[member] for member in cluster.members] for cluster in clusters]

    async def _neighbors(self, passages: Sequence[Passage]) -> dict[int, Sequence[int]]:
        with self._trace.stage("neighbors", batch=self._batch) as tally:
            near = await self._passages.find_neighbors(
                self._run,
                passages,
                k=_NEIGHBORS,
                known=[*self._chosen, *self._near, *(one for one, first in self._first.items() if one != first)],
                query=self._run.question,
                vector=None,
            )
            tally.rows = len(near.passages)
        for one in near.passages:
            first = self._first_of(one.passage)
            ranked = self._ranked.get(first)
            self._near.setdefault(first, one if ranked is None else replace(one, passage=ranked.passage))
        return {one: [self._first[neighbor] for neighbor in found] for one, found in near.edges.items()}


def _growth(verdicts: int, news: int, *, is_silent: bool) -> float:
    if is_silent:
        return _SILENT_GROWTH
    return _RICH_GROWTH if news >= verdicts / 2 else _GROWTH
