"""What the runs of a worker share: how they are started and followed, and the batches of writes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg.rows import DictRow

from pgclarify.data.model_calls import Completion, CompletionRequest
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Verdict
from pgclarify.database.arrays import array_text, vector_text
from pgclarify.database.coalescing import Coalescer
from pgclarify.database.pool import Pool, fetch
from pgclarify.errors import DatabaseBusy

_logger = logging.getLogger(__name__)

LOCK_NOT_AVAILABLE = "55P03"
"""The error code of a statement that waited too long for a lock."""

# Each attempt waits at least half a second, so a reply is given up after ten minutes.
_MOST_STORE_ATTEMPTS = 1200


@dataclass(frozen=True, slots=True)
class Bought:
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

    async def _write_completions(self, batch: Sequence[Bought]) -> Sequence[None]:
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
                if busy.sqlstate != LOCK_NOT_AVAILABLE or attempt == _MOST_STORE_ATTEMPTS:
                    raise
                self.warn_of_lock(busy)
        return [None] * len(batch)

    def warn_of_lock(self, busy: DatabaseBusy) -> None:
        """Log which lock blocks a claim or a reply, unless that was the last message about it."""
        if busy.detail != self._last_lock:
            self._last_lock = busy.detail
            _logger.warning("%s: %s", busy.message, busy.detail)


def _started(run_id: int, row: DictRow) -> Run | FailedRun | None:
    error_code = row.pop("error_code")
    if row.pop("must_be_alone"):
        return None
    if error_code is not None:
        return FailedRun(row["operation"], error_code)
    return Run(run_id=run_id, **row)
