"""Who goes first to an endpoint that takes only so many calls at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pgclarify.protocols import waited_for
from pgclarify.providers.call_line import CallLine


async def order_of(line: CallLine, calls: Sequence[tuple[str, str, bool]]) -> list[str]:
    """Let calls come one after the other, and return the order in which they have their turns.

    Args:
        line: The line.
        calls: Of each its name, its purpose, and whether somebody waits for its run.
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


async def test_calls_of_a_run_that_is_waited_for_do_not_stand_behind_a_batch() -> None:
    line = CallLine(1)
    batch = [(f"batch {number}", "verdict", False) for number in range(9)]
    async with line.turn("relaxation"):
        # All but one of the batch stand in a line of their own, and that one stands before the person's.
        order = asyncio.create_task(order_of(line, [*batch, ("first", "verdict", True), ("second", "verdict", True)]))
        await asyncio.sleep(0.01)
    assert (await order)[:4] == ["batch 0", "first", "batch 1", "second"]


async def test_no_more_calls_have_their_turn_than_may() -> None:
    line = CallLine(2)
    under_way: list[int] = []
    most = 0

    async def call(purpose: str, is_waited_for: bool) -> None:
        nonlocal most
        with waited_for(is_waited_for):
            async with line.turn(purpose):
                under_way.append(1)
                most = max(most, len(under_way))
                await asyncio.sleep(0)
                under_way.pop()

    kinds = [(purpose, waited) for purpose in ("verdict", "relaxation") for waited in (True, False)]
    await asyncio.gather(*(call(*kind) for kind in kinds * 5))
    assert most == 2


async def test_a_call_that_is_given_up_leaves_the_line() -> None:
    line = CallLine(1)
    async with line.turn("verdict"):
        waiting = asyncio.create_task(order_of(line, [("given up", "verdict", True)]))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(60):
        assert await order_of(line, [("next", "verdict", True)]) == ["next"]
