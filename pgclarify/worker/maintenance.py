"""Maintenance: the work that a worker repeats beside its runs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from pgclarify.database.pool import Pool, fetch_value
from pgclarify.database.runs import LOCK_NOT_AVAILABLE
from pgclarify.errors import DatabaseBusy, DatabaseError, ServerUnavailable
from pgclarify.worker.executor import RunExecutor

_logger = logging.getLogger(__name__)

# A task that fails at once must not fill the log.
_PAUSE_SECONDS = 2.0
# The check for work is one statement, and people may wait for that work.
_LOOK_SECONDS = 0.5
_QUIET_LOOK_SECONDS = 2.0
_QUIET_AFTER_SECONDS = 30.0
# Always due while a table is attached.
_ALWAYS_DUE = frozenset({"source_inspection"})
# Each failed try makes other sessions wait, so it is not repeated often.
_ORPHAN_RETRY_SECONDS = 60.0


async def every(seconds: float, work: Callable[[], Awaitable[object]]) -> None:
    """Repeat the work, with this many seconds in between.

    Raises:
        ServerUnavailable: If the database is gone.
    """
    while True:
        await _try(work)
        await asyncio.sleep(seconds)


async def whenever(due: asyncio.Event, work: Callable[[], Awaitable[object]], *, rest: float = 0.0) -> None:
    """Do the work each time it is due, with at least `rest` seconds in between.

    Raises:
        ServerUnavailable: If the database is gone.
    """
    while True:
        await due.wait()
        due.clear()
        await _try(work)
        await asyncio.sleep(rest)


async def _try(work: Callable[[], Awaitable[object]]) -> None:
    """Do the work. Errors are logged, because the next try may succeed."""
    try:
        await work()
    except ServerUnavailable:
        raise
    except DatabaseBusy as busy:
        _logger.warning("a maintenance task has to wait: %s", busy.message)
    except Exception:
        _logger.exception("a maintenance task failed, trying again")
        await asyncio.sleep(_PAUSE_SECONDS)


async def keep_looking(pool: Pool, due: Mapping[str, asyncio.Event]) -> None:
    """Check repeatedly which work is due, and less often after a while without work.

    Args:
        pool: The worker's connections.
        due: Events to set when work is due, by the names of `pgclarify_private.due_work`.

    Raises:
        ServerUnavailable: If the database is gone.
    """
    last_found = time.monotonic()

    async def look() -> None:
        nonlocal last_found
        # The functions may be of a newer version by now, which has more kinds of work.
        found = due.keys() & set(await fetch_value(pool, "due_work"))
        for name in found:
            due[name].set()
        if found - _ALWAYS_DUE:
            last_found = time.monotonic()

    while True:
        await _try(look)
        is_quiet = time.monotonic() - last_found > _QUIET_AFTER_SECONDS
        await asyncio.sleep(_QUIET_LOOK_SECONDS if is_quiet else _LOOK_SECONDS)


async def requeue_lost_runs(pool: Pool, executor: RunExecutor, worker_id: int) -> None:
    """Put runs of dead workers, and runs that this worker could not put back, into the queue.

    Args:
        pool: The worker's connections.
        executor: The runs of this worker.
        worker_id: This worker's id.
    """
    if put_back := await fetch_value(pool, "requeue_lost_runs", worker_id=worker_id):
        _logger.info("put back %d runs of workers that are gone", put_back)
    await executor.settle()


async def embed(once: Callable[[], Awaitable[int]]) -> None:
    """Embed documents, or passages with another model, claim by claim until nothing is pending."""
    try:
        while await once():
            pass
    except DatabaseBusy:
        # Passages that could not be stored are embedded again the next time. Wait, to avoid repeating that at once.
        await asyncio.sleep(_PAUSE_SECONDS)
        raise


async def repeat(pool: Pool, function: str, **parameters: int) -> None:
    """Call an internal function, each time in its own transaction, until it returns 0 or null."""
    while await fetch_value(pool, function, **parameters):
        pass


async def drop_orphans(pool: Pool, function: str, **parameters: int) -> None:
    """Remove dropped corpora, or leftovers of corpora or detached tables, step by step, each in its own transaction.

    Args:
        pool: The worker's connections.
        function: The internal function that removes some, and returns 0 or null if there is nothing to remove.
        parameters: Its parameters.
    """
    try:
        await repeat(pool, function, **parameters)
    except DatabaseError as error:
        if error.sqlstate != LOCK_NOT_AVAILABLE:
            raise
        await asyncio.sleep(_ORPHAN_RETRY_SECONDS)
