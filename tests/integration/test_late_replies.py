"""Overlapping claims of one input: of a worker that counts as dead and a living one, and of one attempt at a run."""

from __future__ import annotations

import asyncio

import pytest
from psycopg.conninfo import make_conninfo

from pgclarify.data.model_calls import Completion, CompletionRequest, Message
from pgclarify.database.ledger import LedgerTables
from pgclarify.database.pool import open_pool
from pgclarify.database.runs import Runs
from pgclarify.errors import CompletionError, EndpointUnavailable
from pgclarify.ledger import completions
from pgclarify.ledger.completions import Paid, complete_all
from tests.fakes import scripts
from tests.integration.manual_worker import MakeWorker
from tests.integration.spending import budget, enter, price, status
from tests.sessions import Connection, scalar


def request(text: str) -> CompletionRequest:
    return CompletionRequest("verdict", "fake", {}, "1", (Message("user", text),), payload={"content": text})


@pytest.mark.parametrize("is_of_a_run", [True, False])
@pytest.mark.parametrize("comes_late", [True, False])
async def test_a_reply_that_comes_late_spares_a_call_in_line(
    connection: Connection, database: str, make_worker: MakeWorker, is_of_a_run: bool, comes_late: bool
) -> None:
    dead, living = make_worker(), make_worker()
    price(connection, "fake")
    budget(connection, max_calls=10)
    run_id = enter(connection) if is_of_a_run else None
    gate = asyncio.Event()
    verifier = scripts.verifier({"a": "anew", "b": "two"}, concurrency=1, gate=gate, gated={"b"})
    landed: dict[int, Paid | CompletionError] = {}

    async def on_result(index: int, result: Paid | CompletionError) -> None:
        landed[index] = result

    async with open_pool(make_conninfo(database, user=living.connection.info.user)) as pool, asyncio.timeout(60):
        theirs = LedgerTables(Runs(pool, dead.worker_id), run_id)
        (claim,) = await theirs.claim_completions([request("a")])
        assert claim.completion_id is not None
        dead.die()
        ours = LedgerTables(Runs(pool, living.worker_id), run_id)
        asking = asyncio.create_task(complete_all(ours, verifier, [request("b"), request("a")], on_result))
        while not verifier.in_flight:  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0)
        assert (
            scalar(connection, "select count(*) from pgclarify_private.completion where leased_by = %s", dead.worker_id)
            == 0
        )
        if comes_late:
            await theirs.store_completion(claim.completion_id, Completion("late", 2, 1, 1.0, cached_tokens=1))
        gate.set()
        await asking

    asked = [call.messages[0].content for call in verifier.calls]
    assert asked == (["b"] if comes_late else ["b", "a"])
    result = landed[1]
    assert isinstance(result, Paid)
    assert (result.completion.reply, result.is_reused) == (("late", True) if comes_late else ("anew", False))
    assert (
        scalar(connection, "select count(*) from pgclarify_private.completion where reply is null or leased_by > 0")
        == 0
    )
    late = "select prompt_tokens, cached_tokens from pgclarify_private.completion where reply = 'late'"
    assert connection.execute(late).fetchone() == ((2, 1) if comes_late else None)
    # Each call is counted once, and nothing stays reserved.
    assert status(connection)[1] == 2


async def test_overlapping_batches_of_one_attempt_pay_once(
    connection: Connection, database: str, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    price(connection, "fake")
    budget(connection, max_calls=10)
    run_id = enter(connection)
    gate = asyncio.Event()
    verifier = scripts.verifier({"a": "once"}, gate=gate, gated={"a"})
    landed: list[Paid | CompletionError] = []

    async def on_result(_: int, result: Paid | CompletionError) -> None:
        landed.append(result)

    async with open_pool(make_conninfo(database, user=worker.connection.info.user)) as pool, asyncio.timeout(60):
        runs = Runs(pool, worker.worker_id)
        attempt = LedgerTables(runs, run_id)
        # Also two claims whose statements overlap.
        first, second = await asyncio.gather(*(attempt.claim_completions([request("b")]) for _ in range(2)))
        assert [claim.is_ours for claim in (*first, *second)] == [True, False]

        # An attempt after a restart does not wait for the leases of the one before.
        (again,) = await LedgerTables(runs, run_id).claim_completions([request("b")])
        assert again.is_ours

        batches = [asyncio.create_task(complete_all(attempt, verifier, [request("a")], on_result)) for _ in range(2)]
        while not verifier.in_flight:  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0)
        # Looks at the ledger several times meanwhile.
        await asyncio.sleep(5 * completions.FIRST_PAUSE)
        gate.set()
        await asyncio.gather(*batches)

    assert len(verifier.calls) == 1
    assert sorted(isinstance(result, Paid) and result.is_reused for result in landed) == [False, True]
    assert status(connection)[1] == 1


async def test_a_batch_that_waits_for_a_call_makes_it_if_that_call_fails(
    connection: Connection, database: str, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    run_id = enter(connection)
    verifier = scripts.verifier({"a": EndpointUnavailable("no")})
    landed: list[Paid | CompletionError] = []

    async def on_result(_: int, result: Paid | CompletionError) -> None:
        landed.append(result)

    async with open_pool(make_conninfo(database, user=worker.connection.info.user)) as pool, asyncio.timeout(60):
        attempt = LedgerTables(Runs(pool, worker.worker_id), run_id)
        await asyncio.gather(*(complete_all(attempt, verifier, [request("a")], on_result) for _ in range(2)))

    assert [type(result) for result in landed] == [EndpointUnavailable] * 2
    assert len(verifier.calls) == 2
