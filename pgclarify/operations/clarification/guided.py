"""Verdict-guided exploration: what the verdicts on some passages say decides which are judged next, and whether any.

docs/methods/verdict-guided-exploration.md tells why, and what was measured.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Sequence
from typing import TypeAlias

from pgclarify.algorithms import Explorer, fuse
from pgclarify.language.numbers import counted
from pgclarify.ledger.completions import cause_of
from pgclarify.model import Candidate, Found, Passage, Run, Verdict
from pgclarify.operations.clarification.interpretations import Grounded, group, vectors_of
from pgclarify.operations.clarification.relaxation import relax
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.verdicts import PassageJudge
from pgclarify.operations.retrieval.first_stage import FirstStage
from pgclarify.vocabulary import Outcome

# The first batch is judged while the question is being relaxed, so that it costs no time. How large the next one is,
# beside all before it: a little, since it may be the last; as large if there is no reading yet, since then it is not;
# larger if at least half of the last verdicts showed something new, since then it hardly is.
_FIRST_BATCH, _LEAST_BATCH = 8, 3
_GROWTH, _SILENT_GROWTH, _RICH_GROWTH = 1 / 3, 1.0, 3.0
# How many neighbors of a grounded passage are followed.
_NEIGHBORS = 8
# Of the first ranking and of the neighbors, each has half of a batch.
_NEIGHBORS_SHARE = 0.5
# With this share of a batch's verdicts, the next one may begin; but first the others have so many times the time that
# it took so far. A model is soon done with an abstention, and it is those with a reading that are late.
_ENOUGH = 0.75
_GRACE = 2.0
_Judged: TypeAlias = tuple[Candidate, Verdict]

# What a verdict says for the neighbors of its passage.
_NEW_READING, _KNOWN_READING, _NO_READING = 2.0, 1.0, 0.0


class GuidedExploration:
    """One exploration, for one run.

    The first batch is judged while the question is being relaxed: it is taken from the ranking by the question itself.
    All others are taken from that ranking fused with the one by the relaxed question, and from the neighbors of
    grounded passages: first of those that showed a new reading, then of those that showed a known one. It ends when a
    batch has added no new reading to those that were there, or the budget is spent, or no passage is left. As long as
    there is no reading at all, it goes on. If the first batch spends the budget, the question is not relaxed.

    What counts as new is what consolidation says of all verdicts so far: a reading in a group of its own.

    Args:
        context: The run; settings["budget"] is the most verdicts, settings["top_k"] if it is not set.
        first_stage: What ranks passages for a question.
        judge: Who judges them.
    """

    def __init__(self, context: RunContext, first_stage: FirstStage, judge: PassageJudge) -> None:
        self._context = context
        self._run = context.run
        self._passages = context.stores.passages
        self._trace = context.trace
        self._first_stage = first_stage
        self._judge = judge
        self._budget: int = self._run.settings.get("budget", self._run.settings["top_k"])
        self._explorer: Explorer[int] = Explorer([], budget=self._budget, batch_size=self._budget)
        # As the first ranking has them, and as neighbors of something.
        self._ranked: dict[int, Found] = {}
        self._near: dict[int, Found] = {}
        self._chosen: dict[int, Candidate] = {}
        self._growth = _SILENT_GROWTH
        self._batch = 0
        self._in_batch = 0
        self._in_flight = 0
        # Replies of which the verdict is yet to be made.
        self._heard = 0
        # In the order in which they landed; the first so many have been observed.
        self._landed: list[_Judged] = []
        self._observed = 0
        self._has_landed = asyncio.Event()

    async def carry_out(self) -> list[_Judged]:
        """Explore to the end, and wait for all verdicts that were asked for.

        Returns:
            By rank, which is the order in which they were chosen.

        Raises:
            CompletionError: If the question could not be relaxed, or passages not be reranked.
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
        # A budget that one batch can spend may leave nothing to relax the question for.
        relaxing = tasks.create_task(relax(self._context)) if self._budget > _FIRST_BATCH else None
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
                # Those that are late may know of more.
                await self._await_landing()
                await self._observe(list(self._landed))
        self._trace.stop_reason = f"the budget of {counted(self._budget, 'verdict')} was spent"

    @property
    def _is_settled(self) -> bool:
        """Whether all verdicts that were asked for are there and have been observed."""
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
        """Have the next passages judged, in a task of their own; False if there are none."""
        while passage_ids := self._next_passages():
            self._batch += 1
            candidates = self._choose(passage_ids)
            kept = set(await self._passages.record_candidates(self._run, candidates))
            # Of those that are gone by now, nothing is to be seen any more: others have their share of the budget.
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
        # Where there are neighbors, it is their turn; the first ranking has the rest, or whichever has any left.
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
        """Wait for a verdict that has not been observed."""
        while self._observed == len(self._landed):
            self._has_landed.clear()
            await self._has_landed.wait()

    async def _goes_on(self) -> bool:
        """Wait until the last batch says whether a further one is worth it; if it is, see where its verdicts lead."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        were_awaited = False
        while True:
            self._has_landed.clear()
            # As of now: while these are looked at, others land.
            landed = list(self._landed)
            batch = self._of_last_batch(landed)
            is_all = len(batch) == self._in_batch
            # What has been heard of is embedded in no time. Waited for, it leads a run the same way when it is made
            # again with replies that are there at once.
            if not self._heard and len(batch) >= max(1, int(_ENOUGH * self._in_batch)):
                if not is_all and not were_awaited:
                    were_awaited = True
                    await self._await_last_batch(_GRACE * (loop.time() - began))
                    continue
                have_failed = all(verdict.outcome is Outcome.FAILED for verdict in batch)
                clusters = await self._clusters(landed)
                news = sum(len(places) for places in clusters if self._are_of_last_batch(landed, places))
                # Without any reading it goes on, whatever those say that are late.
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
        """Group the readings so far: in each group, the places of its verdicts among those that landed."""
        places = [place for place, (_, verdict) in enumerate(landed) if verdict.outcome is Outcome.GROUNDED]
        grounded = [(landed[place][0].passage.document_id, landed[place][1]) for place in places]
        clusters = await group(self._run, [Grounded.of(*pair) for pair in grounded], vectors_of(grounded))
        return [[places[member] for member in cluster.members] for cluster in clusters]

    async def _observe(self, landed: Sequence[_Judged], clusters: Sequence[Sequence[int]] | None = None) -> None:
        """Tell the explorer what has landed since the last time, and what is near to those that answered."""
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


def least_calls(run: Run, verdicts: int, *, relaxes: bool) -> int:
    """Count the calls that exploring takes at least: the first batch, and the relaxation if it can go on after that.

    Args:
        run: The run; settings as of `GuidedExploration`.
        verdicts: How many different passages the first ranking has.
        relaxes: Whether the completer relaxes questions.
    """
    budget: int = run.settings.get("budget", run.settings["top_k"])
    return min(verdicts, budget, _FIRST_BATCH) + (relaxes and budget > _FIRST_BATCH)


def _growth(verdicts: int, news: int, *, is_silent: bool) -> float:
    if is_silent:
        return _SILENT_GROWTH
    return _RICH_GROWTH if news >= verdicts / 2 else _GROWTH
