"""A worker carries out many runs at once. A run that may have crashed a worker (a suspect) has no other beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class Quarantine:
    """Carries out a suspect without other runs, so that a crash is attributed to the run that caused it.

    No model on this machine embeds passages meanwhile. Documents are still cut and stored, and embedded by endpoints.

    Args:
        turn: Lock that is held during each call that embeds passages with a model on this machine.
    """

    def __init__(self, turn: asyncio.Lock) -> None:
        self._turn = turn
        self._one_suspect = asyncio.Lock()
        self._suspects = self._others = 0
        self._has_no_other = asyncio.Event()
        self._has_no_other.set()

    @property
    def has_suspect(self) -> bool:
        """Return whether a suspect is carried out, or waits until it may be."""
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
        """Carry out a suspect in the block. It waits for runs and calls that have begun, and goes before other runs."""
        self._suspects += 1
        try:
            async with self._one_suspect:
                await self._has_no_other.wait()
                async with self._turn:
                    yield
        finally:
            self._suspects -= 1
