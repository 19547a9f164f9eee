"""The ledger of model calls."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from psycopg.rows import DictRow

from pgclarify.data.model_calls import CALL_LEASE, Claim, Completion, CompletionKey, CompletionRequest
from pgclarify.database.left_calls import LeftCalls
from pgclarify.database.pool import fetch
from pgclarify.database.runs import LOCK_NOT_AVAILABLE, Bought, Runs, SentCall
from pgclarify.errors import BudgetSpent, DatabaseBusy, NotAllowed, PriceMissing

_logger = logging.getLogger(__name__)

# If another session has locked a call: the pause until it is tried again to note it as sent, and how often.
_LOCKED_SECONDS = 0.1
_LOCKED_TRIES = 50
# A request whose call another claim is making, or that cannot be claimed now.
_PENDING = Claim(completion_id=None, completion=None, is_ours=False)
_REFUSALS: Mapping[str, type[NotAllowed]] = {kind.sqlstate: kind for kind in (BudgetSpent, PriceMissing)}


class LedgerTables:
    """The table `completion`: no call is paid for twice, and no call is made that a budget forbids.

    Args:
        runs: What all runs of the worker share.
        run_id: The run that pays; None if there is no run.
        attempt: The attempt at the run; None if there is no run.
        corpus_id: The corpus whose passages the model sees, if there is no run.

    Attributes:
        refusal: Why a budget refused a call, for the first refused call; None if none was refused.
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
        # Rows whose reply is being stored. While there are other leased rows, more replies will come.
        self._storing: set[int] = set()
        self._sources: dict[str, None] = {}
        self.refusal: NotAllowed | None = None

    @property
    def left_calls(self) -> LeftCalls:
        """The calls of this worker that go on without their runs."""
        return self._runs.left_calls

    async def claim_completions(self, requests: Sequence[CompletionRequest], *, sent_at_once: int = 0) -> list[Claim]:
        """Look up requests, and lease those without a reply and lease. Returns one claim per request, in order.

        A lease belongs to one claim: two runs of a worker are two claimants, and so are two claims of one attempt at a
        run. The second waits as it would for another worker. A repeated claim of the same requests also takes over
        leases that expired or whose worker is gone. If another session locks what a claim needs, all claims of the
        batch are answered "wait".

        Args:
            requests: The requests, each once.
            sent_at_once: So many of the leased calls are noted as sent, in order, because they are sent now.
        """
        # An earlier attempt may have left its leases, so the database gives a run its own rows again. Claims of one
        # attempt overlap: a request that another claim is making must wait.
        free = {
            request.key: request
            for request in requests
            if request.key not in self._in_flight and request.key not in self.left_calls
        }
        self._in_flight.update(free)
        ours: dict[int, object] = {}
        try:
            rows = await self._claim_rows(list(free.values()), sent_at_once) if free else []
            ours = {row["completion_id"]: key for row, key in zip(rows, free, strict=True) if row["is_ours"]}
        except DatabaseBusy as busy:
            if busy.sqlstate != LOCK_NOT_AVAILABLE:
                raise
            # The attempt must not end here, because a run may be started only a few times.
            self._runs.warn_of_lock(busy)
            return [_PENDING] * len(requests)
        finally:
            self._in_flight.difference_update(free.keys() - ours.values())
            self._keys.update(ours)
        claims = {key: _claim(row) for row, key in zip(rows, free, strict=True)}
        self._leases.update((row["completion_id"], row["leased_until"]) for row in rows if row["is_ours"])
        if refusal := next((claim.refusal for claim in claims.values() if claim.refusal is not None), None):
            self._note_refusal(refusal)
        return [claims.get(request.key, _PENDING) for request in requests]

    async def _claim_rows(self, requests: Sequence[CompletionRequest], sent_at_once: int) -> list[DictRow]:
        rows = await fetch(
            self._runs.pool,
            "claim_completions",
            worker_id=self._runs.worker_id,
            run_id=self._run_id,
            lease=CALL_LEASE,
            attempt=self._attempt,
            corpus_id=self._corpus_id,
            calls=self._calls(requests, [None] * len(requests)),
            sent_at_once=sent_at_once,
        )
        return sorted(rows, key=itemgetter("ordinal"))

    def _calls(self, requests: Sequence[CompletionRequest], bodies: Sequence[str | None]) -> str:
        """Return requests as an array of pgclarify_private.model_call in JSON."""
        calls = [
            {
                **key_of_call(request.key),
                "input_bytes": len(request.rendered),
                "max_output_tokens": request.max_output_tokens,
                "document_ids": [*dict.fromkeys((*request.document_ids, *self._sources))],
                "request": body,
            }
            for request, body in zip(requests, bodies, strict=True)
        ]
        return json.dumps(calls)

    async def store_completion(self, completion_id: int, completion: Completion) -> None:
        """Store the reply. It is durable when this returns. An existing reply is kept."""
        bought = Bought(completion_id, self._run_id, self._leases.get(completion_id), completion)
        self._storing.add(completion_id)
        try:
            await self._runs.completions.add(bought, expects_more=not self._keys.keys() <= self._storing)
        finally:
            self._storing.discard(completion_id)
            self._end([completion_id])

    async def note_sent(self, completion_id: int) -> bool:
        """Note that a call is about to be sent, and renew its lease. If that is lost, return False: do not send it.

        Raises:
            DatabaseBusy: If another session has locked the row for some seconds. The call may hold a turn meanwhile.
        """
        for _ in range(_LOCKED_TRIES):
            call = SentCall(completion_id, self._leases.get(completion_id))
            await self._runs.sent_calls.add(call)
            if call.is_ours is not None:
                if call.is_ours and call.lease is not None:
                    self._leases[completion_id] = call.lease
                return call.is_ours
            await asyncio.sleep(_LOCKED_SECONDS)
        raise DatabaseBusy("another session has locked a call that is to be sent", sqlstate=LOCK_NOT_AVAILABLE)

    async def note_sent_again(self, completion_id: int) -> bool:
        """Note that a call is about to be sent again, after a try that the endpoint may charge for.

        Returns:
            As `note_sent`.

        Raises:
            NotAllowed: If a budget does not allow another call.
        """
        (row,) = await self._runs.write_to_ledger(
            "note_sent_again", completion_id=completion_id, lease=self._leases.get(completion_id)
        )
        if row["refusal"] is not None:
            refusal = _refusal(row["refusal"])
            self._note_refusal(refusal)
            raise refusal
        return bool(row["is_ours"])

    async def release_completions(self, may_be_charged: Mapping[int, bool]) -> None:
        """Release leases after calls failed or were cancelled, so that others need not wait until they expire.

        Args:
            may_be_charged: For each row, whether the endpoint may charge for its call. Then the call counts.
        """
        try:
            await self._runs.write_to_ledger(
                "release_completions",
                completion_ids=list(may_be_charged),
                leases=[self._leases.get(completion_id) for completion_id in may_be_charged],
                may_be_charged=list(may_be_charged.values()),
            )
        finally:
            self._end(may_be_charged)

    async def settle(self) -> None:
        """Correct the recorded cost of the run if it is over: replies may be stored after its end."""
        if self._run_id is not None:
            await fetch(self._runs.pool, "settle_runs", run_ids=[self._run_id])

    def _note_refusal(self, refusal: NotAllowed) -> None:
        # Only the first one, because all later refusals have the same reason.
        if self.refusal is None:
            self.refusal = refusal
            _logger.warning("%s", refusal.message)

    def _end(self, completion_ids: Iterable[int]) -> None:
        """Note that these calls are over, so that a later claim may make them again."""
        for completion_id in completion_ids:
            self._in_flight.discard(self._keys.pop(completion_id, None))


def key_of_call(key: CompletionKey) -> dict[str, Any]:
    """Return the attributes of pgclarify_private.model_call that identify a request, as JSON has them."""
    purpose, model, parameters, prompt_version, input_hash, sample = key
    return {
        "purpose": purpose,
        "model": model,
        "parameters": json.loads(parameters),
        "prompt_version": prompt_version,
        "input_hash": f"\\x{input_hash.hex()}",
        "sample": sample,
    }


def _claim(row: Mapping[str, Any]) -> Claim:
    completion = None
    if row["reply"] is not None:
        completion = Completion(
            reply=row["reply"],
            prompt_tokens=row["prompt_tokens"],
            completion_tokens=row["completion_tokens"],
            # A batch does not tell how long a call took.
            latency_ms=row["latency_ms"] or 0.0,
            finish_reason=row["finish_reason"],
        )
    return Claim(
        completion_id=row["completion_id"],
        completion=completion,
        is_ours=row["is_ours"],
        is_sent=row["is_sent"],
        is_own=row["is_own"],
        refusal=None if row["refusal"] is None else _refusal(row["refusal"]),
    )


def _refusal(said: Mapping[str, Any]) -> NotAllowed:
    return _REFUSALS[said["sqlstate"]](**said)
