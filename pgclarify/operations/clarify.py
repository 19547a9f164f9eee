"""The main job: verified diversification, of a fixed number of passages or guided by the verdicts; then consolidation.

Source: VERDICT, §4 and Algorithm 1.
"""

from __future__ import annotations

import logging

from pgclarify.errors import BudgetSpent, CompletionError, ConfigurationError, EmbeddingError, RunLost, describe
from pgclarify.ledger.completions import Pace
from pgclarify.model import Candidate, Run, RunStatus, Verdict
from pgclarify.operations.clarification.guided import GuidedExploration
from pgclarify.operations.clarification.interpretations import conclude
from pgclarify.operations.clarification.one_pass import Gate, OnePass
from pgclarify.operations.clarification.relaxation import relax
from pgclarify.operations.judging.verdicts import Judge
from pgclarify.operations.retrieval.first_stage import FirstStage, keep
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.operations.search import retrieve
from pgclarify.operations.trace import Trace
from pgclarify.protocols import Completer, Embedder, ExplorationStore, RunStore

_logger = logging.getLogger(__name__)
_PACE = Pace()


async def clarify(
    run: Run,
    store: RunStore,
    exploration: ExplorationStore,
    completer: Completer,
    embedder: Embedder,
    rerankers: Rerankers,
    *,
    gate: Gate | None = None,
    pace: Pace = _PACE,
) -> None:
    """Carry out a run whose operation is "clarify", from its question to its interpretations.

    It succeeds if every passage was judged, is partial if some could not be, and fails if none could be, or if the
    question could not be relaxed or embedded, or the passages not be reranked. One that meets a budget is partial with
    what it has; if the question may not be relaxed, passages are retrieved with it as it is. A run that was cancelled
    or taken over meanwhile is left alone, without an error: calls in flight are cancelled, leases given back, nothing
    more is written.

    Args:
        run: The run. If settings["retrieval"] is adaptive, the verdicts say which passages are judged and how many, at
            most settings["budget"]. If it is fixed (the default), the first settings["top_k"] are, or
            settings["budget"] if that is less. With settings["reranker"], passages are ranked once more before. If
            settings["ask_back"] is auto, all that is for questions that one pass does not answer.
        store: Its tables and the ledger.
        exploration: Where the passages are, if they are explored or reranked.
        completer: Who judges.
        embedder: The corpus's model.
        rerankers: Who may rank once more.
        gate: What decides which way a question goes; None only for runs without settings["ask_back"].
        pace: How often to look for replies that other runs are paying for.

    Raises:
        DatabaseError: If the store fails.
        ValueError: If there is no gate where one is needed.

    Source: VERDICT, Algorithm 1.
    """
    clarification = _Clarification(run, store, exploration, completer, embedder, rerankers, gate, pace)
    try:
        await clarification.carry_out()
    except RunLost as lost:
        _logger.info("run %d was left: %s", run.run_id, lost.message)


class _Clarification:
    """One run of clarify, and what it works with."""

    def __init__(
        self,
        run: Run,
        store: RunStore,
        exploration: ExplorationStore,
        completer: Completer,
        embedder: Embedder,
        rerankers: Rerankers,
        gate: Gate | None,
        pace: Pace,
    ) -> None:
        self._run = run
        self._store = store
        self._exploration = exploration
        self._completer = completer
        self._embedder = embedder
        self._pace = pace
        self._trace = Trace()
        self._rerankers = rerankers
        self._gate = gate
        self._judge = Judge(run, store, completer, embedder, pace)

    async def carry_out(self) -> None:
        try:
            judged = await self._judged()
        except BudgetSpent:
            # Before anything was judged: it ends with nothing, and says why.
            judged = []
        except (CompletionError, ConfigurationError, EmbeddingError) as error:
            await self._store.finish_run(self._run, RunStatus.FAILED, [], describe(error), stages=self._trace.stages)
            return
        verdicts = [(candidate.passage.document_id, verdict) for candidate, verdict in judged]
        await conclude(self._run, verdicts, self._store, self._trace)

    async def _judged(self) -> list[tuple[Candidate, Verdict]]:
        """Judge what the settings say, and return that by rank."""
        name = self._run.settings.get("reranker")
        reranker = None if name is None else await self._rerankers.get(name, self._store)
        first_stage = FirstStage(self._run, self._exploration, self._embedder, reranker, self._trace)
        if self._run.settings.get("ask_back") == "auto" and (answered := await self._one_pass(first_stage)):
            return [answered]
        if self._run.settings.get("retrieval") == "adaptive":
            guided = GuidedExploration(self._run, self._exploration, first_stage, self._judge, self._trace)
            return await guided.carry_out(self._relax)
        candidates = await self._first_candidates(await self._relax(), first_stage)
        judged: list[tuple[Candidate, Verdict]] = []
        with self._trace.stage("judgement") as tally:
            await self._judge.judge(candidates, lambda *pair: judged.append(pair), tally=tally)
        return sorted(judged, key=lambda pair: pair[0].rank)

    async def _one_pass(self, first_stage: FirstStage) -> tuple[Candidate, Verdict] | None:
        if self._gate is None:
            raise ValueError("there is no gate to ask back at")
        one_pass = OnePass(
            self._run,
            self._gate,
            store=self._store,
            passages=self._exploration,
            first_stage=first_stage,
            judge=self._judge,
            completer=self._completer,
            embedder=self._embedder,
            trace=self._trace,
            pace=self._pace,
        )
        return await one_pass.carry_out()

    async def _first_candidates(self, question: str, first_stage: FirstStage) -> list[Candidate]:
        """Choose passages by rank alone, and record them."""
        if not first_stage.is_reranked:
            return await retrieve(self._run, question, self._store, self._embedder, self._trace)
        found = (await first_stage.rank(question))[: self._run.settings.get("budget")]
        return await keep(self._run, self._exploration, found)

    async def _relax(self) -> str:
        return await relax(self._run, self._store, self._completer, self._trace, pace=self._pace)
