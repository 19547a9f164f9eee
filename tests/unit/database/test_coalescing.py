"""Writes that wait at the same time are written together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pgclarify.database.coalescing import Coalescer


class Table:
    """Writes batches when it is let; remembers them.

    Attributes:
        batches: What was written, or tried, in order.
        fails_on: Items whose batch fails.
    """

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.fails_on: set[int] = set()
        self.is_writing = asyncio.Event()
        self.may_write = asyncio.Event()
        self._at_once = 0

    async def write(self, items: Sequence[int]) -> None:
        assert self._at_once == 0, "one batch at a time"
        self._at_once += 1
        self.batches.append(list(items))
        self.is_writing.set()
        try:
            await self.may_write.wait()
        finally:
            self._at_once -= 1
        if self.fails_on & set(items):
            raise RuntimeError("the table refuses")


async def add_while_writing(
    table: Table, coalescer: Coalescer[int], first: int, others: Sequence[int]
) -> list[asyncio.Task[None]]:
    """Begin with one item, and add the others while the first is being written."""
    tasks = [asyncio.create_task(coalescer.add(first))]
    await table.is_writing.wait()
    tasks += [asyncio.create_task(coalescer.add(item)) for item in others]
    await asyncio.sleep(0)
    return tasks


async def test_a_burst_goes_out_together() -> None:
    table = Table()
    table.may_write.set()
    coalescer = Coalescer(table.write)

    async def add_after(rounds: int) -> None:
        for _ in range(rounds):
            await asyncio.sleep(0)
        await coalescer.add(rounds)

    await asyncio.gather(*(add_after(2 * item) for item in range(5)))
    assert table.batches == [[0, 2, 4, 6, 8]]


async def test_a_write_waits_for_others_that_are_expected_until_the_last() -> None:
    table = Table()
    table.may_write.set()
    coalescer = Coalescer(table.write, patience=60.0)
    first = asyncio.create_task(coalescer.add(1, expects_more=True))
    await asyncio.sleep(0.01)

    await coalescer.add(2)

    assert first.done()
    assert table.batches == [[1, 2]]


async def test_a_write_does_not_wait_long_for_others_that_do_not_come() -> None:
    table = Table()
    table.may_write.set()

    await Coalescer(table.write, patience=0.01).add(1, expects_more=True)

    assert table.batches == [[1]]


async def test_an_error_reaches_all_of_its_batch_and_nobody_else() -> None:
    table = Table()
    table.fails_on = {2}
    coalescer = Coalescer(table.write, most=3)
    tasks = await add_while_writing(table, coalescer, 0, [1, 2, 3, 4])

    table.may_write.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert table.batches == [[0], [1, 2, 3], [4]]
    assert [isinstance(result, RuntimeError) for result in results] == [False, True, True, True, False]
    await coalescer.add(5)
    assert table.batches[-1] == [5]


async def test_a_cancelled_caller_does_not_take_its_item_back() -> None:
    table = Table()
    coalescer = Coalescer(table.write)
    tasks = await add_while_writing(table, coalescer, 1, [2, 3])

    tasks[0].cancel()
    tasks[1].cancel()
    table.may_write.set()
    # A writer that ends there leaves the others waiting for ever.
    async with asyncio.timeout(10):
        results = await asyncio.gather(*tasks, return_exceptions=True)

    assert table.batches == [[1], [2, 3]]
    assert [isinstance(result, asyncio.CancelledError) for result in results] == [True, True, False]


async def test_one_waits_until_the_writing_of_what_was_added_has_begun() -> None:
    table = Table()
    coalescer = Coalescer(table.write)
    tasks = await add_while_writing(table, coalescer, 0, [1])
    waiting = asyncio.create_task(coalescer.begun())
    await asyncio.sleep(0.01)
    assert not waiting.done(), "1 is still queued"
    table.may_write.set()
    await waiting
    assert table.batches == [[0], [1]]
    await asyncio.gather(*tasks)
