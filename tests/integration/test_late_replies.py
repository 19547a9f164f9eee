"""A worker that counts as dead stores a reply, while another worker has a call for the same input in its queue."""

from __future__ import annotations

import asyncio

import pytest
from psycopg.conninfo import make_conninfo

from pgclarify.database.pool import open_pool
from pgclarify.database.runs import LedgerTables, Runs
from pgclarify.errors import CompletionError
from pgclarify.ledger.completions import Paid, PollInterval, complete_all
from pgclarify.model_calls import Completion, CompletionRequest, Message
from tests.fakes import scripts
from tests.integration.by_hand import Connection, Hire, scalar
from tests.integration.spending import budget, enter, price, status

FAST = PollInterval(0.01, 0.01)


def request(text: str) -> CompletionRequest:
    return CompletionRequest("verdict", "fake", {}, "1", (Message("user", text),), payload={"content": text})


@pytest.mark.parametrize("is_of_a_run", [True, False])
@pytest.mark.parametrize("comes_late", [True, False])
async def test_a_reply_that_comes_late_spares_a_call_in_line(
    connection: Connection, database: str, hire: Hire, is_of_a_run: bool, comes_late: bool
) -> None:
    dead, living = hire(), hire()
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
        asking = asyncio.create_task(complete_all(ours, verifier, [request("b"), request("a")], on_result, poll=FAST))
        while not verifier.in_flight:  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0)
        assert scalar(connection, "select count(*) from pgclarify.completion where leased_by = %s", dead.worker_id) == 0
        if comes_late:
            await theirs.store_completion(claim.completion_id, Completion("late", 2, 1, 1.0, cached_tokens=1))
        gate.set()
        await asking

    asked = [call.messages[0].content for call in verifier.calls]
    assert asked == (["b"] if comes_late else ["b", "a"])
    result = landed[1]
    assert isinstance(result, Paid)
    assert (result.completion.reply, result.is_reused) == (("late", True) if comes_late else ("anew", False))
    assert scalar(connection, "select count(*) from pgclarify.completion where reply is null or leased_by > 0") == 0
    late = "select prompt_tokens, cached_tokens from pgclarify.completion where reply = 'late'"
    assert connection.execute(late).fetchone() == ((2, 1) if comes_late else None)
    # Each call is counted once, and nothing stays reserved.
    assert status(connection)[1] == 2
