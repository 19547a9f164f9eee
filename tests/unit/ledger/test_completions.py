"""The client of the ledger: the calls, the stored replies, and the released leases."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Claim, Completion, CompletionRequest, Message, ModelCall
from pgclarify.data.vocabulary import StopCode
from pgclarify.errors import CompletionError, DatabaseError, EndpointUnavailable, InvalidReply, RunLost
from pgclarify.ledger.ask_each import ask_each
from pgclarify.ledger.calls import Calls
from pgclarify.ledger.completions import MOST_ATTEMPTS, CallResult, Paid, ask_one, complete_all
from pgclarify.prompts.verdict import verdict
from pgclarify.protocols import Urgency, urgent
from tests.fakes import FakeLedger, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.unit.ledger.buying import NOTHING, buy, replies, request, reused, until_in_flight


async def test_an_input_of_several_documents_is_noted_for_each() -> None:
    ledger = FakeLedger()
    equal = [replace(request("boilerplate"), document_ids=(document_id,)) for document_id in ("1", "2", "1")]
    await buy(ledger, scripts.verifier(), equal)
    assert [row.request.document_ids for row in ledger.table.rows.values()] == [("1", "2")]


async def test_a_stored_reply_is_reused_without_a_call() -> None:
    ledger, verifier = FakeLedger(), scripts.verifier({"a": "one", "b": "two"})
    first = await buy(ledger, verifier, [request("a"), request("b")])
    again = scripts.verifier()
    second = await buy(ledger, again, [request("b"), request("a")])

    assert replies(first) == ["one", "two"]
    assert reused(first) == [False, False]
    assert replies(second) == ["two", "one"]
    assert reused(second) == [True, True]
    assert again.calls == []


async def test_a_failed_call_is_an_error_of_its_request_alone() -> None:
    ledger, verifier = FakeLedger(), scripts.verifier({"a": EndpointUnavailable("no endpoint"), "b": "two"})
    results = await buy(ledger, verifier, [request("a"), request("b")])
    assert replies(results) == ["no endpoint", "two"]
    assert ledger.table.leased == []
    # Nothing was paid, so the call may be made again.
    assert replies(await buy(ledger, scripts.verifier({"a": "one"}), [request("a")])) == ["one"]


async def test_a_reply_that_is_no_text_is_not_stored() -> None:
    ledger = FakeLedger()
    results = await buy(ledger, scripts.verifier({"a": "nul \x00", "b": "half \ud800"}), [request("a"), request("b")])
    assert [type(result) for result in results] == [InvalidReply, InvalidReply]
    assert [row.completion for row in ledger.table.rows.values()] == [None, None]
    assert ledger.table.leased == []


class GatedLedger(FakeLedger):
    """A ledger whose answers wait for the gate. The server has already executed the statement."""

    def __init__(self, statement: str) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.reached = asyncio.Event()
        self._statement = statement

    async def claim_completions(self, requests: Sequence[CompletionRequest], *, sent_at_once: int = 0) -> list[Claim]:
        claims = await super().claim_completions(requests, sent_at_once=sent_at_once)
        await self._pass("claim")
        return claims

    async def store_completion(self, completion_id: int, completion: Completion) -> None:
        await self._pass("store")
        await super().store_completion(completion_id, completion)

    async def release_completions(self, may_be_charged: Mapping[int, bool]) -> None:
        await self._pass("release")
        await super().release_completions(may_be_charged)

    async def _pass(self, statement: str) -> None:
        if statement == self._statement:
            self.reached.set()
            await self.gate.wait()


async def cancel_at_the_gate(ledger: GatedLedger, asking: asyncio.Task[list[Paid | CompletionError]]) -> None:
    await ledger.reached.wait()
    asking.cancel()
    ledger.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_reply_that_nobody_waits_for_is_passed_on_when_it_is_stored() -> None:
    ledger = FakeLedger()
    stored: list[bool] = []

    async def on_result(index: int, result: Paid | CompletionError) -> None:
        assert isinstance(result, Paid)
        stored.append(ledger.table.rows[result.completion_id].completion is not None)

    await complete_all(ledger, scripts.verifier(), [request("a")], on_result)
    assert stored == [True]


@pytest.mark.parametrize("is_run_lost", [False, True])
async def test_a_reply_that_a_caller_waits_for_is_passed_on_while_it_is_stored(is_run_lost: bool) -> None:
    ledger = GatedLedger("store")
    is_passed_on = asyncio.Event()

    async def on_result(index: int, result: Paid | CompletionError) -> None:
        is_passed_on.set()
        if is_run_lost:
            raise RunLost("it is gone")

    with urgent(Urgency(is_waited_for=True)):
        asking = asyncio.create_task(complete_all(ledger, scripts.verifier(), [request("a")], on_result))
    await is_passed_on.wait()
    is_over, _ = await asyncio.wait({asking}, timeout=0.05)
    assert not is_over
    ledger.gate.set()
    with pytest.raises(RunLost) if is_run_lost else contextlib.nullcontext():
        await asking
    assert [row.completion is not None for row in ledger.table.rows.values()] == [True]


async def test_cancelled_during_the_claim_leaves_no_lease() -> None:
    ledger, verifier = GatedLedger("claim"), scripts.verifier()
    await cancel_at_the_gate(ledger, asyncio.create_task(buy(ledger, verifier, [request("a")])))
    assert ledger.table.leased == []
    assert verifier.calls == []


async def test_cancelled_while_storing_keeps_the_reply() -> None:
    ledger = GatedLedger("store")
    verifier = scripts.verifier({"a": "one"})
    await cancel_at_the_gate(ledger, asyncio.create_task(buy(ledger, verifier, [request("a")])))
    assert [row.completion and row.completion.reply for row in ledger.table.rows.values()] == ["one"]


async def test_a_cancellation_has_priority_over_an_error_of_storing() -> None:
    class FailingLedger(GatedLedger):
        async def store_completion(self, completion_id: int, completion: Completion) -> None:
            await super().store_completion(completion_id, completion)
            raise DatabaseError("no store")

    ledger = FailingLedger("store")
    await cancel_at_the_gate(ledger, asyncio.create_task(buy(ledger, scripts.verifier(), [request("a")])))


async def test_cancelled_again_while_giving_back_still_gives_back() -> None:
    ledger, verifier = GatedLedger("release"), scripts.verifier(gate=asyncio.Event())
    asking = asyncio.create_task(buy(ledger, verifier, [request("a")]))
    await until_in_flight(verifier, 1)
    asking.cancel()
    await cancel_at_the_gate(ledger, asking)
    assert ledger.table.leased == []


async def test_an_error_on_landing_ends_everything() -> None:
    gate = asyncio.Event()
    ledger, verifier = FakeLedger(), scripts.verifier(gate=gate)
    paid = Completion("one", 1, 1, 1.0)
    (claim,) = await ledger.claim_completions([request("paid")])
    assert claim.completion_id is not None
    await ledger.store_completion(claim.completion_id, paid)

    async def on_result(index: int, result: Paid | CompletionError) -> None:
        await until_in_flight(verifier, 2)
        raise RunLost("it is gone")

    with pytest.raises(RunLost):
        await complete_all(ledger, verifier, [request("a"), request("paid"), request("b")], on_result)
    assert verifier.in_flight == 0
    assert ledger.table.leased == []


async def test_a_ledger_that_fails_does_not_hide_why_it_ended() -> None:
    class FailingLedger(FakeLedger):
        async def release_completions(self, may_be_charged: Mapping[int, bool]) -> None:
            raise DatabaseError("no release")

        async def store_completion(self, completion_id: int, completion: Completion) -> None:
            raise DatabaseError("no store")

    with pytest.raises(DatabaseError, match="no store"):
        await buy(FailingLedger(), scripts.verifier(), [request("a")])


def number_call(text: str) -> ModelCall[int]:
    def read(completion: Completion) -> int:
        if not completion.reply.isdigit():
            raise InvalidReply("no number")
        return int(completion.reply)

    return ModelCall("verdict", "1", (Message("user", text),), {}, read, max_tokens=9)


async def ask(ledger: FakeLedger, verifier: ScriptedCompleter, text: str) -> CallResult[int]:
    return await ask_one(ledger, verifier, number_call(text))


async def test_a_reply_that_does_not_fit_is_asked_for_once_more() -> None:
    ledger, verifier = FakeLedger(), scripts.verifier({"a": ["seven", "7"]})
    result = await ask(ledger, verifier, "a")
    assert result.value == 7
    assert [call.sample for call in verifier.calls] == [0, 1]
    assert result.completion_id is not None
    assert ledger.table.rows[result.completion_id].request.sample == 1

    again = scripts.verifier()
    assert (await ask(ledger, again, "a")).value == 7
    assert again.calls == []


async def test_a_later_run_asks_again_where_only_bad_replies_are_known() -> None:
    bad = "Sure! It opens at 9 am."
    ledger, passage = FakeLedger(), Passage("a", 1, "The museum opens at 9 am.")

    async def run() -> tuple[object, list[int]]:
        verifier = scripts.verifier({passage.content: [bad, bad, NOTHING]})
        result = await ask_one(ledger, verifier, verdict("When does it open?", passage))
        return result.value, [call.sample for call in verifier.calls]

    value, samples = await run()
    assert isinstance(value, InvalidReply)
    assert samples == [0, 1]
    # The next run neither repeats the bad replies nor pays for them again.
    value, samples = await run()
    assert value is StopCode.NOT_ANSWERED
    assert samples == [2]
    assert await run() == (StopCode.NOT_ANSWERED, [])


async def test_a_bad_reply_that_a_budget_lets_nobody_ask_again_stays_the_result() -> None:
    ledger, verifier = FakeLedger(), scripts.verifier({"a": ["seven"] * 9})
    ledger.table.max_calls = 1
    result = await ask(ledger, verifier, "a")
    assert isinstance(result.value, InvalidReply)
    assert result.completion_id is not None
    # The run still ends because of the budget.
    assert ledger.refusal is not None


async def test_an_input_whose_replies_are_always_bad_is_not_paid_for_without_end() -> None:
    ledger, verifier = FakeLedger(), scripts.verifier({"a": ["seven"] * 99})
    for _ in range(20):
        assert isinstance((await ask(ledger, verifier, "a")).value, InvalidReply)
    assert [call.sample for call in verifier.calls] == list(range(MOST_ATTEMPTS))


async def test_a_reply_that_cannot_be_read_is_an_error_only_if_all_are() -> None:
    ledger, verifier = FakeLedger(), scripts.verifier({"a": ["7"], "b": ["seven"] * 9})
    assert await ask_each(ledger, verifier, [number_call("a"), number_call("b")], 0) == [7, 0]
    with pytest.raises(InvalidReply):
        await ask_each(ledger, verifier, [number_call("b")], 0)
    assert await ask_each(ledger, verifier, [], 0) == []


def test_taking_all_calls_that_are_left_is_no_shortage() -> None:
    calls = Calls(FakeLedger(), scripts.verifier(), most=2)
    assert calls.take(2)
    assert not calls.were_short
    assert not calls.take(1)
    assert calls.were_short
