"""Verdict-guided exploration with verdicts that are late, fail, or are no longer needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import EndpointUnavailable
from tests.fakes import FakeEmbedder
from tests.unit.ledger.buying import eventually
from tests.unit.operations.fruit import Orchard
from tests.unit.operations.still_time import carry_out

DOWN = EndpointUnavailable("no endpoint")


async def begin(orchard: Orchard, until: Callable[[], bool]) -> asyncio.Task[object]:
    task: asyncio.Task[object] = asyncio.create_task(orchard.carry_out())
    await eventually(lambda: task.done() or until())
    assert not task.done()
    return task


async def test_a_straggler_does_not_hold_up_the_next_batch_and_counts_in_the_end() -> None:
    gate = asyncio.Event()
    orchard = Orchard(20, {1: "apple", 2: "pear"}, gate=gate, gated=[2])
    task = await begin(orchard, lambda: len(orchard.record.verdicts) == 10)
    assert orchard.batches == [[1, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11]]
    assert orchard.verifier.in_flight == 1
    gate.set()
    await task
    assert orchard.answers == {"apple", "pear"}
    # The second batch had no new reading. The late verdict belongs to the first batch, and does not count for the
    # second.
    assert len(orchard.batches) == 2


async def test_where_a_straggler_leads_is_followed() -> None:
    gate = asyncio.Event()
    fruit = {1: "apple", 2: "pear", 9: "plum"}
    orchard = Orchard(40, fruit, first=range(1, 21), neighbors={2: [31, 32]}, gate=gate, gated=[2, 10, 11])
    task = await begin(orchard, lambda: len(orchard.record.verdicts) == 8)
    assert orchard.batches == [[1, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11]]
    gate.set()
    await task
    assert orchard.batches[2][:2] == [31, 32]


def test_where_the_last_straggler_leads_is_followed_when_nothing_else_is_left() -> None:
    orchard = Orchard(8, {1: "apple", 2: "pear"}, first=[1, 2, 3, 4, 5], neighbors={2: [7, 8]}, seconds={2: 100})
    carry_out(orchard.carry_out(within=1000))
    assert orchard.batches == [[1, 2, 3, 4, 5], [7, 8]]
    assert orchard.exploration.begun == pytest.approx([0, 100])


def test_a_straggler_that_may_decide_is_waited_for() -> None:
    orchard = Orchard(30, {1: "apple", 9: "apple", 11: "pear"}, seconds={11: 100})
    carry_out(orchard.carry_out(within=1000))
    assert orchard.exploration.begun == pytest.approx([0, 0, 100])


async def test_without_a_reading_nobody_is_waited_for_since_it_goes_on_whatever_they_say() -> None:
    gate = asyncio.Event()
    orchard = Orchard(20, {2: "pear"}, gate=gate, gated=[2])
    task = await begin(orchard, lambda: len(orchard.record.verdicts) == 19)
    gate.set()
    await task
    assert orchard.answers == {"pear"}
    assert orchard.record.stop_reason == "the limit of 20 verdicts was reached"


def test_three_quarters_are_enough_and_the_others_have_twice_as_long_as_it_took() -> None:
    orchard = Orchard(20, {1: "apple"}, seconds={1: 1, 6: 10, 7: 100, 8: 100})
    carry_out(orchard.carry_out(within=1000))
    assert orchard.exploration.begun == pytest.approx([0, 30])


def test_a_straggler_that_comes_within_that_time_leads_on_at_once() -> None:
    seconds = {1: 10, 7: 12, 8: 29}
    orchard = Orchard(40, {1: "apple", 8: "pear"}, first=range(1, 21), neighbors={8: [31, 32]}, seconds=seconds)
    carry_out(orchard.carry_out(within=1000))
    assert orchard.exploration.begun[:2] == pytest.approx([0, 29])
    assert orchard.batches[1][:2] == [31, 32]


def test_a_verdict_of_which_the_reply_is_there_is_waited_for() -> None:
    class SlowEmbedder(FakeEmbedder):
        async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
            await asyncio.sleep(5 if any("pear" in text for text in texts) else 0)
            return await super().encode(texts, are_passages=are_passages)

    orchard = Orchard(20, {1: "apple", 7: "pear"}, seconds={8: 100})
    carry_out(orchard.carry_out(embedder=SlowEmbedder(), within=1000))
    assert orchard.exploration.begun[:2] == pytest.approx([0, 15])


@pytest.mark.parametrize("loss", ["cancelled", "taken over"])
async def test_a_lost_run_is_left_quietly(loss: str) -> None:
    gate = asyncio.Event()
    # Late verdicts of two batches. One of them arrives after the loss.
    orchard = Orchard(20, {1: "apple"}, gate=gate, gated=[2, 9, 10])
    task = await begin(orchard, lambda: orchard.verifier.in_flight == 3)
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
    orchard = Orchard(20, {1: "apple"}, relaxation="any fruit", gate=asyncio.Event(), gated=[2, 9, 10])
    task = await begin(orchard, lambda: orchard.verifier.in_flight == 3)
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
    orchard = Orchard(20, {1: "apple"}, relaxation=DOWN, gate=gate, gated=range(1, 9))
    record = await orchard.carry_out()
    assert (record.status, record.error) == (RunStatus.FAILED, "no endpoint")
    assert [stage.name for stage in record.stages] == ["relaxation", "retrieval", "judgement"]
    assert orchard.verifier.in_flight == 0
    assert orchard.store.table.leased == []
