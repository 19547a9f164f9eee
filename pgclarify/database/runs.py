"""What the runs of a worker share: how they are started and followed, and the batches of writes."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg.rows import DictRow

from pgclarify.data.model_calls import CALL_LEASE, Completion, CompletionRequest
from pgclarify.data.runs import Run
from pgclarify.database.coalescing import Coalescer
from pgclarify.database.left_calls import LeftCalls
from pgclarify.database.pool import Pool, fetch
from pgclarify.errors import DatabaseBusy

_logger = logging.getLogger(__name__)

LOCK_NOT_AVAILABLE = "55P03"
"""The error code of a statement that waited too long for a lock."""

# Each attempt waits at least half a second, so what is written about a call is given up after ten minutes.
_MOST_LEDGER_ATTEMPTS = 1200
# The longest time that a reply waits for others of its run, so that they share a statement. If the worker is killed
# then, the reply is paid for again.
_STORING_SECONDS = 0.05


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


@dataclass(slots=True)
class SentCall:
    """A call that is noted as sent.

    Attributes:
        completion_id: Its row of the ledger.
        lease: As in `Bought`.
        is_ours: Whether this worker still has the lease, so that it may send the call. None before that is known, and
            if another session has locked the row.
    """

    completion_id: int
    lease: datetime | None
    is_ours: bool | None = None


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
        is_last: Whether no other run is due.
    """

    run_id: int
    started: Run | FailedRun | None
    is_waited_for: bool
    is_of_batch: bool
    refusal: str | None = None
    is_last: bool = False


class Runs:
    """What all runs of a worker share: the pool, and the batches of writes.

    Args:
        pool: The worker's connections.
        worker_id: The worker.
        batch_body: Returns the body of a call for a batch, as JSON; None if the endpoint has no batch API.
        left_calls: The calls that go on without their runs; None cuts off such calls.
    """

    def __init__(
        self,
        pool: Pool,
        worker_id: int,
        batch_body: Callable[[CompletionRequest], str] | None = None,
        left_calls: LeftCalls | None = None,
    ) -> None:
        self.pool = pool
        self.batch_body = batch_body
        self.worker_id = worker_id
        self.left_calls = left_calls or LeftCalls(most_when_crowded=0)
        self.completions = Coalescer(self._write_completions, patience=_STORING_SECONDS)
        self.sent_calls = Coalescer(self._write_sent_calls)
        self._last_lock: str | None = None

    async def fetch(self, run: Run, name: str, /, **parameters: Any) -> list[DictRow]:  # noqa: ANN401
        """Call an internal function about a run of this worker, as `pgclarify.database.pool.fetch` does.

        Raises:
            RunLost: If the run is no longer this worker's.
            DatabaseError: If the server refuses.
        """
        return await fetch(self.pool, name, run_id=run.run_id, attempt=run.attempt, **parameters)

    async def fetch_value(self, run: Run, name: str, /, **parameters: Any) -> Any:  # noqa: ANN401
        """Call an internal function as `fetch` does, and return its only value."""
        (row,) = await self.fetch(run, name, **parameters)
        return row["result"]

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
        run_id, refusal, is_last = row.pop("run_id"), row.pop("refusal"), row.pop("is_last")
        is_waited_for, is_of_batch = row.pop("is_waited_for"), row.pop("is_of_batch")
        if refusal is not None:
            return TakenRun(run_id, None, is_waited_for=False, is_of_batch=False, refusal=refusal)
        return TakenRun(run_id, _started(run_id, row), is_waited_for, is_of_batch, is_last=is_last)

    async def put_back(self, run: Run, pause: timedelta | None) -> None:
        """Put a run back into the queue, if this worker still has it.

        Args:
            run: The run.
            pause: How long no worker may take it; None for no time.

        Raises:
            DatabaseBusy: If another session has locked it.
            DatabaseError: If the server refuses.
        """
        await self.fetch(run, "put_back_run", pause=pause)

    async def watch(self, runs: Sequence[Run]) -> tuple[list[Run], frozenset[int]]:
        """Look at runs of this worker from outside. Queued runs that a caller waits for go first from now on.

        Returns:
            The runs that were cancelled, or that another worker has taken over; and the ids of the runs that a caller
            waits for now.

        Raises:
            DatabaseError: If the server refuses.
        """
        (row,) = await fetch(
            self.pool,
            "watch_runs",
            run_ids=[run.run_id for run in runs],
            attempts=[run.attempt for run in runs],
        )
        return [runs[ordinal - 1] for ordinal in row["lost"]], frozenset(row["waited_for"])

    async def write_to_ledger(self, function: str, **parameters: Any) -> list[DictRow]:  # noqa: ANN401
        """Call an internal function about calls that may be charged. While budgets are locked, it is tried again."""
        attempts = 0
        while True:
            attempts += 1
            try:
                return await fetch(self.pool, function, worker_id=self.worker_id, **parameters)
            except DatabaseBusy as busy:
                # A reply that is not stored would be paid for again, and a call that is not noted would not count.
                if busy.sqlstate != LOCK_NOT_AVAILABLE or attempts == _MOST_LEDGER_ATTEMPTS:
                    raise
                self.warn_of_lock(busy)

    async def _write_completions(self, batch: Sequence[Bought]) -> None:
        await self.write_to_ledger(
            "store_completions", completions=json.dumps([_completion_row(bought) for bought in batch])
        )

    async def _write_sent_calls(self, batch: Sequence[SentCall]) -> None:
        rows = await fetch(
            self.pool,
            "note_sent",
            worker_id=self.worker_id,
            completion_ids=[call.completion_id for call in batch],
            leases=[call.lease for call in batch],
            lease=CALL_LEASE,
        )
        noted = {row["completion_id"]: row for row in rows}
        for call in batch:
            call.is_ours = noted[call.completion_id]["is_ours"]
            call.lease = noted[call.completion_id]["leased_until"] or call.lease

    def warn_of_lock(self, busy: DatabaseBusy) -> None:
        """Log which lock blocks a claim or a reply, unless that was the last message about it."""
        if busy.detail != self._last_lock:
            self._last_lock = busy.detail
            _logger.warning("%s: %s", busy.message, busy.detail)


def _completion_row(bought: Bought) -> dict[str, Any]:
    return {
        "completion_id": bought.completion_id,
        "run_id": bought.run_id,
        "leased_until": None if bought.lease is None else bought.lease.isoformat(),
        **asdict(bought.completion),
    }


def _started(run_id: int, row: DictRow) -> Run | FailedRun | None:
    error_code = row.pop("error_code")
    if row.pop("must_be_alone"):
        return None
    if error_code is not None:
        return FailedRun(row["operation"], error_code)
    return Run(run_id=run_id, **row)
