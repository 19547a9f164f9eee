"""Waits for many runs at once, with one short statement at a time."""

from __future__ import annotations

import asyncio
import time

from pgclarify.client import AsyncClient, RunOutcome
from pgclarify.errors import PgclarifyError

# Longest wait inside the server.
_LOOK_SECONDS = 0.001
# The pause is this share of the time so far, as in SQL.
_SHARE = 1 / 20
_LEAST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25


class RunWaiter:
    """Waits for runs. Between two checks it keeps no transaction and no connection.

    Args:
        client: The client whose role submitted the runs.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._waiting: dict[int, asyncio.Future[RunOutcome]] = {}
        self._since: dict[int, float] = {}
        self._looking: asyncio.Task[None] | None = None

    async def wait(self, run_id: int) -> RunOutcome:
        """Wait until a run is over. Several callers may wait for one run.

        Raises:
            PgclarifyError: If the server cannot be asked.
        """
        over = self._waiting.get(run_id)
        if over is None:
            over = self._waiting[run_id] = asyncio.get_running_loop().create_future()
            self._since[run_id] = time.monotonic()
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        # Shielded: if one caller is cancelled, the others still wait.
        return await asyncio.shield(over)

    async def close(self) -> None:
        """Stop waiting."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        for over in self._waiting.values():
            over.cancel()
        self._waiting.clear()

    async def _look(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._pause())
            asked = list(self._waiting)
            try:
                outcomes = await self._client.wait(asked, timeout=_LOOK_SECONDS)
            except PgclarifyError as error:
                for run_id in asked:
                    over = self._end(run_id)
                    over.set_exception(error)
                    # Read the exception, because possibly no caller waits for it any more.
                    over.exception()
                continue
            for outcome in outcomes:
                if outcome.is_over:
                    self._end(outcome.run_id).set_result(outcome)

    def _end(self, run_id: int) -> asyncio.Future[RunOutcome]:
        del self._since[run_id]
        return self._waiting.pop(run_id)

    def _pause(self) -> float:
        shortest = time.monotonic() - max(self._since.values())
        return min(max(shortest * _SHARE, _LEAST_PAUSE), _LONGEST_PAUSE)
