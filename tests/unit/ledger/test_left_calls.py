"""Calls in flight of a run that is over: they go on, or are cut off, and what may be charged counts."""

from __future__ import annotations

import asyncio

import pytest

from pgclarify.data.model_calls import Completion, CompletionRequest
from pgclarify.errors import EndpointUnavailable
from pgclarify.protocols import Sending
from pgclarify.providers.call_line import CallLine
from tests.fakes import FakeLedger, FakeLedgerTable, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.unit.ledger.buying import buy, eventually, replies, request, reused, until_in_flight


async def cancelled(ledger: FakeLedger, verifier: ScriptedCompleter, *texts: str, in_flight: int) -> None:
    """Begin to buy, and cancel it when so many calls are in flight."""
    asking = asyncio.create_task(buy(ledger, verifier, [request(text) for text in texts]))
    await until_in_flight(verifier, in_flight)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_the_next_run_has_the_reply_for_nothing() -> None:
    table, gate = FakeLedgerTable(), asyncio.Event()
    ledger = FakeLedger(table, most_when_crowded=1)
    verifier = scripts.verifier({"a": "one"}, gate=gate)
    await cancelled(ledger, verifier, "a", in_flight=1)

    again = asyncio.create_task(buy(ledger, verifier, [request("a")]))
    await eventually(lambda: table.claims >= 2)
    gate.set()

    results = await again
    assert (replies(results), reused(results)) == (["one"], [True])
    assert len(verifier.calls) == 1
    assert table.row(request("a")).unanswered == 0


async def test_a_call_in_line_is_given_up_and_costs_nothing() -> None:
    table, gate = FakeLedgerTable(), asyncio.Event()
    verifier = scripts.verifier(concurrency=1, gate=gate)
    await cancelled(FakeLedger(table, most_when_crowded=4), verifier, "a", "b", in_flight=1)

    assert [row.request.messages[0].content for row in table.leased] == ["a"]
    assert table.row(request("b")).unanswered == 0
    gate.set()
    await eventually(lambda: not table.leased)
    assert len(verifier.calls) == 1


async def test_without_room_calls_are_cut_off_and_count() -> None:
    table, verifier = FakeLedgerTable(), scripts.verifier(gate=asyncio.Event())
    await cancelled(FakeLedger(table), verifier, "a", "b", in_flight=2)

    assert verifier.in_flight == 0
    assert table.leased == []
    assert [row.unanswered for row in table.rows.values()] == [1, 1]


async def test_a_few_calls_go_on_when_others_need_turns() -> None:
    table = FakeLedgerTable()
    ledger = FakeLedger(table, most_when_crowded=1)
    verifier = scripts.verifier(gate=asyncio.Event(), gated={"a", "b", "c"})
    await cancelled(ledger, verifier, "a", "b", "c", in_flight=3)
    assert verifier.in_flight == 3

    await buy(ledger, verifier, [request("d")])

    await eventually(lambda: len(table.leased) == 1)
    assert verifier.in_flight == 1
    assert sum(row.unanswered for row in table.rows.values()) == 2
    await ledger.left_calls.close()
    assert table.leased == []
    assert [table.row(request(text)).unanswered for text in "abcd"] == [1, 1, 1, 0]


class Failing(ScriptedCompleter):
    """Fails, and says whether that is free."""

    def __init__(self, *, is_free: bool) -> None:
        super().__init__({"verdict": lambda _: EndpointUnavailable("no")})
        self._is_free = is_free

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        assert sending is not None
        try:
            return await super().complete(request, sending)
        finally:
            if self._is_free:
                sending.note_free()


@pytest.mark.parametrize("is_free", [True, False])
async def test_a_failed_call_counts_unless_it_provably_cost_nothing(is_free: bool) -> None:
    table = FakeLedgerTable()

    await buy(FakeLedger(table), Failing(is_free=is_free), [request("a")])

    assert table.row(request("a")).unanswered == (not is_free)


class InLine(ScriptedCompleter):
    """Calls wait in the line of an endpoint."""

    def __init__(self, most: int) -> None:
        super().__init__({"verdict": lambda _: "said"}, gate=asyncio.Event())
        self.line = CallLine(most)

    @property
    def turns_free(self) -> int:
        return self.line.turns_free

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        async with self.line.turn(request.purpose, sending=sending):
            return await super().complete(request, sending)


async def test_calls_of_a_run_that_wait_for_a_turn_do_not_cut_off_its_calls_in_flight() -> None:
    table, completer = FakeLedgerTable(), InLine(16)
    ledger = FakeLedger(table, most_when_crowded=4)
    await cancelled(ledger, completer, *(str(number) for number in range(100)), in_flight=16)

    assert completer.in_flight == 16
    assert len(table.leased) == 16
    assert sum(row.unanswered for row in table.rows.values()) == 0
    await ledger.left_calls.close()
    assert table.leased == []
    assert sum(row.unanswered for row in table.rows.values()) == 16
