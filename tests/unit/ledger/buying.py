"""Shared by tests of the ledger's client: requests and their results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from pgclarify.data.model_calls import CompletionRequest, Message
from pgclarify.errors import CompletionError
from pgclarify.ledger.completions import Paid, complete_all
from tests.fakes import FakeLedger, scripts
from tests.fakes.completer import ScriptedCompleter

# The reply about a passage that is in no script.
NOTHING = scripts.verdict_reply(None)


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

    async def on_result(index: int, result: Paid | CompletionError) -> None:
        assert index not in results
        results[index] = result

    # A test that waits without end should fail, not hang.
    async with asyncio.timeout(60):
        await complete_all(ledger, verifier, requests, on_result)
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
