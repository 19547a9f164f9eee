"""The client side of the ledger: what is asked, what is waited for, what is given back."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

import pytest

from pgclarify.errors import CompletionError, DatabaseError, EndpointUnavailable, InvalidReply, RunLost
from pgclarify.ledger.completions import Answer, Pace, Paid, ask_one, complete_all
from pgclarify.model_calls import Claim, Completion, CompletionRequest, Message, ModelCall
from tests.fakes import FakeLedger, FakeLedgerTable, scripts
from tests.fakes.completer import ScriptedCompleter

# What is said of what is in no script.
NOTHING = scripts.verdict_reply(None)
FAST = Pace(first=0.001, longest=0.002)


def request(text: str, *, sample: int = 0) -> CompletionRequest:
    return CompletionRequest(
        purpose="verdict",
        model="fake",
        parameters={"temperature": 0},
        prompt_version="1",
        messages=(Message("user", text),),
        sample=sample,
    )


async def buy(
    ledger: FakeLedger, verifier: ScriptedCompleter, requests: Sequence[CompletionRequest]
) -> list[Paid | CompletionError]:
    results: dict[int, Paid | CompletionError] = {}

    async def land(index: int, result: Paid | CompletionError) -> None:
        assert index not in results
        results[index] = result

    # What waits for ever should fail, not hang.
    async with asyncio.timeout(60):
        await complete_all(ledger, verifier, requests, land, pace=FAST)
    return [results[index] for index in range(len(requests))]


def replies(results: Sequence[Paid | CompletionError]) -> list[str]:
    return [result.completion.reply if isinstance(result, Paid) else result.message for result in results]


def reused(results: Sequence[Paid | CompletionError]) -> list[bool]:
    return [isinstance(result, Paid) and result.is_reused for result in results]


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0)


async def until_in_flight(verifier: ScriptedCompleter, count: int) -> None:
    await eventually(lambda: verifier.in_flight >= count)


async def test_what_is_paid_for_is_not_asked_again() -> None:
    ledger, verifier = FakeLedger(), scripts.verifier({"a": "one", "b": "two"})
    first = await buy(ledger, verifier, [request("a"), request("b")])
    again = scripts.verifier()
    second = await buy(ledger, again, [request("b"), request("a")])

    assert replies(first) == ["one", "two"]
    assert reused(first) == [False, False]
    assert replies(second) == ["two", "one"]
    assert reused(second) == [True, True]
    assert again.calls == []


async def test_a_run_claims_everything_at_once() -> None:
    ledger = FakeLedger()
    await buy(ledger, scripts.verifier(), [request(str(number)) for number in range(20)])
    assert ledger.table.claims == 1


async def test_calls_are_in_flight_together() -> None:
    gate = asyncio.Event()
    verifier = scripts.verifier(gate=gate)
    purchase = asyncio.create_task(buy(FakeLedger(), verifier, [request(str(number)) for number in range(20)]))
    await until_in_flight(verifier, 20)
    gate.set()
    assert len(await purchase) == 20


async def test_equal_requests_are_asked_once() -> None:
    verifier = scripts.verifier({"a": "one"})
    results = await buy(FakeLedger(), verifier, [request("a"), request("b"), request("a")])
    assert len(verifier.calls) == 2
    assert replies(results) == ["one", NOTHING, "one"]
    assert reused(results) == [False, False, True]


async def test_another_sample_is_another_request() -> None:
    verifier = scripts.verifier({"a": ["one", "two"]})
    results = await buy(FakeLedger(), verifier, [request("a"), request("a", sample=1)])
    assert replies(results) == ["one", "two"]


@pytest.mark.parametrize("workers", [("a", "b"), ("a", "a")], ids=["two workers", "one worker"])
async def test_two_runs_with_equal_work_pay_once(workers: tuple[str, str]) -> None:
    table, gate = FakeLedgerTable(), asyncio.Event()
    verifiers = [scripts.verifier({"x": "one", "y": "two"}, gate=gate) for _ in workers]
    requests = [request("x"), request("y")]
    purchases = [
        asyncio.create_task(buy(FakeLedger(table, worker=worker), verifier, requests))
        for worker, verifier in zip(workers, verifiers, strict=True)
    ]
    await until_in_flight(verifiers[0], 2)
    gate.set()
    first, second = await asyncio.gather(*purchases)

    assert replies(first) == replies(second) == ["one", "two"]
    assert [len(verifier.calls) for verifier in verifiers] == [2, 0]
    assert reused(first) == [False, False]
    assert reused(second) == [True, True]


async def test_many_runs_in_any_order_pay_once_for_each_input() -> None:
    table, order = FakeLedgerTable(), random.Random(7)  # noqa: S311 - no secret
    verifiers = [scripts.verifier(concurrency=3) for _ in range(5)]
    ledgers = [FakeLedger(table, worker=str(number)) for number in range(5)]

    async def run(number: int) -> list[Paid | CompletionError]:
        texts = order.sample(range(12), 8)
        return await buy(ledgers[number % 5], verifiers[number % 5], [request(str(text)) for text in texts])

    async with asyncio.timeout(60):
        results = await asyncio.gather(*(run(number) for number in range(30)))

    assert all(isinstance(result, Paid) for one in results for result in one)
    asked = [call.key for verifier in verifiers for call in verifier.calls]
    assert len(asked) == len(set(asked)) == 12
    assert sum(not is_reused for one in results for is_reused in reused(one)) == 12


async def test_the_lease_of_a_killed_worker_is_taken_over() -> None:
    table = FakeLedgerTable()
    await FakeLedger(table, worker="dead").claim_completions([request("a")])
    verifier = scripts.verifier({"a": "one"})
    purchase = asyncio.create_task(buy(FakeLedger(table), verifier, [request("a"), request("b")]))
    await eventually(lambda: table.claims >= 4)
    assert [call.messages[0].content for call in verifier.calls] == ["b"]
    table.kill("dead")
    assert replies(await purchase) == ["one", NOTHING]


async def test_an_expired_lease_is_taken_over() -> None:
    table = FakeLedgerTable(lease_seconds=60)
    await FakeLedger(table, worker="stuck").claim_completions([request("a")])
    table.now = 61
    assert replies(await buy(FakeLedger(table), scripts.verifier({"a": "one"}), [request("a")])) == ["one"]


async def stand_in_line_with_a_dead_workers_lease(
    table: FakeLedgerTable,
) -> tuple[asyncio.Event, ScriptedCompleter, asyncio.Task[list[Paid | CompletionError]]]:
    """Have a worker take over what a dead one was asking, and stand in line behind a call that ends with the event."""
    await FakeLedger(table, worker="dead").claim_completions([request("a")])
    table.kill("dead")
    gate = asyncio.Event()
    verifier = scripts.verifier({"a": "anew", "b": "two"}, concurrency=1, gate=gate, gated={"b"})
    purchase = asyncio.create_task(buy(FakeLedger(table), verifier, [request("b"), request("a")]))
    await until_in_flight(verifier, 1)
    assert table.row(request("a")).holder == "worker"
    return gate, verifier, purchase


async def test_a_reply_that_comes_late_spares_a_call_in_line() -> None:
    table = FakeLedgerTable()
    gate, verifier, purchase = await stand_in_line_with_a_dead_workers_lease(table)
    completion_id = table.row(request("a")).completion_id
    await FakeLedger(table, worker="dead").store_completion(completion_id, Completion("late", 1, 1, 1.0))
    gate.set()

    results = await purchase
    assert replies(results) == ["two", "late"]
    assert reused(results) == [False, True]
    assert [call.messages[0].content for call in verifier.calls] == ["b"]
    assert not table.leased


async def test_a_call_in_line_that_another_took_over_is_waited_for() -> None:
    table = FakeLedgerTable(lease_seconds=60)
    gate, verifier, purchase = await stand_in_line_with_a_dead_workers_lease(table)
    table.now = 61
    other = FakeLedger(table, worker="other")
    (claim,) = await other.claim_completions([request("a")])
    assert claim.is_ours
    gate.set()
    await eventually(lambda: table.claims >= 6)
    assert claim.completion_id is not None
    await other.store_completion(claim.completion_id, Completion("theirs", 1, 1, 1.0))

    assert replies(await purchase) == ["two", "theirs"]
    assert [call.messages[0].content for call in verifier.calls] == ["b"]


async def test_a_call_in_line_that_nobody_has_answered_is_made_once() -> None:
    table = FakeLedgerTable()
    gate, verifier, purchase = await stand_in_line_with_a_dead_workers_lease(table)
    gate.set()

    assert replies(await purchase) == ["two", "anew"]
    assert len(verifier.calls) == 2
    # The dead worker's, ours, and the second look, which only what was taken over takes.
    assert table.claims == 3


class RecordingLedger(FakeLedger):
    """Notes how many requests each claim is for."""

    def __init__(self, table: FakeLedgerTable) -> None:
        super().__init__(table)
        self.sizes: list[int] = []

    async def claim_completions(self, requests: Sequence[CompletionRequest]) -> list[Claim]:
        self.sizes.append(len(requests))
        return await super().claim_completions(requests)


async def test_looks_get_rarer_and_are_only_for_what_is_outstanding(monkeypatch: pytest.MonkeyPatch) -> None:
    table = FakeLedgerTable()
    other = FakeLedger(table, worker="other")
    claims = await other.claim_completions([request("a"), request("b")])
    ledger = RecordingLedger(table)
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def sleep_at_once(seconds: float) -> None:
        if seconds:
            pauses.append(seconds)
            if len(pauses) in (7, 9):
                known = claims[len(pauses) == 9].completion_id
                assert known is not None
                await other.store_completion(known, Completion("one", 1, 1, 1.0))
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", sleep_at_once)
    results: list[int] = []

    async def land(index: int, result: Paid | CompletionError) -> None:
        results.append(index)

    await complete_all(ledger, scripts.verifier(), [request("a"), request("b"), request("c")], land, pace=Pace())
    assert sorted(results) == [0, 1, 2]
    assert pauses == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 0.05, 0.1]
    assert ledger.sizes == [3, 2, 2, 2, 2, 2, 2, 2, 1, 1]


async def test_a_reply_is_stored_before_anyone_sees_it() -> None:
    ledger = FakeLedger()
    stored: list[bool] = []

    async def land(index: int, result: Paid | CompletionError) -> None:
        assert isinstance(result, Paid)
        stored.append(ledger.table.rows[result.completion_id].completion is not None)

    await complete_all(ledger, scripts.verifier(), [request("a")], land, pace=FAST)
    assert stored == [True]


async def test_a_failed_call_is_an_error_of_its_request_alone() -> None:
    ledger, verifier = FakeLedger(), scripts.verifier({"a": EndpointUnavailable("no endpoint"), "b": "two"})
    results = await buy(ledger, verifier, [request("a"), request("b")])
    assert replies(results) == ["no endpoint", "two"]
    assert ledger.table.leased == []
    # Nothing was paid, so it may be asked again.
    assert replies(await buy(ledger, scripts.verifier({"a": "one"}), [request("a")])) == ["one"]


async def test_a_failed_call_falls_to_who_waits_for_it() -> None:
    table, gate = FakeLedgerTable(), asyncio.Event()
    failing = scripts.verifier({"a": EndpointUnavailable("no endpoint")}, gate=gate, gated=["b"])
    first = asyncio.create_task(buy(FakeLedger(table, worker="a"), failing, [request("a"), request("b")]))
    await until_in_flight(failing, 2)
    # At once: the first run has not ended yet.
    assert replies(await buy(FakeLedger(table, worker="b"), scripts.verifier({"a": "one"}), [request("a")])) == ["one"]
    assert failing.in_flight == 1
    gate.set()
    assert replies(await first) == ["no endpoint", NOTHING]


async def test_a_reply_that_is_no_text_is_not_stored() -> None:
    ledger = FakeLedger()
    results = await buy(ledger, scripts.verifier({"a": "nul \x00", "b": "half \ud800"}), [request("a"), request("b")])
    assert [type(result) for result in results] == [InvalidReply, InvalidReply]
    assert [row.completion for row in ledger.table.rows.values()] == [None, None]
    assert ledger.table.leased == []


async def test_cancellation_ends_calls_and_gives_leases_back() -> None:
    ledger, verifier = FakeLedger(), scripts.verifier(gate=asyncio.Event())
    purchase = asyncio.create_task(buy(ledger, verifier, [request("a"), request("b")]))
    await until_in_flight(verifier, 2)
    assert len(ledger.table.leased) == 2
    purchase.cancel()
    with pytest.raises(asyncio.CancelledError):
        await purchase
    assert verifier.in_flight == 0
    assert ledger.table.leased == []


class GatedLedger(FakeLedger):
    """A ledger whose answers are on the way until the gate is set: the server has done its part."""

    def __init__(self, statement: str) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.reached = asyncio.Event()
        self._statement = statement

    async def claim_completions(self, requests: Sequence[CompletionRequest]) -> list[Claim]:
        claims = await super().claim_completions(requests)
        await self._pass("claim")
        return claims

    async def store_completion(self, completion_id: int, completion: Completion) -> None:
        await self._pass("store")
        await super().store_completion(completion_id, completion)

    async def release_completions(self, completion_ids: Sequence[int]) -> None:
        await self._pass("release")
        await super().release_completions(completion_ids)

    async def _pass(self, statement: str) -> None:
        if statement == self._statement:
            self.reached.set()
            await self.gate.wait()


async def test_cancelled_during_the_claim_leaves_no_lease() -> None:
    ledger, verifier = GatedLedger("claim"), scripts.verifier()
    purchase = asyncio.create_task(buy(ledger, verifier, [request("a")]))
    await ledger.reached.wait()
    purchase.cancel()
    ledger.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await purchase
    assert ledger.table.leased == []
    assert verifier.calls == []


async def test_cancelled_while_storing_keeps_the_reply() -> None:
    ledger = GatedLedger("store")
    purchase = asyncio.create_task(buy(ledger, scripts.verifier({"a": "one"}), [request("a")]))
    await ledger.reached.wait()
    purchase.cancel()
    ledger.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await purchase
    assert [row.completion and row.completion.reply for row in ledger.table.rows.values()] == ["one"]


async def test_cancelled_again_while_giving_back_still_gives_back() -> None:
    ledger, verifier = GatedLedger("release"), scripts.verifier(gate=asyncio.Event())
    purchase = asyncio.create_task(buy(ledger, verifier, [request("a")]))
    await until_in_flight(verifier, 1)
    purchase.cancel()
    await ledger.reached.wait()
    purchase.cancel()
    ledger.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await purchase
    assert ledger.table.leased == []


async def test_an_error_on_landing_ends_everything() -> None:
    gate = asyncio.Event()
    ledger, verifier = FakeLedger(), scripts.verifier(gate=gate)
    paid = Completion("one", 1, 1, 1.0)
    (claim,) = await ledger.claim_completions([request("paid")])
    assert claim.completion_id is not None
    await ledger.store_completion(claim.completion_id, paid)

    async def land(index: int, result: Paid | CompletionError) -> None:
        await until_in_flight(verifier, 2)
        raise RunLost("it is gone")

    with pytest.raises(RunLost):
        await complete_all(ledger, verifier, [request("a"), request("paid"), request("b")], land, pace=FAST)
    assert verifier.in_flight == 0
    assert ledger.table.leased == []


async def test_a_lost_run_explains_errors_that_came_with_it() -> None:
    async def land(index: int, result: Paid | CompletionError) -> None:
        raise RunLost("it is gone") if index else DatabaseError("deadlock")

    with pytest.raises(RunLost):
        await complete_all(FakeLedger(), scripts.verifier(), [request("a"), request("b")], land, pace=FAST)


async def test_a_ledger_that_fails_does_not_hide_why_it_ended() -> None:
    class FailingLedger(FakeLedger):
        async def release_completions(self, completion_ids: Sequence[int]) -> None:
            raise DatabaseError("no release")

        async def store_completion(self, completion_id: int, completion: Completion) -> None:
            raise DatabaseError("no store")

    with pytest.raises(DatabaseError, match="no store"):
        await buy(FailingLedger(), scripts.verifier(), [request("a")])


async def test_nothing_to_ask_claims_nothing() -> None:
    ledger = FakeLedger()
    assert await buy(ledger, scripts.verifier(), []) == []
    assert ledger.table.claims == 0


async def ask(ledger: FakeLedger, verifier: ScriptedCompleter, text: str) -> Answer[int]:
    def read(completion: Completion) -> int:
        if not completion.reply.isdigit():
            raise InvalidReply("no number")
        return int(completion.reply)

    call = ModelCall("verdict", "1", (Message("user", text),), {}, read, max_tokens=9)
    return await ask_one(ledger, verifier, call, pace=FAST)


async def test_a_reply_that_fits_is_not_asked_for_again() -> None:
    verifier = scripts.verifier({"a": ["7", "8"]})
    assert (await ask(FakeLedger(), verifier, "a")).value == 7
    assert len(verifier.calls) == 1


async def test_a_reply_that_does_not_fit_is_asked_for_once_more() -> None:
    ledger, verifier = FakeLedger(), scripts.verifier({"a": ["seven", "7"]})
    answer = await ask(ledger, verifier, "a")
    assert answer.value == 7
    assert [call.sample for call in verifier.calls] == [0, 1]
    assert answer.completion_id is not None
    assert ledger.table.rows[answer.completion_id].request.sample == 1

    again = scripts.verifier()
    assert (await ask(ledger, again, "a")).value == 7
    assert again.calls == []


async def test_a_reply_that_never_fits_is_the_error() -> None:
    verifier = scripts.verifier({"a": ["seven", "eight"]})
    answer = await ask(FakeLedger(), verifier, "a")
    assert isinstance(answer.value, InvalidReply)
    assert len(verifier.calls) == 2


async def test_a_call_that_fails_is_not_made_again() -> None:
    verifier = scripts.verifier({"a": EndpointUnavailable("no endpoint")})
    answer = await ask(FakeLedger(), verifier, "a")
    assert isinstance(answer.value, EndpointUnavailable)
    assert answer.completion_id is None
    assert len(verifier.calls) == 1
