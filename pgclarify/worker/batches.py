"""Sends the calls that runs leave to batches, and stores the replies. A worker may be killed at any time.

A batch has a row in the database before it is sent. A worker that takes over a row without the endpoint's id first
looks for the batch at the endpoint, so it is not created twice. Replies are stored in pieces; a piece that is stored is
not in the batch any more.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pgclarify.data.model_calls import Completion
from pgclarify.database.pool import Pool, fetch, fetch_value
from pgclarify.errors import DatabaseError, EndpointUnavailable, NoBatches

if TYPE_CHECKING:
    from pgclarify.providers.batch_endpoint import BatchEndpoint, RemoteBatch

_logger = logging.getLogger(__name__)

# OpenAI takes 50,000 calls and 200 MB. The worker has the whole file in memory.
_MOST_REQUESTS: Final = 10_000
_MOST_BYTES: Final = 64 * 1024 * 1024
# Runs that were submitted together come one after the other.
QUIET = timedelta(seconds=5)
"""A batch is sent when no call has come for so long."""
# Longer than an upload and a download.
_LEASE: Final = timedelta(minutes=30)
# The pause between two looks is a part of the batch's age.
_SHARE_OF_AGE: Final = 0.1
_SHORTEST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=1), timedelta(minutes=1)
# While the endpoint's limit for batches is used up.
_FULL_PAUSE: Final = timedelta(minutes=10)
# It is not known whether the endpoint has created a batch, and it may list it late.
_UNSURE_PAUSE: Final = timedelta(minutes=1)
# For so long, an endpoint that does not know a batch may be late or wrong.
_LONGEST_DOUBT: Final = timedelta(hours=1)
STORED_AT_ONCE = 200
"""Replies that are stored in one transaction."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """A batch that this worker has leased; see the columns of `pgclarify_private.claim_batch`."""

    batch_id: UUID
    remote_id: str | None
    age: timedelta
    is_wanted: bool

    @property
    def pause(self) -> timedelta:
        return min(max(_SHARE_OF_AGE * self.age, _SHORTEST_PAUSE), _LONGEST_PAUSE)


class Batches:
    """The batches of one model at one endpoint.

    Args:
        pool: The worker's connections.
        worker_id: The worker.
        endpoint: The batch API; None if there is none.
    """

    def __init__(self, pool: Pool, worker_id: int, endpoint: BatchEndpoint | None) -> None:
        self._pool = pool
        self._worker_id = worker_id
        self._endpoint = endpoint
        # The endpoint may allow less. That is found out again after each restart.
        self._most_requests = _MOST_REQUESTS
        self._last_sent = _MOST_REQUESTS

    async def carry_on(self) -> None:
        """Do what is due: gather calls, send batches, and read those that are over.

        Raises:
            DatabaseError: If the server refuses.
        """
        endpoint = self._endpoint
        if endpoint is None:
            await fetch(self._pool, "tidy_batches")
            return
        here = {"worker_id": self._worker_id, "model": endpoint.model, "endpoint": endpoint.base_url}
        # First, because gathering gives up batches that are too old.
        await self._advance_all(endpoint, here)
        most = {"max_requests": self._most_requests, "max_bytes": _MOST_BYTES}
        while await fetch_value(self._pool, "gather_batch", quiet=QUIET, **most, **here):
            pass
        await self._advance_all(endpoint, here)

    async def _advance_all(self, endpoint: BatchEndpoint, here: Mapping[str, Any]) -> None:
        while rows := await fetch(self._pool, "claim_batch", lease=_LEASE, **here):
            batch = _Batch(**rows[0])
            try:
                await self._advance(endpoint, batch)
            except NoBatches as refused:
                _logger.warning("calls are made one by one: %s. %s", refused.message, refused.detail)
                await self._end(batch)
            except EndpointUnavailable as error:
                _logger.warning("a batch waits: %s. %s", error.message, error.detail)
                await self._put_back(batch, pause=_UNSURE_PAUSE if batch.remote_id is None else None)
            except DatabaseError as error:
                # It must not stop the other batches.
                _logger.warning("a batch waits: %s", error.message)
                await self._put_back(batch)

    async def _advance(self, endpoint: BatchEndpoint, batch: _Batch) -> None:
        if batch.remote_id is None:
            remote = await self._send(endpoint, batch)
        else:
            remote = await endpoint.look(batch.remote_id)
            if remote is None and batch.age < _LONGEST_DOUBT:
                raise EndpointUnavailable("the endpoint does not know a batch", detail=f"Its id is {batch.remote_id}.")
        if remote is None:
            # No call was left to send, or the endpoint has forgotten the batch. It may charge for that all the same.
            await self._end(batch, is_read=batch.remote_id is None)
        elif remote.is_over:
            await self._read(endpoint, batch, remote)
        else:
            if not batch.is_wanted:
                await endpoint.cancel(remote.remote_id)
            await self._put_back(batch, remote.remote_id)

    async def _send(self, endpoint: BatchEndpoint, batch: _Batch) -> RemoteBatch | None:
        """Create a batch at the endpoint, or find the one that was created; None if there is no call to send."""
        key = str(batch.batch_id)
        found = await endpoint.find(key, batch.age)
        if found is not None or not batch.is_wanted:
            return found
        rows = await fetch(self._pool, "batch_requests", worker_id=self._worker_id, batch_id=batch.batch_id)
        if not rows:
            return None
        created = await endpoint.create(key, [(row["completion_id"], row["request"]) for row in rows])
        self._last_sent = len(rows)
        _logger.info("sent a batch of %d calls: %s", len(rows), created.remote_id)
        return created

    async def _read(self, endpoint: BatchEndpoint, batch: _Batch, remote: RemoteBatch) -> None:
        replies = await endpoint.read(remote)
        for start in range(0, len(replies), STORED_AT_ONCE):
            await self._store(batch, replies[start : start + STORED_AT_ONCE])
        # A batch that is larger than all that the endpoint takes would never be taken.
        self._most_requests = (
            max(1, min(self._most_requests, self._last_sent) // 2) if remote.is_full else _MOST_REQUESTS
        )
        await self._end(batch, _FULL_PAUSE if remote.is_full else None)
        _logger.info("read a batch with %d replies: %s", len(replies), remote.remote_id)
        if remote.refused:
            _logger.warning("a batch ended as %s; calls without a reply: %d", remote.status, remote.refused)
        try:
            await endpoint.forget(remote)
        except EndpointUnavailable as error:
            _logger.warning("files of a batch stay until the endpoint deletes them: %s", error.detail)

    async def _store(self, batch: _Batch, replies: Sequence[tuple[int, Completion]]) -> None:
        await fetch(
            self._pool,
            "store_batch",
            worker_id=self._worker_id,
            batch_id=batch.batch_id,
            completions=json.dumps(
                [{"completion_id": completion_id, **asdict(completion)} for completion_id, completion in replies]
            ),
        )

    async def _end(self, batch: _Batch, again_after: timedelta | None = None, *, is_read: bool = True) -> None:
        await fetch(
            self._pool,
            "end_batch",
            worker_id=self._worker_id,
            batch_id=batch.batch_id,
            again_after=again_after,
            is_read=is_read,
        )

    async def _put_back(self, batch: _Batch, remote_id: str | None = None, *, pause: timedelta | None = None) -> None:
        await fetch(
            self._pool,
            "put_back_batch",
            worker_id=self._worker_id,
            batch_id=batch.batch_id,
            remote_id=remote_id,
            pause=pause or batch.pause,
        )
