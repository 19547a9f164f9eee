"""How many passages the runs of a worker judge at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pgclarify.protocols import Urgency, current_urgency


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A run that waits: for how many passages, and whether a caller waits for it."""

    passages: int
    urgency: Urgency
    turn: asyncio.Future[None]


class JudgingRoom:
    """Limits how many passages the runs of a worker judge at once. A run that a caller waits for needs no room.

    Without it, all runs that a worker has taken would search before one of them could judge, and the endpoint would
    wait meanwhile.

    Args:
        most: Passages. A run with more is let in while there is any room.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._waiting: list[_Waiting] = []
        self._seen_changes = Urgency.changes

    @asynccontextmanager
    async def take(self, passages: int) -> AsyncIterator[Callable[[], None]]:
        """Wait for room, and keep it until each passage is judged or the block ends.

        Yields:
            A function to call whenever a passage is judged, so that one slow passage keeps no room for others.
        """
        held = 0 if current_urgency().is_waited_for else passages
        if held:
            await self._enter(held)

        def judged() -> None:
            nonlocal held
            if held:
                held -= 1
                self._give_back(1)

        try:
            yield judged
        finally:
            self._give_back(held)

    async def _enter(self, passages: int) -> None:
        if self._free > 0:
            self._free -= passages
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(passages, current_urgency(), turn))
        try:
            await turn
        except asyncio.CancelledError:
            # The turn may have come at the same moment. Then another run gets it.
            if not turn.cancelled():
                self._give_back(passages)
            raise

    def _give_back(self, passages: int) -> None:
        self._free += passages
        # Looking at hundreds of runs after each passage would take 3 % of the CPU time.
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
                self._free -= first.passages
                first.turn.set_result(None)
