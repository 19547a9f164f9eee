"""Waiting for many runs with one statement at a time."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from pgclarify.client import AsyncClient, RunOutcome
from pgclarify.errors import ServerUnavailable
from pgclarify.evaluation.waiting import RunWaiter
from pgclarify.vocabulary import RunStatus


class Looked:
    """A client whose runs end when a test says so."""

    def __init__(self) -> None:
        self.over: set[int] = set()
        self.asked: list[list[int]] = []
        self.in_flight = 0
        self.is_gone = False

    async def wait(self, run_ids: list[int], *, timeout: float) -> list[RunOutcome]:  # noqa: ASYNC109 - the client's
        self.in_flight += 1
        assert self.in_flight == 1
        assert timeout < 0.01
        await asyncio.sleep(0)
        self.in_flight -= 1
        if self.is_gone:
            raise ServerUnavailable("gone")
        self.asked.append(run_ids)
        return [
            RunOutcome(run_id, RunStatus.SUCCEEDED if run_id in self.over else RunStatus.RUNNING, None, None)
            for run_id in run_ids
        ]


async def waited_for(looked: Looked, waiter: RunWaiter, *run_ids: int) -> list[asyncio.Task[RunOutcome]]:
    tasks = [asyncio.create_task(waiter.wait(run_id)) for run_id in run_ids]
    before = len(looked.asked)
    async with asyncio.timeout(60):
        while len(looked.asked) == before:  # noqa: ASYNC110 - whatever comes first
            await asyncio.sleep(0.001)
    return tasks


async def test_all_are_looked_at_together_and_end_one_by_one() -> None:
    looked = Looked()
    waiter = RunWaiter(cast("AsyncClient", looked))
    one, two, again = await waited_for(looked, waiter, 1, 2, 1)
    assert looked.asked[0] == [1, 2]
    looked.over.add(1)
    assert (await one).run_id == (await again).run_id == 1
    assert not two.done()
    looked.over.add(2)
    assert (await two).status is RunStatus.SUCCEEDED
    looks = len(looked.asked)
    await asyncio.sleep(0.05)
    assert len(looked.asked) == looks, "no caller waits"
    looked.over.add(3)
    assert (await waiter.wait(3)).run_id == 3
    await waiter.close()


async def test_whoever_stops_waiting_stops_alone() -> None:
    looked = Looked()
    waiter = RunWaiter(cast("AsyncClient", looked))
    one, again = await waited_for(looked, waiter, 1, 1)
    one.cancel()
    looked.over.add(1)
    assert (await again).run_id == 1
    assert one.cancelled()
    await waiter.close()


async def test_a_server_that_is_gone_is_told_to_all() -> None:
    looked = Looked()
    waiter = RunWaiter(cast("AsyncClient", looked))
    tasks = await waited_for(looked, waiter, 1, 2)
    looked.is_gone = True
    for task in tasks:
        with pytest.raises(ServerUnavailable):
            await task
    looked.is_gone = False
    looked.over.add(1)
    assert (await waiter.wait(1)).run_id == 1
    await waiter.close()


async def test_closed_nobody_waits_on() -> None:
    looked = Looked()
    waiter = RunWaiter(cast("AsyncClient", looked))
    (task,) = await waited_for(looked, waiter, 1)
    await waiter.close()
    with pytest.raises(asyncio.CancelledError):
        await task
