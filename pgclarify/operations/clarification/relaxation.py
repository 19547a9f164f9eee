"""The question for retrieval, relaxed: with option relax, so that no reading of it is missed."""

from __future__ import annotations

import asyncio

from pgclarify.errors import InvalidReply, NotAllowed
from pgclarify.ledger.completions import CallResult, ask_all
from pgclarify.operations.context import RunContext
from pgclarify.prompts.relaxation import relaxation


async def relax(context: RunContext) -> str:
    """Relax a run's question for recall, and return the text to search for.

    That is the run's own text if no relaxation fits, if no budget allows the call, or if the completer does not relax.

    Raises:
        CompletionError: If the call failed.

    Source: VERDICT, Eq. 6.
    """
    completer, unchanged = context.models.completer, context.search_text
    call = completer.adapt(relaxation(context.run.question))
    if call is None:
        return unchanged
    relaxed: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def pass_on(_: int, result: CallResult[str]) -> None:
        relaxed.set_result(unchanged if isinstance(result.value, InvalidReply | NotAllowed) else result.require())

    with context.trace.stage("relaxation") as tally:
        asking = ask_all(context.store, completer, [call], pass_on, tally=tally)
        if context.storing is None:
            await asking
        else:
            # The search does not wait until the reply is stored. If the call fails, the group cancels this task.
            context.storing.create_task(asking)
        tally.note = await relaxed
    return tally.note
