"""clarify, if something goes wrong."""

from __future__ import annotations

import asyncio

import pytest

from pgclarify.data.vocabulary import Outcome, RunStatus
from pgclarify.errors import EndpointUnavailable, InvalidReply
from tests.fakes import FakeEmbedder, FakeStore, scripts
from tests.unit.ledger.buying import eventually, until_in_flight
from tests.unit.operations.rental_cars import (
    ALSO_COVERED,
    COVERAGE,
    COVERED,
    DRIVERS,
    carry_out,
    clarify_with,
    corpus,
    passage,
    script,
)


async def test_some_failures_make_a_run_partial() -> None:
    verifier = scripts.verifier({**script(), DRIVERS: EndpointUnavailable("no endpoint")})
    record = await carry_out(corpus(), verifier)
    assert (record.status, record.error) == (RunStatus.PARTIAL, None)
    assert record.error_code == EndpointUnavailable.sqlstate
    assert [found.answer for found in record.interpretations] == [COVERAGE.answer]
    failure = record.verdicts[1]
    assert (failure.outcome, failure.error, failure.completion_id) == (Outcome.FAILED, "no endpoint", None)


async def test_no_endpoint_at_all_fails_the_run() -> None:
    down = EndpointUnavailable("no endpoint")
    passages = [*corpus(), passage("more", "More.")]
    verifier = scripts.verifier({one.content: down for one in passages} | {DRIVERS: InvalidReply("odd")})
    record = await carry_out(passages, verifier)
    assert (record.status, record.error) == (RunStatus.FAILED, "no endpoint (4 of 5 passages)")
    assert record.interpretations == []


async def test_the_error_of_a_run_has_no_words_of_a_reply() -> None:
    odd = InvalidReply("odd", detail="No answer.", reply="secret")
    record = await carry_out([passage("a", DRIVERS)], scripts.verifier({DRIVERS: odd}))
    assert (record.status, record.error) == (RunStatus.FAILED, "odd: No answer.")
    # Roles that may not read the passage do not see its verdict.
    assert "secret" in (record.verdicts[1].error or "")


async def test_a_reading_that_cannot_be_embedded_is_an_error() -> None:
    record = await carry_out(corpus(), scripts.verifier(script()), embedder=FakeEmbedder(fails_on="two years"))
    assert record.status is RunStatus.PARTIAL
    assert record.verdicts[1].outcome is Outcome.FAILED
    assert [found.answer for found in record.interpretations] == [COVERAGE.answer]


@pytest.mark.parametrize("loss", ["cancelled", "taken over"])
async def test_a_lost_run_is_left_quietly(loss: str) -> None:
    # One verdict is stored after the loss. The other calls never end by themselves.
    verifier = scripts.verifier(script(), gate=asyncio.Event(), gated=[DRIVERS, COVERED, ALSO_COVERED])
    store = FakeStore(corpus())
    run = store.add_run("rental cars")
    clarification = asyncio.create_task(clarify_with(store, run, verifier))
    await until_in_flight(verifier, 4)
    if loss == "cancelled":
        store.cancel(run)
    else:
        store.take_over(run)
    async with asyncio.timeout(60):
        await clarification

    record = store.runs[run.run_id]
    assert (record.verdicts, record.interpretations) == ({}, [])
    assert record.status is (RunStatus.CANCELLED if loss == "cancelled" else RunStatus.RUNNING)
    assert verifier.in_flight == 0
    assert store.table.leased == []
    # Replies that were paid for before the loss was noticed are kept for others.
    assert [row.completion is not None for row in store.table.rows.values()] == [False, False, True, False]


async def test_the_next_attempt_pays_only_for_what_was_in_flight() -> None:
    gate = asyncio.Event()
    store = FakeStore(corpus())
    run = store.add_run("rental cars")
    slow = scripts.verifier(script(), gate=gate, concurrency=2)
    attempt = asyncio.create_task(clarify_with(store, run, slow))
    await until_in_flight(slow, 2)
    gate.set()
    await eventually(lambda: bool(store.noted))
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    assert store.table.leased == []
    paid = sum(row.completion is not None for row in store.table.rows.values())
    assert paid >= 1

    again = scripts.verifier(script())
    await clarify_with(store, store.take_over(run), again)
    assert len(again.calls) == 4 - paid
    assert store.runs[run.run_id].status is RunStatus.SUCCEEDED
    assert len(store.runs[run.run_id].verdicts) == 4


async def test_a_question_that_cannot_be_embedded_fails_the_run() -> None:
    verifier = scripts.verifier(script())
    record = await carry_out(corpus(), verifier, embedder=FakeEmbedder(fails_on="rental cars"))
    assert record.status is RunStatus.FAILED
    assert record.error
    assert verifier.calls == []
