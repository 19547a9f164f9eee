"""How many calls the runs of a worker make at once to judge passages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pgclarify.protocols import Urgency, current_urgency


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A run that waits: for how many calls, and whether a caller waits for it."""

    calls: int
    urgency: Urgency
    turn: asyncio.Future[None]


class JudgingRoom:
    """Limits how many calls the runs of a worker judge by at once. A run that a caller waits for needs no room.

    Without it, all runs that a worker has taken would search before one of them could judge, and the endpoint would
    wait meanwhile.

    Args:
        most: Calls. A run with more is let in while there is any room.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._waiting: list[_Waiting] = []
        self._seen_changes = Urgency.changes

    @asynccontextmanager
    async def take(self, calls: int) -> AsyncIterator[Callable[[], None]]:
        """Wait for room, and keep it until each call is over or the block ends.

        Yields:
            A function to call whenever a call is over, so that a slow one keeps no room for others.
        """
        held = 0 if current_urgency().is_waited_for else calls
        if held:
            await self._enter(held)

        def over() -> None:
            nonlocal held
            if held:
                held -= 1
                self._give_back(1)

        try:
            yield over
        finally:
            self._give_back(held)

    async def _enter(self, calls: int) -> None:
        if self._free > 0:
            self._free -= calls
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(calls, current_urgency(), turn))
        try:
            await turn
        except asyncio.CancelledError:
            # The turn may have come at the same moment. Then another run gets it.
            if not turn.cancelled():
                self._give_back(calls)
            raise

    def _give_back(self, calls: int) -> None:
        self._free += calls
        # Looking at hundreds of runs after each call would take 3 % of the CPU time.
        if self._free <= 0 and self._seen_changes == Urgency.changes:
            return
        self._seen_changes = Urgency.changes
        while self._waiting:
            # A caller may have begun to wait for a run since it came.
            first = min(self._waiting, key=lambda one: not one.urgency.is_waited_for)
            if self._free <= 0 and not first.urgency.is_waited_for:
                return
            self._waiting.remove(first)
            if not first.turn.done():
                self._free -= first.calls
                first.turn.set_result(None)
