"""The line in which calls wait for an endpoint that takes only so many at once, and who goes first in it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from pgclarify.protocols import is_waited_for

# What a run asks many times over.
_MASS_PURPOSES: Final = frozenset({"verdict", "relevance", "entailment", "sample"})
# One turn of this many goes to the oldest call of a batch. Otherwise its lease in the ledger could end while it waits,
# and another run would pay for the same reply.
_BACKGROUND_EVERY: Final = 4


@dataclass(slots=True)
class _Waiting:
    """A call that waits.

    Attributes:
        arrival: The number of its arrival.
        turn: Done when its turn has come, or when the call was given up.
    """

    arrival: int
    turn: asyncio.Future[None]


class CallLine:
    """Calls that wait for their turn: first those of runs that somebody waits for, then those of all other runs.

    Of each of these two, a call that a run begins with goes before the many that it asks later: all else in the run
    waits for it. Calls of one kind go in order of arrival. While calls of both wait, every fourth turn goes to the
    oldest call of a run that nobody waits for, so that it does not wait without end.

    Args:
        most: Most calls that have their turn at once.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        # The first kind goes first. A call waits only while nothing is free.
        self._waiting: tuple[deque[_Waiting], ...] = (deque(), deque(), deque(), deque())
        self._arrivals = 0
        # Turns in a row that went past a waiting call of a batch.
        self._passed = 0

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
        self._arrivals += 1
        self._waiting[kind].append(_Waiting(self._arrivals, turn))
        try:
            await turn
        except asyncio.CancelledError:
            # The turn may have come in the same moment, and then it is another call's.
            if not turn.cancelled():
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give a turn to the call that goes next, or keep it free."""
        line = self._next_line()
        if line is None:
            self._free += 1
        else:
            line.popleft().turn.set_result(None)

    def _next_line(self) -> deque[_Waiting] | None:
        """Return the line whose first call goes next; None if no call waits."""
        for line in self._waiting:
            # A call that was given up needs no turn.
            while line and line[0].turn.done():
                line.popleft()
        urgent = [line for line in self._waiting[:2] if line]
        background = [line for line in self._waiting[2:] if line]
        if not (urgent and background):
            self._passed = 0
            return next(iter(urgent or background), None)
        self._passed = (self._passed + 1) % _BACKGROUND_EVERY
        return urgent[0] if self._passed else min(background, key=lambda line: line[0].arrival)
