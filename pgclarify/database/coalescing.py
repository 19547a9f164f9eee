"""Merges single writes that wait at the same time into one statement."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
# A reply of the network passes through some rounds of the event loop before it becomes a write.
_QUIET_ROUNDS = 8


class Coalescer(Generic[T, R]):
    """While one batch is being written, the next one gathers: a lone write goes out at once, many share a commit.

    Args:
        write: Writes a batch and returns one result per item, in order. What it raises, every item of the batch raises.
        most: Most items in a batch.
    """

    def __init__(self, write: Callable[[Sequence[T]], Awaitable[Sequence[R]]], *, most: int = 256) -> None:
        self._write = write
        self._most = most
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def add(self, item: T) -> R:
        """Write an item with whatever else is waiting, and return its result.

        A cancelled caller does not take its item back.
        """
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._writer is None:
            self._writer = asyncio.create_task(self._drain())
        return await future

    async def _drain(self) -> None:
        try:
            while self._waiting:
                await self._gather()
                batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._write_batch(batch)
        finally:
            self._writer = None

    async def _gather(self) -> None:
        """Let the event loop go round until that brings nothing new: what arrives in one burst is written at once."""
        quiet_rounds = 0
        while quiet_rounds < _QUIET_ROUNDS and len(self._waiting) < self._most:
            before = len(self._waiting)
            await asyncio.sleep(0)
            quiet_rounds = quiet_rounds + 1 if len(self._waiting) == before else 0

    async def _write_batch(self, batch: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self._write([item for item, _ in batch])
        except BaseException as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)
