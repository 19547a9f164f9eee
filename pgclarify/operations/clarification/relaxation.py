"""The question for retrieval: relaxed, so that no reading of it is missed."""

from __future__ import annotations

import asyncio

from pgclarify.errors import InvalidReply, NotAllowed
from pgclarify.ledger.completions import CallResult, ask_all
from pgclarify.operations.context import RunContext
from pgclarify.prompts.relaxation import relaxation


async def relax(context: RunContext, relaxed: asyncio.Future[str]) -> None:
    """Relax a run's question for recall.

    The question is used unchanged if no relaxation fits, if no budget allows the call, or if the completer does not
    relax. If it points back, what was said before then comes before it.

    Args:
        context: The run.
        relaxed: Gets the question to search for. If a caller waits, it is known while the reply is being stored.

    Raises:
        CompletionError: If the call failed; then relaxed gets nothing.

    Source: VERDICT, Eq. 6.
    """
    run, completer = context.run, context.models.completer
    unchanged = f"{context.said} {run.question}" if context.said else run.question
    call = completer.adapt(relaxation(run.question))
    if call is None:
        if context.said:
            with context.trace.stage("relaxation") as tally:
                tally.note = unchanged
        relaxed.set_result(unchanged)
        return

    async def pass_on(_: int, result: CallResult[str]) -> None:
        tally.note = unchanged if isinstance(result.value, InvalidReply | NotAllowed) else result.require()
        relaxed.set_result(tally.note)

    with context.trace.stage("relaxation") as tally:
        await ask_all(context.store, completer, [call], pass_on, tally=tally)
