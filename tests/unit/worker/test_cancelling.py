"""The end of a worker's tasks."""

from __future__ import annotations

import asyncio

import pytest

from pgclarify.worker import serving


async def test_a_task_that_drops_a_cancellation_is_cancelled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_CANCEL_SECONDS", 0.01)
    dropped = 0

    async def stubborn() -> None:
        nonlocal dropped
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            dropped += 1
        await asyncio.Event().wait()

    async def failing() -> None:
        raise ValueError

    tasks = [asyncio.create_task(stubborn()), asyncio.create_task(failing())]
    await asyncio.sleep(0)
    await asyncio.wait_for(serving._cancel(tasks), 10)
    assert dropped == 1
    assert tasks[0].cancelled()
