"""The room for passages that the runs of a worker judge at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace

from pgclarify.operations.execution import execute
from pgclarify.operations.judging.room import JudgingRoom
from pgclarify.protocols import Urgency, urgent
from tests.fakes import FakeStore, scripts
from tests.fakes.context import context_of
from tests.unit.ledger.buying import eventually
from tests.unit.operations.rental_cars import corpus, script


class Run:
    """A run that comes to a room, and stays until it leaves."""

    def __init__(self, room: JudgingRoom, passages: int, *, is_waited_for: bool = False) -> None:
        self.urgency = Urgency(is_waited_for)
        self._stack = AsyncExitStack()
        with urgent(self.urgency):
            self.coming = asyncio.create_task(self._stack.enter_async_context(room.take(passages)))

    async def is_inside(self) -> bool:
        for _ in range(10):
            await asyncio.sleep(0)
        return self.coming.done()

    @property
    def note_judged(self) -> Callable[[], None]:
        return self.coming.result()

    async def leave(self) -> None:
        await self._stack.aclose()


async def test_a_run_waits_until_another_has_judged_enough() -> None:
    room = JudgingRoom(2)
    first, second = Run(room, 3), Run(room, 2)
    assert await first.is_inside()
    assert not await second.is_inside()
    first.note_judged()
    assert not await second.is_inside()
    # Its last passage may take long: it keeps its own place only.
    first.note_judged()
    assert await second.is_inside()


async def test_a_run_that_ends_early_gives_back_its_room() -> None:
    room = JudgingRoom(1)
    first, second = Run(room, 5), Run(room, 5)
    assert await first.is_inside()
    first.note_judged()
    await first.leave()
    assert await second.is_inside()
    third = Run(room, 1)
    assert not await third.is_inside()
    for _ in range(5):
        second.note_judged()
    assert await third.is_inside()


async def test_a_run_with_a_waiting_caller_needs_no_room() -> None:
    room = JudgingRoom(1)
    batch, asked = Run(room, 1), Run(room, 1, is_waited_for=True)
    assert await batch.is_inside()
    assert await asked.is_inside()
    asked.note_judged()
    await asked.leave()
    assert not await Run(room, 1).is_inside()


async def test_a_run_goes_first_when_a_caller_begins_to_wait_for_it() -> None:
    room = JudgingRoom(1)
    inside, earlier, later = Run(room, 1000), Run(room, 1), Run(room, 1)
    assert not await later.is_inside()
    later.urgency.set(True)
    # It does not wait for most of a large run.
    inside.note_judged()
    assert await later.is_inside()
    assert not await earlier.is_inside()


async def test_a_run_that_was_cancelled_takes_no_room() -> None:
    room = JudgingRoom(1)
    first, cancelled, at_its_turn, last = (Run(room, 1) for _ in range(4))
    assert not await last.is_inside()
    cancelled.coming.cancel()
    first.note_judged()
    # Its turn has come, and it has not gone on yet.
    at_its_turn.coming.cancel()
    assert await last.is_inside()


async def test_a_search_that_finds_few_passages_keeps_room_for_these_only() -> None:
    store, gate, room = FakeStore(corpus()), asyncio.Event(), JudgingRoom(1000)
    run = store.add_run("rental cars", settings={"top_k": 1000})
    context = context_of(run, store, scripts.verifier(script(), gate=gate))
    task = asyncio.create_task(execute(replace(context, models=replace(context.models, room=room))))
    await eventually(lambda: bool(store.runs[run.run_id].candidates))
    others = [Run(room, 900), Run(room, 1)]
    assert [await other.is_inside() for other in others] == [True, True]
    gate.set()
    await task


async def test_a_question_of_a_batch_is_searched_for_when_there_is_room() -> None:
    store = FakeStore(corpus())
    run = store.add_run("rental cars")
    context = context_of(run, store, scripts.verifier(script()))
    room = JudgingRoom(1)
    other = Run(room, 1)
    assert await other.is_inside()
    task = asyncio.create_task(execute(replace(context, models=replace(context.models, room=room))))
    await asyncio.sleep(0.05)
    assert not store.runs[run.run_id].candidates
    await other.leave()
    await task
    assert store.runs[run.run_id].interpretations
    assert await Run(room, 1).is_inside()
