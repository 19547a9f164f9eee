"""Work on runs that have ended: group questions with the same meaning."""

from __future__ import annotations

import time
from collections.abc import Callable

from pgclarify.database.pool import Pool, fetch_value

# A transaction takes a few tenths of a second, or longer if all words are new.
_MOST_RUNS = 200
# Grouping yields to runs, because both need the CPU, and no run starts on a corpus whose questions are being grouped.
# But a queue may never be empty, so grouping waits only this long.
_MOST_BEHIND_SECONDS = 300.0


class QuestionGrouping:
    """Groups ended runs whose questions mean the same.

    Args:
        pool: The worker's connections.
        is_busy: Whether the worker has more important work.
        clock: Returns seconds; only differences count.
    """

    def __init__(self, pool: Pool, *, is_busy: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self._pool = pool
        self._is_busy = is_busy
        self._clock = clock
        self._behind_since: float | None = None

    async def catch_up(self) -> None:
        """Group until nothing is left or the worker is busy. Ignore that it is busy if grouping waited too long."""
        if self._behind_since is None:
            self._behind_since = self._clock()
        while not self._is_busy() or self._clock() - self._behind_since >= _MOST_BEHIND_SECONDS:
            if not await fetch_value(self._pool, "group_questions", most=_MOST_RUNS):
                self._behind_since = None
                return
