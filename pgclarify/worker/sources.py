"""Attached tables: keeps documents equal to the rows of the tables, inside the database."""

from __future__ import annotations

import logging
import time

from pgclarify.database.pool import Pool, fetch
from pgclarify.database.table_session import TableSession
from pgclarify.errors import DatabaseBusy, DatabaseError, ServerUnavailable, describe

_logger = logging.getLogger(__name__)

# Most changes, rows or documents in a batch, and most bytes of its rows, and of the documents that it replaces or
# removes. Removing documents also deletes their passages, which takes some seconds. A batch must not take as long as
# TableSession permits: then it would be rolled back and tried again without end.
_MOST = 1000
_MOST_BYTES = 8_000_000
# Time until a locked table is tried again, because each try may wait for half a second.
_BUSY_SECONDS = 2.0
# Time until a table is tried again after an error that the database could not attribute to the table.
_TROUBLE_SECONDS = 30.0


class Sources:
    """The work of a worker for attached tables."""

    def __init__(self, dsn: str, pool: Pool) -> None:
        self._pool = pool
        self._session = TableSession(dsn, pool)
        # When a locked table may be tried again, by source, in seconds of the monotonic clock.
        self._busy_until: dict[int, float] = {}
        self._last_long_source_id = 0

    async def follow(self) -> None:
        """Work until nothing waits: one batch of changes for each table, then one batch of a load or removal.

        Raises:
            ServerUnavailable: If there is no connection.
            DatabaseBusy: If the waiting work cannot be listed now.
            DatabaseError: If the server refuses to list it.
        """
        while True:
            now = time.monotonic()
            self._busy_until = {source_id: until for source_id, until in self._busy_until.items() if until > now}
            rows = await fetch(self._pool, "waiting_sources")
            waiting = [(row["source_id"], row["work"]) for row in rows if row["source_id"] not in self._busy_until]
            if not waiting:
                await self._session.close()
                return
            for source_id, work in waiting:
                if work == "changes":
                    await self._advance(source_id, work)
            long_ones = sorted((source_id, work) for source_id, work in waiting if work != "changes")
            if long_ones:
                # Take the sources in order; after the last, start again with the first.
                later = (one for one in long_ones if one[0] > self._last_long_source_id)
                source_id, work = next(later, long_ones[0])
                self._last_long_source_id = source_id
                await self._advance(source_id, work)

    async def close(self) -> None:
        """Close the connection that reads."""
        await self._session.close()

    async def inspect(self) -> None:
        """Find changes that no trigger reports: dropped tables, new partitions, lost privileges."""
        await fetch(self._pool, "inspect_sources")

    async def _advance(self, source_id: int, work: str) -> None:
        """Do one batch for one source. If it fails, the other sources are served all the same."""
        pause = 0.0
        try:
            (row,) = await self._session.fetch(
                "advance_source", source_id=source_id, work=work, max_rows=_MOST, max_bytes=_MOST_BYTES
            )
            if row["result"] is None:
                pause = _BUSY_SECONDS
        except ServerUnavailable:
            raise
        except DatabaseBusy as busy:
            # Without this line, a batch that always exceeds the time limit would never be reported.
            _logger.warning("%s of source %d has to wait: %s", work, source_id, describe(busy))
            pause = _BUSY_SECONDS
        except DatabaseError:
            _logger.exception("%s of source %d failed, trying again", work, source_id)
            pause = _TROUBLE_SECONDS
        if pause:
            self._busy_until[source_id] = time.monotonic() + pause
