"""Verdict-guided exploration: the verdicts so far decide which passages are judged next, and when to stop.

docs/methods/verified-diversification.md gives the reasons and the measurements.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Sequence
from typing import TypeAlias

from pgclarify.algorithms.exploration import Explorer
from pgclarify.algorithms.fusion import fuse
from pgclarify.data.candidates import Candidate, Found
from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Verdict
from pgclarify.data.vocabulary import Outcome
from pgclarify.language.numbers import counted
from pgclarify.ledger.completions import cause_of
from pgclarify.operations.clarification.interpretations import Grounded, group, vectors_of
from pgclarify.operations.clarification.relaxation import relax
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.verdicts import PassageJudge
from pgclarify.operations.retrieval.first_stage import FirstStage

# The first batch is judged while the question is being relaxed, so it costs no time. The size of a later batch depends
# on the number of passages before it. Usually it is a third of that number, because the batch may be the last. It is
# the same number if there is no reading yet. It is three times the number if at least half of the latest verdicts
# showed new readings, because then the batch is hardly the last.
_FIRST_BATCH, _LEAST_BATCH = 8, 3
_GROWTH, _SILENT_GROWTH, _RICH_GROWTH = 1 / 3, 1.0, 3.0
# How many neighbors of a grounded passage are considered.
_NEIGHBORS = 8
# The first ranking and the neighbors each have half of a batch.
_NEIGHBORS_SHARE = 0.5
# The next batch may begin when this share of verdicts has arrived, and the others have had this many times the time so
# far. A model is fast with abstentions, so the late verdicts are those with readings.
_ENOUGH = 0.75
_GRACE = 2.0
_Judged: TypeAlias = tuple[Candidate, Verdict]

# The scores that the neighbors of a passage get from its verdict.
_NEW_READING, _KNOWN_READING, _NO_READING = 2.0, 1.0, 0.0


class GuidedExploration:
    """One exploration, for one run.

    The first batch comes from the ranking by the question itself, and is judged while the question is being relaxed.
    Later batches come from that ranking fused with the ranking by the relaxed question, and from the neighbors of
    grounded passages: first those with a new reading, then those with a known one. Exploration ends when a batch adds
    no new reading, max_passages is reached, or no passage is left. While there is no reading at all, it continues. If
    the first batch reaches max_passages, the question is not relaxed.

    A reading is new if consolidation of all verdicts so far gives it a group of its own.

    Args:
        context: The run; settings["max_passages"] is the most verdicts, settings["top_k"] if it is not set.
        first_stage: Ranks passages for a question.
        judge: Judges passages.
    """

    def __init__(self, context: RunContext, first_stage: FirstStage, judge: PassageJudge) -> None:
        self._context = context
        self._run = context.run
        self._passages = context.stores.passages
        self._trace = context.trace
        self._first_stage = first_stage
        self._judge = judge
        self._max_passages: int = self._run.settings.get("max_passages", self._run.settings["top_k"])
        self._explorer: Explorer[int] = Explorer([], budget=self._max_passages, batch_size=self._max_passages)
        # Passages of the first ranking, and neighbors.
        self._ranked: dict[int, Found] = {}
        self._near: dict[int, Found] = {}
        self._chosen: dict[int, Candidate] = {}
        self._growth = _SILENT_GROWTH
        self._batch = 0
        self._in_batch = 0
        self._in_flight = 0
        # Replies that have arrived and whose verdicts are not made yet.
        self._heard = 0
        # Verdicts in the order of arrival; the first ones have been observed.
        self._landed: list[_Judged] = []
        self._observed = 0
        self._has_landed = asyncio.Event()

    async def carry_out(self) -> list[_Judged]:
        """Explore to the end, and wait for all requested verdicts.

        Returns:
            By rank, which is the order in which they were chosen.

        Raises:
            CompletionError: If the question could not be relaxed, or the reranker failed.
            EmbeddingError: If the question could not be embedded.
            RunLost: If the run is no longer this worker's; calls in flight are cancelled.
            DatabaseError: If the store fails.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._explore(tasks)
        except BaseExceptionGroup as group_of_errors:
            raise cause_of(group_of_errors) from group_of_errors
        return sorted(self._landed, key=lambda pair: pair[0].rank)

    async def _explore(self, tasks: asyncio.TaskGroup) -> None:
        # If the first batch can reach max_passages, the question may not need relaxing.
        relaxing = tasks.create_task(relax(self._context)) if self._max_passages > _FIRST_BATCH else None
        ranking = await self._first_stage.rank(self._run.question)
        self._take_ranking(ranking)
        await self._begin_batch(tasks)
        if self._explorer.budget_left:
            relaxed = await (relax(self._context) if relaxing is None else relaxing)
            if relaxed != self._run.question:
                self._take_ranking(ranking, await self._first_stage.rank(relaxed))
        while self._explorer.budget_left:
            if self._in_batch and not await self._goes_on():
                return
            while not await self._begin_batch(tasks):
                if self._is_settled:
                    self._trace.stop_reason = "no passage was left"
                    return
                # Late verdicts may lead to more passages.
                await self._await_landing()
                await self._observe(list(self._landed))
        self._trace.stop_reason = f"the limit of {counted(self._max_passages, 'verdict')} was reached"

    @property
    def _is_settled(self) -> bool:
        """Whether all requested verdicts have arrived and been observed."""
        return not self._in_flight and self._observed == len(self._landed)

    def _take_ranking(self, *rankings: Sequence[Found]) -> None:
        for found in rankings:
            for one in found:
                self._ranked.setdefault(one.passage.passage_id, one)
        if self._first_stage.is_reranked:
            ids = sorted(self._ranked, key=lambda passage_id: -self._ranked[passage_id].score)
        else:
            ids = fuse(*([one.passage.passage_id for one in found] for found in rankings))
        self._explorer.rank_anew(ids)

    async def _begin_batch(self, tasks: asyncio.TaskGroup) -> bool:
        """Start judging the next passages in a new task; False if there are none."""
        while passage_ids := self._next_passages():
            self._batch += 1
            candidates = self._choose(passage_ids)
            kept = set(await self._passages.record_candidates(self._run, candidates))
            # Passages that are gone by now no longer count in max_passages.
            self._explorer.give_back([one.passage.passage_id for one in candidates if one.rank not in kept])
            candidates = [candidate for candidate in candidates if candidate.rank in kept]
            if candidates:
                self._in_batch = len(candidates)
                self._in_flight += len(candidates)
                tasks.create_task(self._judge_batch(self._batch, candidates))
                return True
        return False

    def _next_passages(self) -> list[int]:
        judged = len(self._chosen)
        size = max(_LEAST_BATCH, math.ceil(self._growth * judged)) if judged else _FIRST_BATCH
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

    async def _judge_batch(self, batch: int, candidates: Sequence[Candidate]) -> None:
        await self._judge.judge(candidates, self._land, batch=batch, hear=self._hear)

    def _hear(self, _: Candidate) -> None:
        self._heard += 1

    def _land(self, candidate: Candidate, verdict: Verdict) -> None:
        self._landed.append((candidate, verdict))
        self._in_flight -= 1
        self._heard -= 1
        self._has_landed.set()

    async def _await_landing(self) -> None:
        """Wait for a verdict that was not observed yet."""
        while self._observed == len(self._landed):
            self._has_landed.clear()
            await self._has_landed.wait()

    async def _goes_on(self) -> bool:
        """Wait until the last batch shows whether another one is worthwhile; if so, observe its verdicts."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        were_awaited = False
        while True:
            self._has_landed.clear()
            # A snapshot, because more verdicts arrive during the check.
            landed = list(self._landed)
            batch = self._of_last_batch(landed)
            is_all = len(batch) == self._in_batch
            # Verdicts whose replies are here are ready soon. Waiting for them makes a repeated run, whose replies all
            # come from the ledger, take the same way.
            if not self._heard and len(batch) >= max(1, int(_ENOUGH * self._in_batch)):
                if not is_all and not were_awaited:
                    were_awaited = True
                    await self._await_last_batch(_GRACE * (loop.time() - began))
                    continue
                have_failed = all(verdict.outcome is Outcome.FAILED for verdict in batch)
                clusters = await self._clusters(landed)
                news = sum(len(places) for places in clusters if self._are_of_last_batch(landed, places))
                # Without any reading it continues, whatever the late verdicts are.
                if news or not (clusters or have_failed):
                    await self._observe(landed, clusters)
                    self._growth = _growth(len(batch), news, is_silent=not clusters)
                    return True
                if is_all:
                    self._trace.stop_reason = (
                        "every verdict of the last batch failed"
                        if have_failed
                        else "the last batch added no new reading"
                    )
                    return False
            await self._has_landed.wait()

    async def _await_last_batch(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while len(self._of_last_batch(self._landed)) < self._in_batch:
                    self._has_landed.clear()
                    await self._has_landed.wait()

    def _of_last_batch(self, landed: Sequence[_Judged]) -> list[Verdict]:
        return [verdict for candidate, verdict in landed if candidate.batch == self._batch]

    def _are_of_last_batch(self, landed: Sequence[_Judged], places: Sequence[int]) -> bool:
        return all(landed[place][0].batch == self._batch for place in places)

    async def _clusters(self, landed: Sequence[_Judged]) -> list[list[int]]:
        """Group the readings so far: for each group, the places of its verdicts in the given list."""
        places = [place for place, (_, verdict) in enumerate(landed) if verdict.outcome is Outcome.GROUNDED]
        grounded = [(landed[place][0].passage, landed[place][1]) for place in places]
        clusters = await group(self._run, [Grounded.of(*pair) for pair in grounded], vectors_of(grounded))
        return [[places[member] for member in cluster.members] for cluster in clusters]

    async def _observe(self, landed: Sequence[_Judged], clusters: Sequence[Sequence[int]] | None = None) -> None:
        """Pass the new verdicts, and the neighbors of grounded passages, to the explorer."""
        scores = [_NO_READING] * len(landed)
        for places in await self._clusters(landed) if clusters is None else clusters:
            for place in places:
                scores[place] = _NEW_READING if min(places) >= self._observed else _KNOWN_READING
        fresh = {
            candidate.passage.passage_id: (candidate.passage, score)
            for (candidate, _), score in zip(landed[self._observed :], scores[self._observed :], strict=True)
        }
        answering = [passage for passage, score in fresh.values() if score != _NO_READING]
        edges = await self._neighbors(answering) if answering else {}
        self._explorer.observe({passage_id: score for passage_id, (_, score) in fresh.items()}, edges)
        self._observed = len(landed)

    async def _neighbors(self, passages: Sequence[Passage]) -> dict[int, Sequence[int]]:
        with self._trace.stage("neighbors", batch=self._batch) as tally:
            near = await self._passages.find_neighbors(
                self._run,
                passages,
                k=_NEIGHBORS,
                known=[*self._chosen, *self._near],
                query=self._run.question,
                vector=None,
            )
            tally.rows = len(near.passages)
        self._near.update((one.passage.passage_id, one) for one in near.passages)
        return dict(near.edges)


def _growth(verdicts: int, news: int, *, is_silent: bool) -> float:
    if is_silent:
        return _SILENT_GROWTH
    return _RICH_GROWTH if news >= verdicts / 2 else _GROWTH
