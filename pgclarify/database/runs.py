"""The tables of runs, and the ledger."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from psycopg.rows import DictRow

from pgclarify.data.documents import Passage
from pgclarify.data.interpretations import Interpretation
from pgclarify.data.model_calls import CALL_LEASE, Claim, Completion, CompletionRequest
from pgclarify.data.runs import Run, Stage, as_ended
from pgclarify.data.verdicts import Verdict
from pgclarify.data.vocabulary import Outcome, RunStatus, StopCode
from pgclarify.database.arrays import array_text, vector_text
from pgclarify.database.coalescing import Coalescer
from pgclarify.database.pool import Pool, fetch
from pgclarify.errors import BudgetSpent, DatabaseBusy, NotAllowed, PriceMissing, RunLost

_logger = logging.getLogger(__name__)

_LOCK_NOT_AVAILABLE = "55P03"
# Each attempt waits at least half a second, so a reply is given up after ten minutes.
_MOST_STORE_ATTEMPTS = 1200
# A request whose call another claim is making, or that cannot be claimed now.
_PENDING = Claim(completion_id=None, completion=None, is_ours=False)
_REFUSALS: Mapping[str, type[NotAllowed]] = {"PC007": BudgetSpent, "PC008": PriceMissing}


@dataclass(frozen=True, slots=True)
class _Bought:
    """A reply that is not in the ledger yet.

    Attributes:
        completion_id: Its row.
        run_id: The run that pays; None if there is no run.
        lease: The end of the lease of the call, which distinguishes it from other leases of the row.
        completion: The reply.
    """

    completion_id: int
    run_id: int | None
    lease: datetime | None
    completion: Completion


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A run that failed because it could not be started.

    Attributes:
        operation: Its operation.
        code: Its error code.
    """

    operation: str
    code: str


@dataclass(frozen=True, slots=True)
class TakenRun:
    """A run that this worker has taken from the queue.

    Attributes:
        run_id: Its id.
        started: The run, or why it failed when it was started; None if it may only be started alone, or with a refusal.
        is_waited_for: Whether a caller waits for its answer. Then its calls go before those of a batch.
        is_of_batch: Whether it was asked together with others.
        refusal: Why it cannot be started now, so that it waits in the queue for some seconds; else None.
    """

    run_id: int
    started: Run | FailedRun | None
    is_waited_for: bool
    is_of_batch: bool
    refusal: str | None = None


