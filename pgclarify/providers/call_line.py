"""The line of calls that wait for an endpoint with limited concurrency and rate, and their order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from pgclarify.protocols import Sending, Urgency, current_urgency
from pgclarify.providers.rate_limit import RateLimit, Turn

# A run makes many calls of these purposes.
_MASS_PURPOSES: Final = frozenset({"verdict", "relevance", "entailment", "sample"})
# One turn of this many goes to the oldest call of a batch. Otherwise its lease in the ledger could end while it waits,
# and another run would pay for the same reply.
_BACKGROUND_EVERY: Final = 4


@dataclass(slots=True)
class _Waiting:
    """A call that waits.

    Attributes:
        arrival: The number of its arrival.
        is_one_of_many: Whether its run makes many calls of its purpose.
        urgency: Whether a caller waits for it.
        turn: Done when its turn has come, or when the call was given up.
        sending: Notes the call as sent; None once it was told to prepare, or if there is nothing to note.
    """

    arrival: int
    is_one_of_many: bool
    urgency: Urgency
    turn: asyncio.Future[None]
    sending: Sending | None

    @property
    def line(self) -> int:
        """The line in which it waits; 0 goes first."""
        return 2 * (not self.urgency.is_waited_for) + self.is_one_of_many


class CallLine:
    """Calls that wait for their turn: first those of runs with a waiting caller, then those of all other runs.

    In each of these two groups, the first call of a run goes before the many later ones, because the rest of the run
    waits for it. Calls of one kind keep their order of arrival. While calls of both groups wait, every fourth turn goes
    to the oldest call of the second group, so that it does not wait without end. A call changes its group when a caller
    starts to wait for it.

    Turns are given one after the other while the rate makes a call wait. So an urgent call waits for one other at most.

    Args:
        most: Most calls that have their turn at once.
        rate: The rate at which they may begin; None for no limit.
    """

    def __init__(self, most: int, rate: RateLimit | None = None) -> None:
        self._free = most
        self._most = most
        self._rate = rate
        # Whether a call has its turn, and waits for the rate.
        self._is_pacing = False
        # Queues by priority. A call waits only while no turn is free, or another call waits for the rate.
        self._waiting: tuple[deque[_Waiting], ...] = (deque(), deque(), deque(), deque())
        self._arrivals = 0
        self._seen_changes = Urgency.changes
        # Turns in a row that went past a waiting call of a batch.
        self._passed = 0

    @property
    def turns_free(self) -> int:
        """How many turns are free, less the calls that wait for one."""
        return self._free - sum(not call.turn.done() for line in self._waiting for call in line)

    @asynccontextmanager
    async def turn(self, purpose: str, size: int = 0, sending: Sending | None = None) -> AsyncIterator[Turn]:
        """Wait for the turn of a call, and keep it until the block ends. The block notes what the call took.

        Args:
            purpose: The purpose of the reply.
            size: Characters of the request; 0 if they are not known yet.
            sending: Told to prepare when the turn will come soon; None if there is nothing to note.
        """
        await self._take(purpose in _MASS_PURPOSES, sending)
        turn, reserved = Turn(), 0.0
        try:
            if self._rate is not None:
                try:
                    reserved = await self._rate.take(turn, size)
                finally:
                    self._is_pacing = False
                    self._pass_on()
            try:
                yield turn
            finally:
                if self._rate is not None:
                    self._rate.settle(turn, size, reserved)
        finally:
            self._free += 1
            self._pass_on()

    async def _take(self, is_one_of_many: bool, sending: Sending | None) -> None:
        if self._free > 0 and not self._is_pacing:
            self._start()
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        call = _Waiting(self._arrivals, is_one_of_many, current_urgency(), turn, sending)
        self._waiting[call.line].append(call)
        self._prepare()
        try:
            await turn
        except asyncio.CancelledError:
            # The turn may have come at the same moment. Then another call gets it.
            if not turn.cancelled():
                self._free += 1
                self._is_pacing = False
                self._pass_on()
            raise

    def _start(self) -> None:
        self._free -= 1
        self._is_pacing = self._rate is not None

    def _pass_on(self) -> None:
        """Give free turns to the next calls."""
        while self._free > 0 and not self._is_pacing and (line := self._next_line()) is not None:
            self._start()
            line.popleft().turn.set_result(None)
        self._prepare()

    def _prepare(self) -> None:
        """Tell the calls that go next to prepare, so that none waits for the database while it has its turn.

        These are as many as may have their turn. They share statements: several are told at once, when the first half
        includes a new one. If the worker is killed, those that were not sent count, too.
        """
        waiting = (call for call in chain.from_iterable(self._waiting) if not call.turn.done())
        next_calls = [*islice(waiting, self._most)]
        if any(call.sending is not None for call in next_calls[: (len(next_calls) + 1) // 2]):
            for call in next_calls:
                if call.sending is not None:
                    call.sending.prepare()
                    call.sending = None

    def _next_line(self) -> deque[_Waiting] | None:
        """Return the line whose first call goes next; None if no call waits."""
        if self._seen_changes != Urgency.changes:
            self._sort()
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

    def _sort(self) -> None:
        """Put every call into its line again, because a caller has started or stopped to wait for some of them."""
        self._seen_changes = Urgency.changes
        calls = sorted((call for line in self._waiting for call in line), key=lambda call: call.arrival)
        for line in self._waiting:
            line.clear()
        for call in calls:
            self._waiting[call.line].append(call)
