"""Verdict-guided exploration with verdicts that are late, fail, or are no longer needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import EndpointUnavailable
from tests.unit.ledger.buying import eventually
from tests.unit.operations.fruit import Orchard

DOWN = EndpointUnavailable("no endpoint")


async def begin(orchard: Orchard, until: Callable[[], bool]) -> asyncio.Task[object]:
    task: asyncio.Task[object] = asyncio.create_task(orchard.carry_out())
    await eventually(lambda: task.done() or until())
    assert not task.done()
    return task


async def test_a_late_verdict_of_a_batch_is_waited_for_and_followed() -> None:
    gate = asyncio.Event()
    orchard = Orchard(40, {1: "apple", 2: "pear"}, first=range(1, 21), neighbors={2: [31]}, gate=gate, gated=[2])
    task = await begin(orchard, lambda: len(orchard.store.noted) == 7)
    gate.set()
    await task
    assert orchard.batches == [[1, 2, 3, 4, 5, 6, 7, 8], [31, 9, 10]]


@pytest.mark.parametrize("loss", ["cancelled", "taken over"])
async def test_a_lost_run_is_left_quietly(loss: str) -> None:
    gate = asyncio.Event()
    orchard = Orchard(20, {1: "apple"}, gate=gate, gated=[9, 10])
    # These verdicts of the second batch arrive after the loss.
    task = await begin(orchard, lambda: len(orchard.store.noted) == 9)
    verdicts = dict(orchard.record.verdicts)
    if loss == "cancelled":
        orchard.store.cancel(orchard.run)
    else:
        orchard.store.take_over(orchard.run)
    gate.set()
    await task
    assert orchard.record.verdicts == verdicts
    assert orchard.record.interpretations == []
    assert orchard.verifier.in_flight == 0
    assert orchard.store.table.leased == []


async def test_a_cancellation_ends_all_calls_and_gives_leases_back() -> None:
    orchard = Orchard(20, {1: "apple"}, relaxation="any fruit", gate=asyncio.Event(), gated=[9, 10])
    task = await begin(orchard, lambda: len(orchard.store.noted) == 9)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert orchard.verifier.in_flight == 0
    assert orchard.store.table.leased == []
    assert orchard.record.status is RunStatus.RUNNING


async def test_an_endpoint_that_goes_away_ends_the_exploration() -> None:
    orchard = Orchard(30, {1: "apple", **dict.fromkeys(range(9, 31), DOWN)})
    record = await orchard.carry_out()
    assert (record.status, orchard.answers) == (RunStatus.PARTIAL, {"apple"})
    assert (len(record.verdicts), record.stop_reason) == (11, "every verdict of the last batch failed")


async def test_a_question_that_cannot_be_relaxed_fails_the_run_and_ends_the_first_batch() -> None:
    gate = asyncio.Event()
    orchard = Orchard(20, {1: "apple"}, relaxation=DOWN, gate=gate, gated=range(1, 9), relax=True)
    record = await orchard.carry_out()
    assert (record.status, record.error) == (RunStatus.FAILED, "no endpoint")
    assert [stage.name for stage in record.stages] == ["relaxation", "retrieval", "judgement"]
    assert orchard.verifier.in_flight == 0
    assert orchard.store.table.leased == []
