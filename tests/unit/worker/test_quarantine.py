"""Suspects are executed alone, and all other runs at the same time."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress

import pytest

from pgclarify.worker.quarantine import Quarantine


class Runs:
    """Runs that continue until a test ends them, and the active runs at the start of each."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.quarantine = Quarantine(self.turn)
        self.under_way: set[str] = set()
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, name: str) -> None:
        """Start a run. It is a suspect if its name says so."""
        self.ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._run(name))

    async def end(self, *names: str) -> None:
        for name in names:
            self.ends[name].set()
            await self.tasks[name]
        await settle()

    async def _run(self, name: str) -> None:
        async with AsyncExitStack() as stack:
            if name.startswith("suspect"):
                await stack.enter_async_context(self.quarantine.alone())
            else:
                stack.enter_context(self.quarantine.beside_others())
            self.under_way.add(name)
            try:
                await self.ends[name].wait()
            finally:
                self.under_way.discard(name)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
async def runs() -> Runs:
    return Runs()


async def test_a_suspect_waits_for_what_is_begun(runs: Runs) -> None:
    runs.begin("a")
    await settle()
    for name in ("suspect 1", "suspect 2"):
        runs.begin(name)
    await settle()
    assert runs.quarantine.has_suspect
    assert runs.under_way == {"a"}
    await runs.end("a")
    assert runs.under_way == {"suspect 1"}
    await runs.end("suspect 1")
    assert runs.under_way == {"suspect 2"}
    await runs.end("suspect 2")
    assert not runs.quarantine.has_suspect
    runs.begin("d")
    await settle()
    assert runs.under_way == {"d"}
    await runs.end("d")


async def test_nothing_is_embedded_beside_a_suspect(runs: Runs) -> None:
    async with runs.turn:
        runs.begin("suspect")
        await settle()
        assert runs.under_way == set()
    await settle()
    assert runs.under_way == {"suspect"}
    assert runs.turn.locked()
    await runs.end("suspect")
    assert not runs.turn.locked()


async def test_a_cancelled_suspect_does_not_block_other_runs(runs: Runs) -> None:
    runs.begin("a")
    await settle()
    runs.begin("suspect")
    await settle()
    runs.tasks["suspect"].cancel()
    with suppress(asyncio.CancelledError):
        await runs.tasks["suspect"]
    runs.begin("b")
    await settle()
    assert runs.under_way == {"a", "b"}
    runs.begin("suspect 2")
    await settle()
    await runs.end("a", "b")
    assert runs.under_way == {"suspect 2"}
    await runs.end("suspect 2")
