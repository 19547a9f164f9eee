"""Runs go side by side in a worker, but for those that workers were lost with: each of these goes alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Quarantine:
    """Keeps suspects and all other work of a worker apart, so that a crash is put down to the run that caused it.

    Args:
        turn: Taken while documents and passages are embedded.
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
        """For a run like any other; it waits while there is a suspect."""
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
        """For a suspect: it waits for what is begun, and goes before what is not."""
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
