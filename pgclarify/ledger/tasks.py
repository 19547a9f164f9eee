"""Tasks whose end matters: work that a cancellation must not interrupt, and the error of a group of tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from pgclarify.errors import RunLost

T = TypeVar("T")


async def to_the_end(work: Awaitable[T]) -> T:
    """Await something that must be completed; a cancellation takes effect afterwards.

    It protects short statements: a claim (otherwise its leases would be unknown), a paid reply, the release of a lease
    that others wait for, and verdicts.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await end_of(task)
        raise


async def end_of(task: asyncio.Future[T]) -> None:
    """Wait until a task has ended, and drop its result or error."""
    await asyncio.wait([task])
    if not task.cancelled():
        # Retrieve the exception, so that asyncio does not report it: what ended the waiting has priority.
        task.exception()


def cause_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Choose the exception to raise for a group of tasks: RunLost, because it explains the others, else the first."""
    lost, _ = group.split(RunLost)
    error: BaseException = lost if lost is not None else group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
