"""The line in which calls wait for an endpoint that takes only so many at once, and who goes first in it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from pgclarify.protocols import is_waited_for

# What a run asks many times over.
_MASS_PURPOSES: Final = frozenset({"verdict", "relevance", "entailment", "sample"})


class CallLine:
    """Calls that wait for their turn: first those of runs that somebody waits for, then those of all other runs.

    Of each of these two, a call that a run begins with goes before the many that it asks later: all else in the run
    waits for it. Calls of one kind go in order of arrival.

    Args:
        most: Most calls that have their turn at once.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        # The first kind goes first. A call waits only while nothing is free.
        self._waiting: tuple[deque[asyncio.Future[None]], ...] = (deque(), deque(), deque(), deque())

    @asynccontextmanager
    async def turn(self, purpose: str) -> AsyncIterator[None]:
        """Wait for the turn of a call, and keep it as long as the block lasts.

        Args:
            purpose: What the reply is for.
        """
        await self._take(2 * (not is_waited_for()) + (purpose in _MASS_PURPOSES))
        try:
            yield
        finally:
            self._pass_on()

    async def _take(self, kind: int) -> None:
        if self._free > 0:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[kind].append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            # The turn may have come in the same moment, and then it is another call's.
            if not turn.cancelled():
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give a turn to the call that goes first, or keep it free."""
        for line in self._waiting:
            while line:
                turn = line.popleft()
                # That of a call that was given up is over.
                if not turn.done():
                    turn.set_result(None)
                    return
        self._free += 1
