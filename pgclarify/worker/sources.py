"""Attached tables: their rows are kept in step with documents, all inside the database."""

from __future__ import annotations

import logging
import time

from pgclarify.database.pool import Pool, fetch
from pgclarify.database.table_session import TableSession
from pgclarify.errors import DatabaseBusy, DatabaseError, ServerUnavailable

_logger = logging.getLogger(__name__)

# Of changes, rows or documents in a batch, which then takes some tenths of a second at most.
_MOST = 1000
_MOST_BYTES = 8_000_000
# A table that somebody holds is left alone for so long, since each try may wait for half a second.
_BUSY_SECONDS = 2.0
# One of which something went wrong that the database could not put down to the table.
_TROUBLE_SECONDS = 30.0


class Sources:
    """What a worker does for attached tables."""

    def __init__(self, dsn: str, pool: Pool) -> None:
        self._pool = pool
        self._session = TableSession(dsn, pool)
        # When tables that were held may be tried again, by their source; in seconds of the monotonic clock.
        self._busy_until: dict[int, float] = {}
        self._last_long_source_id = 0

    async def follow(self) -> None:
        """Work until nothing waits: a batch of changes of each table in turn, then a batch of one load or removal.

        Raises:
            ServerUnavailable: If there is no connection.
            DatabaseBusy: If what waits cannot be listed now.
            DatabaseError: If the server refuses to.
        """
        while True:
            now = time.monotonic()
            self._busy_until = {source_id: until for source_id, until in self._busy_until.items() if until > now}
            rows = await fetch(self._pool, "list_waiting_sources")
            waiting = [(row["source_id"], row["work"]) for row in rows if row["source_id"] not in self._busy_until]
            if not waiting:
                await self._session.close()
                return
            for source_id, work in waiting:
                if work == "changes":
                    await self._do("follow_changes", source_id, max_changes=_MOST, max_bytes=_MOST_BYTES)
            long_ones = sorted((source_id, work) for source_id, work in waiting if work != "changes")
            if long_ones:
                # One after the other, from the first again after the last.
                later = (one for one in long_ones if one[0] > self._last_long_source_id)
                source_id, work = next(later, long_ones[0])
                self._last_long_source_id = source_id
                if work == "load":
                    await self._do("load_source", source_id, max_rows=_MOST, max_bytes=_MOST_BYTES)
                else:
                    await self._do("remove_source", source_id, max_documents=_MOST)

    async def close(self) -> None:
        """Close the connection that reads."""
        await self._session.close()

    async def inspect(self) -> None:
        """Notice what no trigger sees: tables that were dropped, other partitions, rights that were lost."""
        await fetch(self._pool, "inspect_sources")

    async def _do(self, name: str, source_id: int, **limits: int) -> None:
        """Send a statement about one source; if it cannot be carried out, the others have their turn all the same."""
        pause = 0.0
        try:
            (row,) = await self._session.fetch(name, source_id=source_id, **limits)
            if row["done"] is None:
                pause = _BUSY_SECONDS
        except ServerUnavailable:
            raise
        except DatabaseBusy:
            pause = _BUSY_SECONDS
        except DatabaseError:
            _logger.exception("%s failed for source %d, trying again", name, source_id)
            pause = _TROUBLE_SECONDS
        if pause:
            self._busy_until[source_id] = time.monotonic() + pause
