"""A worker carries out many runs at once. A run that may have crashed a worker (a suspect) is carried out alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Quarantine:
    """Carries out a suspect without any other work, so that a crash is attributed to the run that caused it.

    Args:
        turn: Lock that is held while documents and passages are embedded.
    """

    def __init__(self, turn: asyncio.Lock) -> None:
        self._turn = turn
        self._one_suspect = asyncio.Lock()
        self._suspects = self._others = 0
        self._has_no_suspect, self._has_no_other = asyncio.Event(), asyncio.Event()
        self._has_no_suspect.set()
        self._has_no_other.set()

    @asynccontextmanager
    async def beside_others(self) -> AsyncIterator[None]:
        """Carry out an ordinary run in the block; it first waits until there is no suspect."""
        while self._suspects:
            await self._has_no_suspect.wait()
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
        self._has_no_suspect.clear()
        try:
            async with self._one_suspect:
                await self._has_no_other.wait()
                async with self._turn:
                    yield
        finally:
            self._suspects -= 1
            if not self._suspects:
                self._has_no_suspect.set()
