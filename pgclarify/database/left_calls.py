"""Calls of models that go on although their runs are over, because their replies are charged all the same."""

from __future__ import annotations

import asyncio
from typing import Any


class LeftCalls:
    """The calls of one worker whose runs were cancelled or lost. Their replies are stored for the next run.

    They keep their turns at the endpoint. When other calls wait for a turn, only some of them go on.

    Args:
        most_when_crowded: How many go on when other calls wait; 0 if none may be left at all.
    """

    def __init__(self, most_when_crowded: int) -> None:
        self._most_when_crowded = most_when_crowded
        # In the order in which they were left: the end of each, its key and the call itself.
        self._calls: dict[asyncio.Task[None], tuple[object, asyncio.Task[Any]]] = {}

    @property
    def are_allowed(self) -> bool:
        """Tell whether calls may be left."""
        return self._most_when_crowded > 0

    def __contains__(self, key: object) -> bool:
        """Tell whether a call with this key of the ledger goes on."""
        return any(known == key for known, _ in self._calls.values())

    def add(self, key: object, call: asyncio.Task[Any], end: asyncio.Task[None]) -> None:
        """Keep a call.

        Args:
            key: The key of its request in the ledger. No other call of this worker may be made for it meanwhile.
            call: Returns the reply.
            end: Waits for the call; then it stores the reply, or releases the lease.
        """
        self._calls[end] = (key, call)
        end.add_done_callback(lambda done: self._calls.pop(done, None))

    def make_room(self) -> None:
        """Cut off all but the few that may go on while other calls wait; those that were left first go on."""
        for _, call in list(self._calls.values())[self._most_when_crowded :]:
            call.cancel()

    async def close(self) -> None:
        """Cut off all of them, and wait until that is noted in the ledger."""
        for _, call in self._calls.values():
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
