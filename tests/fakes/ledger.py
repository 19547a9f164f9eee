"""The table `completion`, in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pgclarify.data.model_calls import Claim, Completion, CompletionRequest
from pgclarify.data.verdicts import KnownSaying
from pgclarify.database.ledger import LedgerTables
from pgclarify.database.left_calls import LeftCalls
from pgclarify.errors import BudgetSpent, NotAllowed


@dataclass(slots=True)
class LedgerRow:
    """One row of the ledger. It is leased if it has a holder and no completion.

    Attributes:
        completion_id: From 1.
        request: The request.
        completion: The model's reply; None before it is stored.
        holder: The worker with the lease.
        leased_until: End of the lease on the table's clock, in seconds.
        is_sent: Whether the leased call is noted as sent.
        unanswered: Calls that were sent, may be charged, and have no reply.
    """

    completion_id: int
    request: CompletionRequest
    completion: Completion | None = None
    holder: str | None = None
    leased_until: float = 0.0
    is_sent: bool = False
    unanswered: int = 0


class FakeLedgerTable:
    """The rows, shared by several workers.

    Args:
        lease_seconds: How long a lease lasts.

    Attributes:
        rows: By completion_id.
        joint_verdicts: What joint replies say of passages, by their hashes.
        now: The clock, in seconds. A test moves it to let leases end.
        claims: Number of claims by all workers.
        max_calls: A budget: the limit of calls and leases together. None for no budget.
    """

    def __init__(self, *, lease_seconds: float = 60.0, max_calls: int | None = None) -> None:
        self.max_calls = max_calls
        self.rows: dict[int, LedgerRow] = {}
        self.joint_verdicts: dict[str, KnownSaying] = {}
        self.now = 0.0
        self.claims = 0
        self.lease_seconds = lease_seconds
        self._ids: dict[object, int] = {}

    @property
    def leased(self) -> list[LedgerRow]:
        """Rows with a lease."""
        return [row for row in self.rows.values() if row.completion is None and row.holder is not None]

    def kill(self, worker: str) -> None:
        """Let a worker die: its leases end at once."""
        for row in self.leased:
            if row.holder == worker:
                row.leased_until = self.now

    def row(self, request: CompletionRequest) -> LedgerRow:
        """Find the row of a request, or add it."""
        completion_id = self._ids.setdefault(request.key, len(self._ids) + 1)
        return self.rows.setdefault(completion_id, LedgerRow(completion_id, request))


class FakeLedger(LedgerTables):
    """One worker's view of the ledger.

    Args:
        table: The rows, shared with other workers; None for rows of its own.
        worker: The worker's name.
        most_when_crowded: As of `LeftCalls`.
    """

    def __init__(
        self, table: FakeLedgerTable | None = None, *, worker: str = "worker", most_when_crowded: int = 0
    ) -> None:
        self.table = FakeLedgerTable() if table is None else table
        self.worker = worker
        self.refusal: NotAllowed | None = None
        self._left_calls = LeftCalls(most_when_crowded)
        self._sources: dict[str, None] = {}

    def note_sources(self, document_ids: Iterable[str]) -> None:
        """Add these documents to those of each later request."""
        self._sources.update(dict.fromkeys(document_ids))

    @property
    def left_calls(self) -> LeftCalls:
        """The calls that go on without their runs."""
        return self._left_calls

    async def claim_completions(self, requests: Sequence[CompletionRequest], *, sent_at_once: int = 0) -> list[Claim]:
        """Look requests up, and lease those without a reply and without a lease."""
        # A real server lets other tasks run here, before the statement but not within it.
        await asyncio.sleep(0)
        self.table.claims += 1
        claims = [
            self._claim(replace(request, document_ids=tuple(dict.fromkeys((*request.document_ids, *self._sources)))))
            for request in requests
        ]
        self.refusal = self.refusal or next((claim.refusal for claim in claims if claim.refusal), None)
        return claims

    async def store_completion(self, completion_id: int, completion: Completion) -> None:
        """Store the model's reply, unless the row has one already."""
        await asyncio.sleep(0)
        row = self.table.rows[completion_id]
        row.completion = row.completion or completion
        row.holder = None
        row.is_sent = False

    async def note_sent(self, completion_id: int) -> bool:
        """Note a call as sent, if this worker still has its lease."""
        await asyncio.sleep(0)
        row = self.table.rows[completion_id]
        row.is_sent = row.completion is None and row.holder == self.worker
        return row.is_sent

    async def note_sent_again(self, completion_id: int) -> bool:
        """Count the try before as one without a reply, if this worker still has the lease."""
        is_ours = await self.note_sent(completion_id)
        self.table.rows[completion_id].unanswered += is_ours
        return is_ours

    async def release_completions(self, may_be_charged: Mapping[int, bool]) -> None:
        """Release the leases that this worker still has, and count the calls that may be charged."""
        await asyncio.sleep(0)
        for completion_id, is_charged in may_be_charged.items():
            row = self.table.rows[completion_id]
            if row.holder == self.worker:
                row.holder = None
                row.unanswered += row.is_sent and is_charged
                row.is_sent = False

    async def settle(self) -> None:
        """Do nothing: no run has figures."""

    def _claim(self, request: CompletionRequest) -> Claim:
        row = self.table.row(request)
        is_free = row.completion is None and (row.holder is None or row.leased_until <= self.table.now)
        if not is_free:
            return Claim(row.completion_id, row.completion, is_ours=False)
        if self.table.max_calls is not None:
            spent = sum(other.completion is not None for other in self.table.rows.values())
            if spent >= self.table.max_calls:
                return Claim(None, None, is_ours=False, refusal=BudgetSpent('budget "fake" is spent'))
            if spent + len(self.table.leased) >= self.table.max_calls:
                return Claim(None, None, is_ours=False)
        row.holder = self.worker
        row.unanswered += row.is_sent
        row.is_sent = False
        row.leased_until = self.table.now + self.table.lease_seconds
        return Claim(row.completion_id, row.completion, is_ours=True)
