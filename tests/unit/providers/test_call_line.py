"""The order of calls to an endpoint with a limit of concurrent calls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pgclarify.protocols import Urgency, urgent, waited_for
from pgclarify.providers.call_line import CallLine
from tests.fakes import FakeSending


async def order_of(line: CallLine, calls: Sequence[tuple[str, str, bool]]) -> list[str]:
    """Let calls come one after the other, and return the order in which they have their turns.

    Args:
        line: The line.
        calls: The name and purpose of each call, and whether a caller waits for its run.
    """
    order: list[str] = []

    async def call(name: str, purpose: str, is_waited_for: bool) -> None:
        with waited_for(is_waited_for):
            async with line.turn(purpose):
                order.append(name)
                await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for each in calls:
            group.create_task(call(*each))
            await asyncio.sleep(0)
    return order


async def all_wait() -> None:
    """Let all calls come, however slow the machine is."""
    for _ in range(100):
        await asyncio.sleep(0)


async def test_calls_of_waiting_callers_and_of_starting_runs_go_first() -> None:
    line = CallLine(1)
    calls = [
        ("fifth", "sample", False),
        ("fourth", "relaxation", False),
        ("second", "verdict", True),
        ("third", "relevance", True),
        ("first", "relaxation", True),
    ]
    async with line.turn("verdict"):
        order = asyncio.create_task(order_of(line, calls))
        await all_wait()
    assert await order == ["first", "second", "third", "fourth", "fifth"]


async def test_every_fourth_turn_goes_to_the_oldest_call_of_a_batch() -> None:
    line = CallLine(1)
    batch = [("old", "verdict", False), ("new", "relaxation", False)]
    people = [(f"person {number}", "verdict", True) for number in range(8)]
    async with line.turn("verdict"):
        order = asyncio.create_task(order_of(line, batch + people))
        await all_wait()
    names = await order
    assert (names.index("old"), names.index("new")) == (3, 7)


async def test_a_batch_gets_turns_while_calls_that_are_waited_for_keep_coming() -> None:
    line = CallLine(1)
    is_over = asyncio.Event()

    async def keep_asking() -> None:
        with waited_for(True):
            while not is_over.is_set():
                async with line.turn("verdict"):
                    await asyncio.sleep(0)

    async def ask() -> None:
        async with line.turn("verdict"):
            is_over.set()

    # Some of these calls are waiting at every moment.
    people = [asyncio.create_task(keep_asking()) for _ in range(3)]
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await asyncio.gather(ask(), *people)


@pytest.mark.parametrize("is_its_turn", [False, True])
async def test_a_call_that_is_given_up_leaves_its_place_to_the_next(is_its_turn: bool) -> None:
    line = CallLine(1)

    async def call() -> None:
        async with line.turn("verdict"):
            pass

    async with line.turn("verdict"):
        given_up = asyncio.create_task(call())
        await asyncio.sleep(0.01)
        if not is_its_turn:
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)
    # It has its turn already, but its task has not run since.
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    async with asyncio.timeout(60):
        assert await order_of(line, [("next", "verdict", True)]) == ["next"]


async def test_a_call_moves_when_a_caller_starts_or_stops_to_wait_for_it() -> None:
    line, joined, left, person = CallLine(1), Urgency(), Urgency(True), Urgency(True)
    order: list[str] = []

    async def call(name: str, urgency: Urgency) -> None:
        with urgent(urgency):
            async with line.turn("verdict"):
                order.append(name)

    async with asyncio.TaskGroup() as group, line.turn("verdict"):
        for name, urgency in (("left", left), ("batch", Urgency()), ("joined", joined), ("person", person)):
            group.create_task(call(name, urgency))
            await asyncio.sleep(0)
        joined.join(person)
        left.set(False)
    assert order == ["joined", "person", "left", "batch"]


@pytest.mark.parametrize("most", [4, 40])
async def test_the_calls_that_go_next_prepare_before_their_turn(most: int) -> None:
    line, leaving = CallLine(most), asyncio.Event()
    sendings = [FakeSending() for _ in range(most + 60)]
    first_sight: list[bool] = []

    async def call(sending: FakeSending) -> None:
        async with line.turn("verdict", sending=sending):
            first_sight.append(sending.is_prepared)
            await leaving.wait()
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for sending in sendings:
            group.create_task(call(sending))
        await all_wait()
        assert line.turns_free == -60
        # A call with a free turn is sent at once. Of those that wait, about as many as may be sent at once prepare.
        assert most / 2 <= sum(sending.is_prepared for sending in sendings) <= most
        leaving.set()
    assert first_sight == [False] * most + [True] * 60
