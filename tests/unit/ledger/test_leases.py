"""The client of the ledger while other workers have leases: it waits for their replies, or takes their calls over."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest
from pydantic import ValidationError

from pgclarify.config import Settings
from pgclarify.data.model_calls import CALL_LEASE, Claim, Completion, CompletionRequest
from pgclarify.errors import CompletionError, EndpointUnavailable
from pgclarify.ledger import completions, leased_call
from pgclarify.ledger.completions import Paid, complete_all
from pgclarify.protocols import Sending, waited_for
from pgclarify.providers.call_line import CallLine
from pgclarify.providers.endpoint import Endpoint
from tests.fakes import FakeLedger, FakeLedgerTable, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.unit.ledger.buying import NOTHING, buy, eventually, replies, request, reused, until_in_flight


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
    asking = asyncio.create_task(buy(FakeLedger(table), verifier, [request("a"), request("b")]))
    await eventually(lambda: table.claims >= 4)
    assert [call.messages[0].content for call in verifier.calls] == ["b"]
    table.kill("dead")
    assert replies(await asking) == ["one", NOTHING]


async def test_a_call_in_line_that_another_took_over_is_waited_for() -> None:
    table, gate = FakeLedgerTable(lease_seconds=60), asyncio.Event()
    await FakeLedger(table, worker="dead").claim_completions([request("a")])
    table.kill("dead")
    verifier = scripts.verifier({"b": "two"}, concurrency=1, gate=gate, gated={"b"})
    asking = asyncio.create_task(buy(FakeLedger(table), verifier, [request("b"), request("a")]))
    await until_in_flight(verifier, 1)
    assert table.row(request("a")).holder == "worker"
    table.now = 61
    other = FakeLedger(table, worker="other")
    (claim,) = await other.claim_completions([request("a")])
    assert claim.is_ours
    gate.set()
    await eventually(lambda: table.claims >= 6)
    assert claim.completion_id is not None
    await other.store_completion(claim.completion_id, Completion("theirs", 1, 1, 1.0))

    assert replies(await asking) == ["two", "theirs"]
    assert [call.messages[0].content for call in verifier.calls] == ["b"]


def test_a_lease_that_is_not_renewed_is_longer_than_the_longest_call() -> None:
    settings = Settings(llm_timeout=600, llm_model="m", openai_base_url="http://127.0.0.1:1/v1")
    longest = Endpoint.from_settings(settings).longest_call
    assert longest < CALL_LEASE.total_seconds() - leased_call._RENEWAL_SECONDS
    with pytest.raises(ValidationError):
        Settings(llm_timeout=601)


@pytest.mark.parametrize("is_answered", [False, True])
async def test_a_call_that_waits_until_its_worker_may_count_as_dead_claims_again(
    monkeypatch: pytest.MonkeyPatch, is_answered: bool
) -> None:
    monkeypatch.setattr(leased_call, "_RENEWAL_SECONDS", 0.0)
    table, gate = FakeLedgerTable(lease_seconds=60), asyncio.Event()
    verifier = scripts.verifier({"a": "ours", "b": "two"}, concurrency=1, gate=gate, gated={"b"})
    asking = asyncio.create_task(buy(FakeLedger(table), verifier, [request("b"), request("a")]))
    await until_in_flight(verifier, 1)
    if is_answered:
        table.now = 61
        other = FakeLedger(table, worker="other")
        (claim,) = await other.claim_completions([request("a")])
        assert claim.is_ours
        assert claim.completion_id is not None
        await other.store_completion(claim.completion_id, Completion("theirs", 1, 1, 1.0))
    gate.set()

    assert replies(await asking) == ["two", "theirs" if is_answered else "ours"]
    assert [call.messages[0].content for call in verifier.calls] == (["b"] if is_answered else ["b", "a"])
    assert not table.leased


class RecordingLedger(FakeLedger):
    """Records the number of requests in each claim."""

    def __init__(self, table: FakeLedgerTable) -> None:
        super().__init__(table)
        self.sizes: list[int] = []

    async def claim_completions(self, requests: Sequence[CompletionRequest], *, sent_at_once: int = 0) -> list[Claim]:
        self.sizes.append(len(requests))
        return await super().claim_completions(requests, sent_at_once=sent_at_once)


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
    monkeypatch.setattr(completions, "FIRST_PAUSE", 1)
    monkeypatch.setattr(completions, "LONGEST_PAUSE", 20)
    results: list[int] = []

    async def on_result(index: int, result: Paid | CompletionError) -> None:
        results.append(index)

    await complete_all(ledger, scripts.verifier(), [request("a"), request("b"), request("c")], on_result)
    assert sorted(results) == [0, 1, 2]
    # Each doubles the one before it, up to the longest, and begins anew after a look that found something.
    assert pauses == [1, 2, 4, 8, 16, 20, 20, 1, 2]
    assert ledger.sizes == [3, 2, 2, 2, 2, 2, 2, 2, 1, 1]


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


class OneAtATime(ScriptedCompleter):
    """A completer that makes one call at a time, in the order of the line of an endpoint."""

    def __init__(self) -> None:
        super().__init__({"verdict": lambda prompt: prompt.text})
        self.line = CallLine(1)

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        async with self.line.turn(request.purpose):
            return await super().complete(request, sending)


@pytest.mark.parametrize(("is_waited_for", "order"), [(True, "cab"), (False, "abc")])
async def test_a_call_of_a_batch_that_a_waiting_run_needs_goes_first(is_waited_for: bool, order: str) -> None:
    table, completer = FakeLedgerTable(), OneAtATime()
    async with completer.line.turn("verdict"):
        batch = asyncio.create_task(buy(FakeLedger(table), completer, [request(text) for text in "abc"]))
        await eventually(lambda: len(table.leased) == 3)
        with waited_for(is_waited_for):
            person = asyncio.create_task(buy(FakeLedger(table), completer, [request("c")]))
        # The second claim of the person's run follows what it does after the first one.
        await eventually(lambda: table.claims >= 3)
    assert replies(await person) == ["c"]
    await batch
    assert "".join(call.messages[0].content for call in completer.calls) == order
    assert completions._own_calls == {}, "no run looks for a call that is over"