class Runs:
    """What all runs of a worker share: the pool, and the batches of writes.

    Args:
        pool: The worker's connections.
        worker_id: The worker.
        batch_body: Returns the body of a call for a batch, as JSON; None if the endpoint has no batch API.
    """

    def __init__(
        self, pool: Pool, worker_id: int, batch_body: Callable[[CompletionRequest], str] | None = None
    ) -> None:
        self.pool = pool
        self.batch_body = batch_body
        self.worker_id = worker_id
        self.verdicts = Coalescer(self._write_verdicts)
        self.completions = Coalescer(self._write_completions)
        self._last_lock: str | None = None

    async def start(self, run_id: int, *, is_alone: bool = False) -> Run | FailedRun | None:
        """Start a run. A run that cannot be started fails.

        Args:
            run_id: The run.
            is_alone: Whether the worker executes nothing else until this run is over.

        Returns:
            None if the run was cancelled or has ended before, if another worker has it, or if it may only be executed
            alone.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await fetch(self.pool, "start_run", run_id=run_id, worker_id=self.worker_id, is_alone=is_alone)
        return _started(run_id, rows[0]) if rows else None

    async def take(self, *, only_waited_for: bool) -> TakenRun | None:
        """Start the first queued run that is due.

        Args:
            only_waited_for: Whether to take only a run that a caller waits for.

        Returns:
            None if there is none.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await fetch(self.pool, "take_run", worker_id=self.worker_id, only_waited_for=only_waited_for)
        if not rows:
            return None
        row = rows[0]
        run_id, refusal = row.pop("run_id"), row.pop("refusal")
        is_waited_for, is_of_batch = row.pop("is_waited_for"), row.pop("is_of_batch")
        started = None if refusal is not None else _started(run_id, row)
        return TakenRun(run_id, started, is_waited_for, is_of_batch, refusal)

    async def put_back(self, run: Run, pause: timedelta | None) -> None:
        """Put a run back into the queue, if this worker still has it.

        Args:
            run: The run.
            pause: How long no worker may take it; None for no time.

        Raises:
            DatabaseBusy: If another session has locked it.
            DatabaseError: If the server refuses.
        """
        await fetch(self.pool, "put_back_run", run_id=run.run_id, attempt=run.attempt, pause=pause)

    async def lost(self, runs: Sequence[Run]) -> list[Run]:
        """Return the runs that were cancelled, or that another worker has taken over.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await fetch(
            self.pool,
            "list_lost_runs",
            run_ids=[run.run_id for run in runs],
            attempts=[run.attempt for run in runs],
        )
        return [runs[ordinal - 1] for ordinal in rows[0]["lost"]]

    async def waited_for(self, runs: Sequence[Run]) -> frozenset[int]:
        """Return the ids of the runs that a caller waits for now. Queued runs that a caller waits for go first.

        Raises:
            DatabaseError: If the server refuses.
        """
        rows = await fetch(self.pool, "follow_watchers", run_ids=[run.run_id for run in runs])
        return frozenset(rows[0]["waited_for"])

    async def _write_verdicts(self, batch: Sequence[tuple[Run, Verdict]]) -> Sequence[bool]:
        rows = await fetch(
            self.pool,
            "record_verdicts",
            run_ids=array_text(run.run_id for run, _ in batch),
            attempts=array_text(run.attempt for run, _ in batch),
            ranks=array_text(verdict.rank for _, verdict in batch),
            outcomes=array_text(verdict.outcome.value for _, verdict in batch),
            interpretations=array_text(verdict.interpretation for _, verdict in batch),
            answers=array_text(verdict.answer for _, verdict in batch),
            quotes=array_text(verdict.quote for _, verdict in batch),
            start_chars=array_text(verdict.start_char for _, verdict in batch),
            end_chars=array_text(verdict.end_char for _, verdict in batch),
            vectors=array_text(None if verdict.vector is None else vector_text(verdict.vector) for _, verdict in batch),
            completion_ids=array_text(verdict.completion_id for _, verdict in batch),
            are_reused=array_text(verdict.is_reused for _, verdict in batch),
            reasons=array_text(verdict.reason for _, verdict in batch),
            errors=array_text(verdict.error for _, verdict in batch),
            abstention_codes=array_text(verdict.abstention_code for _, verdict in batch),
            error_codes=array_text(verdict.error_code for _, verdict in batch),
        )
        running = set(rows[0]["running"])
        return [run.run_id in running for run, _ in batch]

    async def _write_completions(self, batch: Sequence[_Bought]) -> Sequence[None]:
        for attempt in range(1, _MOST_STORE_ATTEMPTS + 1):
            try:
                await fetch(
                    self.pool,
                    "store_completions",
                    worker_id=self.worker_id,
                    completion_ids=array_text(bought.completion_id for bought in batch),
                    run_ids=array_text(bought.run_id for bought in batch),
                    leases=array_text(bought.lease for bought in batch),
                    replies=array_text(bought.completion.reply for bought in batch),
                    prompt_tokens=array_text(bought.completion.prompt_tokens for bought in batch),
                    completion_tokens=array_text(bought.completion.completion_tokens for bought in batch),
                    latencies_ms=array_text(bought.completion.latency_ms for bought in batch),
                    cached_tokens=array_text(bought.completion.cached_tokens for bought in batch),
                )
                break
            except DatabaseBusy as busy:
                # These replies are paid for, and would be paid for again.
                if busy.sqlstate != _LOCK_NOT_AVAILABLE or attempt == _MOST_STORE_ATTEMPTS:
                    raise
                self.warn_of_lock(busy)
        return [None] * len(batch)

    def warn_of_lock(self, busy: DatabaseBusy) -> None:
        """Log which lock blocks a claim or a reply, unless that was the last message about it."""
        if busy.detail != self._last_lock:
            self._last_lock = busy.detail
            _logger.warning("%s: %s", busy.message, busy.detail)


class LedgerTables:
    """`pgclarify.protocols.Ledger` for one worker.

    Args:
        runs: What all runs of the worker share.
        run_id: The run that pays; None if there is no run.
        attempt: The attempt at the run; None if there is no run.
        corpus_id: The corpus whose passages the model sees, if there is no run.
    """

    def __init__(
        self, runs: Runs, run_id: int | None, *, attempt: int | None = None, corpus_id: int | None = None
    ) -> None:
        self._runs = runs
        self._run_id = run_id
        self._attempt = attempt
        self._corpus_id = corpus_id
        # By row of the ledger. Each attempt at a run has its own, so that none releases another's lease.
        self._leases: dict[int, datetime] = {}
        # Requests that this attempt has leased, or is claiming now, and the request of each leased row.
        self._in_flight: set[object] = set()
        self._keys: dict[int, object] = {}
        self._sources: dict[str, None] = {}
        self.refusal: NotAllowed | None = None

    async def claim_completions(self, requests: Sequence[CompletionRequest]) -> list[Claim]:
        """See Ledger. If another session locks what a claim needs, all claims of the batch are answered "wait"."""
        # An earlier attempt may have left its leases, so the database gives a run its own rows again. Claims of one
        # attempt overlap: a request that another claim is making must wait.
        free = {request.key: request for request in requests if request.key not in self._in_flight}
        self._in_flight.update(free)
        ours: dict[int, object] = {}
        try:
            rows = await self._claim_rows(list(free.values())) if free else []
            ours = {row["completion_id"]: key for row, key in zip(rows, free, strict=True) if row["is_ours"]}
        except DatabaseBusy as busy:
            if busy.sqlstate != _LOCK_NOT_AVAILABLE:
                raise
            # The attempt must not end here, because a run may be started only a few times.
            self._runs.warn_of_lock(busy)
            return [_PENDING] * len(requests)
        finally:
            self._in_flight.difference_update(free.keys() - ours.values())
            self._keys.update(ours)
        claims = {key: _claim(row) for row, key in zip(rows, free, strict=True)}
        self._leases.update((row["completion_id"], row["leased_until"]) for row in rows if row["is_ours"])
        if self.refusal is None:
            self.refusal = next((claim.refusal for claim in claims.values() if claim.refusal is not None), None)
            if self.refusal is not None:
                # Only once, because all later refusals have the same reason.
                _logger.warning("%s", self.refusal.message)
        return [claims.get(request.key, _PENDING) for request in requests]

    async def _claim_rows(self, requests: Sequence[CompletionRequest]) -> list[DictRow]:
        return await fetch(
            self._runs.pool,
            "claim_completions",
            worker_id=self._runs.worker_id,
            run_id=self._run_id,
            lease=CALL_LEASE,
            attempt=self._attempt,
            corpus_id=self._corpus_id,
            **self._inputs(requests),
        )

    def _inputs(self, requests: Sequence[CompletionRequest]) -> dict[str, str]:
        """Return the arrays that describe requests, and the documents that they show."""
        keys = [request.key for request in requests]
        purposes, models, parameters, prompt_versions, input_hashes, samples = zip(*keys, strict=True)
        shown = [
            (ordinal, document_id)
            for ordinal, request in enumerate(requests, start=1)
            for document_id in dict.fromkeys((*request.document_ids, *self._sources))
        ]
        return {
            "purposes": array_text(purposes),
            "models": array_text(models),
            "parameters": array_text(parameters),
            "prompt_versions": array_text(prompt_versions),
            "input_hashes": array_text(input_hashes),
            "samples": array_text(samples),
            "input_bytes": array_text(len(request.rendered) for request in requests),
            "max_output_tokens": array_text(request.max_output_tokens for request in requests),
            "shown_ordinals": array_text(ordinal for ordinal, _ in shown),
            "shown_document_ids": array_text(document_id for _, document_id in shown),
        }

    async def store_completion(self, completion_id: int, completion: Completion) -> None:
        """See Ledger."""
        lease = self._leases.get(completion_id)
        try:
            await self._runs.completions.add(_Bought(completion_id, self._run_id, lease, completion))
        finally:
            self._end([completion_id])

    async def release_completions(self, completion_ids: Sequence[int]) -> None:
        """See Ledger."""
        try:
            await fetch(
                self._runs.pool,
                "release_completions",
                worker_id=self._runs.worker_id,
                completion_ids=list(completion_ids),
                leases=[self._leases.get(completion_id) for completion_id in completion_ids],
            )
        finally:
            self._end(completion_ids)

    def _end(self, completion_ids: Iterable[int]) -> None:
        """Note that these calls are over, so that a later claim may make them again."""
        for completion_id in completion_ids:
            self._in_flight.discard(self._keys.pop(completion_id, None))


class RunTables(LedgerTables):
    """`pgclarify.protocols.RunStore` for one run of a worker; the ledger records which run paid for what.

    Attributes:
        status: How this worker ended the run; None if it did not.
        code: The error code or stop code of that; empty if there is neither.
    """

    def __init__(self, runs: Runs, run: Run) -> None:
        super().__init__(runs, run.run_id, attempt=run.attempt)
        self.status: RunStatus | None = None
        self.code = ""

    def note_sources(self, document_ids: Iterable[str]) -> None:
        """See RunStore."""
        self._sources.update(dict.fromkeys(document_ids))

    async def settle(self) -> None:
        """Store the cost of a run that others have ended; does nothing if the run is not over.

        Raises:
            DatabaseError: If the server refuses.
        """
        await fetch(self._runs.pool, "settle_run", run_id=self._run_id)

    async def wait_for_batch(self, run: Run, requests: Sequence[CompletionRequest]) -> None:
        """See RunStore."""
        if self._runs.batch_body is None or not requests:
            return
        (row,) = await fetch(
            self._runs.pool,
            "wait_for_batch",
            run_id=run.run_id,
            attempt=run.attempt,
            requests=array_text(map(self._runs.batch_body, requests)),
            **self._inputs(requests),
        )
        if row["has_left"]:
            raise RunLost(f"run {run.run_id} waits for a batch")

    async def record_relaxation(self, run: Run, relaxed_question: str) -> None:
        """See RunStore."""
        await fetch(
            self._runs.pool,
            "record_relaxation",
            run_id=run.run_id,
            attempt=run.attempt,
            relaxed_question=relaxed_question,
        )

    async def record_verdict(self, run: Run, verdict: Verdict) -> None:
        """See RunStore."""
        is_running = await self._runs.verdicts.add((run, verdict))
        if not is_running:
            raise RunLost(f"run {run.run_id} is no longer this worker's")

    async def verdicts(self, run: Run) -> list[tuple[Passage, Verdict]]:
        """See RunStore."""
        rows = await fetch(self._runs.pool, "copy_verdicts", run_id=run.run_id, attempt=run.attempt)
        return [
            (
                Passage(row["document_id"], row["passage_id"], row["content"], row["title"], row["heading"]),
                Verdict(
                    rank=row["rank"],
                    outcome=Outcome.GROUNDED,
                    interpretation=row["interpretation"],
                    answer=row["answer"],
                    quote=row["quote"],
                    start_char=row["start_char"],
                    end_char=row["end_char"],
                    vector=np.array(json.loads(row["vector"]), dtype=np.float32),
                    completion_id=row["completion_id"],
                    is_reused=True,
                ),
            )
            for row in rows
        ]

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
        """See RunStore."""
        status, stop_reason, stop_code = as_ended(status, stop_reason, stop_code, self.refusal)
        (stored,) = await fetch(
            self._runs.pool,
            "finish_run",
            run_id=run.run_id,
            attempt=run.attempt,
            status=status.value,
            error=error,
            error_code=error_code,
            budget_id=None if self.refusal is None else self.refusal.budget_id,
            interpretations=json.dumps([asdict(interpretation) for interpretation in interpretations]),
            stages=json.dumps([asdict(stage) for stage in stages], default=datetime.isoformat),
            stop_reason=stop_reason,
            stop_code=None if stop_code is None else stop_code.value,
        )
        stopped: str | None = stored["stop_code"]
        # The alert about budgets must find the run also if other calls failed.
        self.status, self.code = status, (stopped if stopped == StopCode.BUDGET else error_code or stopped) or ""


def _started(run_id: int, row: DictRow) -> Run | FailedRun | None:
    error_code = row.pop("error_code")
    if row.pop("must_be_alone"):
        return None
    if error_code is not None:
        return FailedRun(row["operation"], error_code)
    return Run(run_id=run_id, **row)


def _claim(row: Mapping[str, Any]) -> Claim:
    completion = None
    if row["reply"] is not None:
        completion = Completion(
            reply=row["reply"],
            prompt_tokens=row["prompt_tokens"],
            completion_tokens=row["completion_tokens"],
            # A batch does not tell how long a call took.
            latency_ms=row["latency_ms"] or 0.0,
        )
    refusal = row["refusal"]
    return Claim(
        completion_id=row["completion_id"],
        completion=completion,
        is_ours=row["is_ours"],
        is_taken_over=row["is_taken_over"],
        is_own=row["is_own"],
        refusal=None if refusal is None else _REFUSALS[refusal["sqlstate"]](**refusal),
    )
