"""The runs and the ledger, in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.candidates import Candidate
from pgclarify.data.citations import Result
from pgclarify.data.documents import Passage
from pgclarify.data.estimates import Prospect
from pgclarify.data.interpretations import Interpretation
from pgclarify.data.model_calls import Completion, CompletionKey, CompletionRequest
from pgclarify.data.runs import Run, Stage, as_ended
from pgclarify.data.verdicts import KnownSaying, Reading, Verdict
from pgclarify.data.vocabulary import Outcome, RunStatus, StopCode
from pgclarify.database.run_tables import RunTables
from pgclarify.errors import RunLost
from tests.fakes.ledger import FakeLedger, FakeLedgerTable

R = TypeVar("R")

_DEFAULTS = {
    "top_k": 20,
    "method": "hybrid",
    "consolidation": "default",
    "singletons": "keep",
    "verify": "checks",
}


@dataclass(slots=True)
class RunRecord:
    """The record of one run.

    Attributes:
        run: The run, as its worker got it.
        status: Its state.
        query: The query of the retrieval, relaxed or not.
        query_vector: The vector of the query; None before retrieval, and for lexical search.
        asked_vector: The vector of the question, if the query is another text; else None.
        relaxed_question: The recorded relaxed question; None if there is none.
        candidates: By rank.
        verdicts: By the rank of their candidates.
        interpretations: The interpretations, in order.
        results: What was recorded by `record_results`, in order.
        prospect: The result of an estimate.
        error: Why it failed.
        error_code: The same as a SQLSTATE.
        stages: Its stages; set when it ends.
        stop_reason: Why it stopped.
        stop_code: The same as a code, if the tables do not show it.
    """

    run: Run
    status: RunStatus = RunStatus.RUNNING
    query: str | None = None
    query_vector: NDArray[np.float32] | None = None
    asked_vector: NDArray[np.float32] | None = None
    relaxed_question: str | None = None
    candidates: list[Candidate] = field(default_factory=list)
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    interpretations: list[Interpretation] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    prospect: Prospect | None = None
    error: str | None = None
    error_code: str | None = None
    stages: list[Stage] = field(default_factory=list)
    stop_reason: str | None = None
    stop_code: StopCode | None = None

    def results_of(self, kind: type[R]) -> list[R]:
        """The recorded results of a kind, in order."""
        return [result for result in self.results if isinstance(result, kind)]


class FakeStore(FakeLedger, RunTables):
    """Runs and their ledger in memory, as one worker sees them. Retrieval returns passages in the given order.

    Args:
        passages: The passages to find.
        table: The ledger's rows, for sharing with another worker's store; None for new rows.

    Attributes:
        runs: By run_id.
        passages: The passages to find.
        noted: All verdicts, stored or not.
    """

    def __init__(self, passages: Sequence[Passage] = (), *, table: FakeLedgerTable | None = None) -> None:
        super().__init__(table)
        self.runs: dict[int, RunRecord] = {}
        self.passages = list(passages)
        self.noted: list[Verdict] = []
        self._unstored: list[Verdict] = []
        self.has_noted = asyncio.Event()

    def add_run(
        self,
        question: str = "",
        *,
        operation: str = "clarify",
        parent: Run | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> Run:
        """Start a run.

        Args:
            question: The question.
            operation: clarify, search or consolidate.
            parent: The run whose verdicts a `consolidate` groups again.
            settings: Settings other than the defaults.
        """
        run = Run(
            run_id=len(self.runs) + 1,
            attempt=1,
            operation=operation,
            question=question,
            settings={**_DEFAULTS, **(settings or {})},
            corpus_id=1,
            embedding_model="fake",
            dimensions=256,
            parent_run_id=None if parent is None else parent.run_id,
        )
        self.runs[run.run_id] = RunRecord(run)
        return run

    def cancel(self, run: Run) -> None:
        """Cancel a run, as a user does: its worker loses it."""
        self.runs[run.run_id].status = RunStatus.CANCELLED

    def take_over(self, run: Run) -> Run:
        """Give a run to another worker, as if its own were dead. The first worker loses it, with its candidates."""
        record = self.runs[run.run_id]
        record.run = replace(record.run, attempt=record.run.attempt + 1)
        record.candidates = []
        return record.run

    async def record(self, run: Run) -> RunRecord:
        """Return the record of a run that this worker has.

        Raises:
            RunLost: If this worker no longer has the run.
        """
        # A real server lets other tasks run here.
        await asyncio.sleep(0)
        record = self.runs[run.run_id]
        if record.run.attempt != run.attempt or record.status is not RunStatus.RUNNING:
            raise RunLost(f"run {run.run_id} is no longer this worker's")
        return record

    async def wait_for_batch(self, run: Run, requests: Sequence[CompletionRequest]) -> None:
        """Let the run go on: there is no batch API."""

    def note_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Note the verdicts on a candidate."""
        self.noted += verdicts
        self._unstored += verdicts
        self.has_noted.set()

    async def record_verdicts(self, run: Run) -> None:
        """Store the verdicts that were noted."""
        if self._unstored:
            unstored, self._unstored = self._unstored, []
            self.has_noted.clear()
            (await self.record(run)).verdicts.update((verdict.rank, verdict) for verdict in unstored)

    def note_copies(self, candidates: Sequence[Candidate]) -> None:
        """Forget them: see `record_copies` of the fake passages."""

    async def record_results(self, run: Run, results: Sequence[Result]) -> None:
        """Store results."""
        (await self.record(run)).results.extend(results)

    async def known_completions(
        self, run: Run, keys: Sequence[CompletionKey], shown: Sequence[Sequence[str]]
    ) -> list[Completion | None]:
        """Look keys up among the rows of the ledger."""
        await self.record(run)
        known = {row.request.key: row.completion for row in self.table.rows.values()}
        return [known.get(key) for key in keys]

    async def known_joint_verdicts(
        self, run: Run, request: CompletionRequest, hashes: Sequence[str]
    ) -> dict[int, KnownSaying]:
        """Look up what was noted, for any role."""
        await self.record(run)
        known = {place: self.table.joint_verdicts.get(one) for place, one in enumerate(hashes)}
        return {place: one for place, one in known.items() if one is not None}

    async def note_joint_verdicts(
        self, run: Run, completion_id: int, said: Mapping[str, Sequence[Reading] | None]
    ) -> None:
        """Note what a reply says."""
        await self.record(run)
        bought = Completion("", 0, 0, 0.0)
        self.table.joint_verdicts |= {
            passage: KnownSaying(None if readings is None else tuple(readings), completion_id, bought, is_own=False)
            for passage, readings in said.items()
        }

    async def record_estimate(self, run: Run, prospect: Prospect) -> None:
        """Store the result of an estimate."""
        (await self.record(run)).prospect = prospect

    async def verdicts(self, run: Run) -> list[tuple[Passage, Verdict]]:
        """Copy the grounded verdicts of the run's parent."""
        record = await self.record(run)
        if run.parent_run_id is None:
            return []
        parent = self.runs[run.parent_run_id]
        record.candidates = list(parent.candidates)
        record.verdicts = {
            rank: verdict for rank, verdict in parent.verdicts.items() if verdict.outcome is Outcome.GROUNDED
        }
        passages = {candidate.rank: candidate.passage for candidate in record.candidates}
        return [(passages[rank], verdict) for rank, verdict in record.verdicts.items()]

    async def finish_run(
        self,
        run: Run,
        status: RunStatus,
        interpretations: Sequence[Interpretation],
        error: str | None,
        *,
        error_code: str | None = None,
        stages: Sequence[Stage] = (),
        stop_reason: str | None = None,
        stop_code: StopCode | None = None,
    ) -> None:
        """End the run."""
        status, stop_reason, stop_code = as_ended(status, stop_reason, stop_code, self.refusal)
        await self.record_verdicts(run)
        record = await self.record(run)
        record.status, record.interpretations, record.error = status, list(interpretations), error
        record.error_code = error_code
        record.stages, record.stop_reason, record.stop_code = list(stages), stop_reason, stop_code
