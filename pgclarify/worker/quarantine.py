"""A worker carries out many runs at once. A run that may have crashed a worker (a suspect) is carried out alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class Quarantine:
    """Carries out a suspect without any other work, so that a crash is attributed to the run that caused it.

    Args:
        turn: Lock that is held while documents and passages are embedded.
    """

    def __init__(self, turn: asyncio.Lock) -> None:
        self._turn = turn
        self._one_suspect = asyncio.Lock()
        self._suspects = self._others = 0
        self._has_no_other = asyncio.Event()
        self._has_no_other.set()

    @property
    def has_suspect(self) -> bool:
        """Return whether a suspect is carried out, or waits for work that has begun."""
        return self._suspects > 0

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        """Carry out an ordinary run in the block. A worker with a suspect takes none."""
        self._others += 1
        self._has_no_other.clear()
        try:
            yield
        finally:
            self._others -= 1
            if not self._others:
                self._has_no_other.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Carry out a suspect in the block. It waits for work that has begun, and goes before all other work."""
        self._suspects += 1
        try:
            async with self._one_suspect:
                await self._has_no_other.wait()
                async with self._turn:
                    yield
        finally:
            self._suspects -= 1
