"""Merges concurrent single writes into one statement."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")
# A reply needs several rounds of the event loop before it becomes a write.
_QUIET_ROUNDS = 8


class Coalescer(Generic[T]):
    """Collects writes while a batch is being written, or while others are expected, so that many share a commit.

    Args:
        write: Writes a batch. If it raises, every item of the batch raises that.
        patience: Most seconds that a write waits for others that are expected.
        most: Most items in a batch.
    """

    def __init__(
        self, write: Callable[[Sequence[T]], Awaitable[None]], *, patience: float = 0.0, most: int = 256
    ) -> None:
        self._write = write
        self._patience = patience
        self._most = most
        self._hurry = asyncio.Event()
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None
        # How many items were added, and of how many the writing has begun.
        self._added = self._begun = 0
        self._has_begun = asyncio.Event()

    async def begun(self) -> None:
        """Wait until the writing of all that was added has begun."""
        added = self._added
        while self._begun < added:
            await self._has_begun.wait()

    async def add(self, item: T, *, expects_more: bool = False) -> None:
        """Write an item together with other waiting items.

        Cancelling the caller does not cancel the write.

        Args:
            item: What is written.
            expects_more: Whether the caller will soon add others, so that this one may wait for them.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        self._added += 1
        if not expects_more or len(self._waiting) >= self._most:
            self._hurry.set()
        if self._writer is None:
            self._writer = asyncio.create_task(self._drain())
        await future

    async def _drain(self) -> None:
        try:
            while self._waiting:
                await self._gather()
                self._hurry.clear()
                batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                self._begun += len(batch)
                self._has_begun.set()
                self._has_begun = asyncio.Event()
                await self._write_batch(batch)
        finally:
            self._writer = None

    async def _gather(self) -> None:
        """Wait for what is expected, and until the event loop adds no new items: simultaneous ones belong together."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), self._patience)
        quiet_rounds = 0
        while quiet_rounds < _QUIET_ROUNDS and len(self._waiting) < self._most:
            before = len(self._waiting)
            await asyncio.sleep(0)
            quiet_rounds = quiet_rounds + 1 if len(self._waiting) == before else 0

    async def _write_batch(self, batch: Sequence[tuple[T, asyncio.Future[None]]]) -> None:
        try:
            await self._write([item for item, _ in batch])
        except BaseException as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        for _, future in batch:
            if not future.done():
                future.set_result(None)
