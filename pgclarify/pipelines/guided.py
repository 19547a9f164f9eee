"""Verdict-guided exploration: what the verdicts on some passages say decides which are judged next, and whether any.

docs/methods/verdict-guided-exploration.md tells why, and what was measured.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from pgclarify.algorithms import Explorer, fuse
from pgclarify.model import Candidate, Found, Outcome, Passage, Run, Verdict
from pgclarify.pipelines.completions import cause_of
from pgclarify.pipelines.first_stage import FirstStage
from pgclarify.pipelines.interpretations import Grounded, group, vectors_of
from pgclarify.pipelines.judging import Judge
from pgclarify.pipelines.trace import Trace
from pgclarify.protocols import ExplorationStore

# The first batch; each further one is as large as all before it, so that a long exploration has few rounds.
FIRST_BATCH = 5
# How many neighbors of a grounded passage are followed.
NEIGHBORS = 8
# Of the first ranking and of the neighbors, each has half of a batch.
_NEIGHBORS_SHARE = 0.5
# With this share of a batch's verdicts, the next one may begin; but first the others have a quarter of the time that it
# took so far, since those that are about to land are no stragglers.
_ENOUGH = 0.75
_GRACE = 0.25
# What a verdict says for the neighbors of its passage.
_NEW_READING, _KNOWN_READING, _NO_READING = 2.0, 1.0, 0.0


class GuidedExploration:
    """One exploration, for one run.

    The first batch is judged while the question is being relaxed: it is taken from the ranking by the question itself.
    All others are taken from that ranking fused with the one by the relaxed question, and from the neighbors of
    grounded passages: first of those that showed a new reading, then of those that showed a known one. It ends when a
    batch has added no new reading to those that were there, or the budget is spent, or no passage is left. As long as
    there is no reading at all, it goes on.

    What counts as new is what consolidation says of all verdicts so far: a reading in a group of its own.

    Args:
        run: The run; settings["budget"] is the most verdicts, settings["top_k"] if it is not set.
        passages: Where the passages and their neighbors are, and the candidates go.
        first_stage: What ranks passages for a question.
        judge: Who judges them.
        trace: Where the stages are noted, and why it ended.
    """

    def __init__(
        self, run: Run, passages: ExplorationStore, first_stage: FirstStage, judge: Judge, trace: Trace
    ) -> None:
        self._run = run
        self._passages = passages
        self._first_stage = first_stage
        self._judge = judge
        self._trace = trace
        self._budget: int = run.settings.get("budget", run.settings["top_k"])
        self._explorer: Explorer[int] = Explorer([], budget=self._budget, batch_size=self._budget)
        # As the first ranking has them, and as neighbors of something.
        self._ranked: dict[int, Found] = {}
        self._near: dict[int, Found] = {}
        self._chosen: dict[int, Candidate] = {}
        self._batch = 0
        self._in_batch = 0
        self._in_flight = 0
        # In the order in which they landed; the first so many have been observed.
        self._landed: list[tuple[Candidate, Verdict]] = []
        self._observed = 0
        self._has_landed = asyncio.Event()

    async def carry_out(self, relax: Callable[[], Coroutine[Any, Any, str]]) -> list[tuple[Candidate, Verdict]]:
        """Explore to the end, and wait for all verdicts that were asked for.

        Args:
            relax: Gives the relaxed question.

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
                await self._explore(tasks, relax)
        except BaseExceptionGroup as group_of_errors:
            raise cause_of(group_of_errors) from group_of_errors
        return sorted(self._landed, key=lambda pair: pair[0].rank)

    async def _explore(self, tasks: asyncio.TaskGroup, relax: Callable[[], Coroutine[Any, Any, str]]) -> None:
        relaxing = tasks.create_task(relax())
        ranking = await self._first_stage.rank(self._run.question)
        self._take_ranking(ranking)
        await self._begin_batch(tasks)
        relaxed = await relaxing
        if relaxed != self._run.question:
            self._take_ranking(ranking, await self._first_stage.rank(relaxed))
        while self._explorer.budget_left:
            if self._batch and not await self._goes_on():
                return
            if not await self._begin_batch(tasks) and self._is_settled:
                self._trace.stop_reason = "no passage was left"
                return
        self._trace.stop_reason = f"the budget of {self._budget} verdicts was spent"

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
            # Of those that are gone by now, nothing is to be seen any more.
            candidates = [candidate for candidate in candidates if candidate.rank in kept]
            if candidates:
                self._in_batch = len(candidates)
                self._in_flight += len(candidates)
                tasks.create_task(self._judge_batch(self._batch, candidates))
                return True
        return False

    def _next_passages(self) -> list[int]:
        handed_out = len(self._chosen)
        size = max(FIRST_BATCH, handed_out)
        # Where there are neighbors, it is their turn; the first ranking has the rest, or whichever has any left.
        passage_ids = self._explorer.next_batch(math.ceil(_NEIGHBORS_SHARE * size))
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
        with self._trace.stage("judgement", batch=batch) as tally:
            await self._judge.judge(candidates, self._land, tally=tally)

    def _land(self, candidate: Candidate, verdict: Verdict) -> None:
        self._landed.append((candidate, verdict))
        self._in_flight -= 1
        self._has_landed.set()

    async def _goes_on(self) -> bool:
        """Wait until the verdicts say whether a further batch is worth it; if it is, see where they lead."""
        began = asyncio.get_running_loop().time()
        is_enough = False
        while True:
            self._has_landed.clear()
            fresh = self._landed[self._observed :]
            if not self._in_flight or len(fresh) >= math.ceil(_ENOUGH * self._in_batch):
                if self._in_flight and not is_enough:
                    is_enough = True
                    await self._await_those_about_to_land(_GRACE * (asyncio.get_running_loop().time() - began))
                    continue
                scores = await self._scores(len(fresh))
                has_readings = any(verdict.outcome is Outcome.GROUNDED for _, verdict in self._landed)
                if _NEW_READING in scores or (not has_readings and not _are_failures(fresh)):
                    await self._observe(fresh, scores)
                    return True
                if not self._in_flight:
                    self._trace.stop_reason = (
                        "every verdict of the last batch failed"
                        if _are_failures(fresh)
                        else "the last batch added no new reading"
                    )
                    return False
            await self._has_landed.wait()

    async def _await_those_about_to_land(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                while self._in_flight:
                    self._has_landed.clear()
                    await self._has_landed.wait()
        except TimeoutError:
            pass

    async def _scores(self, fresh: int) -> list[float]:
        """Say for each verdict that is not observed yet what it says for its passage's neighbors."""
        landed = self._landed[: self._observed + fresh]
        places = [place for place, (_, verdict) in enumerate(landed) if verdict.outcome is Outcome.GROUNDED]
        grounded = [(landed[place][0].passage.document_id, landed[place][1]) for place in places]
        scores = [_NO_READING] * len(landed)
        for cluster in await group(self._run, [Grounded.of(*pair) for pair in grounded], vectors_of(grounded)):
            members = [places[member] for member in cluster.members]
            is_new = min(members) >= self._observed
            for member in members:
                scores[member] = _NEW_READING if is_new else _KNOWN_READING
        return scores[self._observed :]

    async def _observe(self, fresh: Sequence[tuple[Candidate, Verdict]], scores: Sequence[float]) -> None:
        grounded = [pair[0].passage for pair, score in zip(fresh, scores, strict=True) if score != _NO_READING]
        edges = await self._neighbors(grounded) if grounded else {}
        ids = [candidate.passage.passage_id for candidate, _ in fresh]
        self._explorer.observe(dict(zip(ids, scores, strict=True)), edges)
        self._observed += len(fresh)

    async def _neighbors(self, passages: Sequence[Passage]) -> dict[int, Sequence[int]]:
        with self._trace.stage("neighbors", batch=self._batch) as tally:
            near = await self._passages.find_neighbors(
                self._run,
                passages,
                k=NEIGHBORS,
                known=[*self._chosen, *self._near],
                query=self._run.question,
                vector=None,
            )
            tally.rows = len(near.passages)
        self._near.update((one.passage.passage_id, one) for one in near.passages)
        return dict(near.edges)


def _are_failures(fresh: Sequence[tuple[Candidate, Verdict]]) -> bool:
    return all(verdict.outcome is Outcome.FAILED for _, verdict in fresh)
