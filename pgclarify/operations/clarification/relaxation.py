"""The question for retrieval: relaxed, so that no reading of it is missed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pgclarify.errors import CompletionError, InvalidReply, NotAllowed
from pgclarify.ledger.completions import CallResult, ask_all
from pgclarify.operations.context import RunContext
from pgclarify.prompts.relaxation import relaxation


async def relax(context: RunContext, then: Callable[[str], Awaitable[object]] | None = None) -> str:
    """Relax a run's question for recall.

    The question is used unchanged if no relaxation fits, if no budget allows the call, or if the completer does not
    relax. If it points back, what was said before then comes before it.

    Args:
        context: The run.
        then: Called with the relaxed question; if a caller waits, while the reply is being stored. None for nothing.

    Raises:
        CompletionError: If the call failed.

    Source: VERDICT, Eq. 6.
    """
    run, completer = context.run, context.models.completer
    unchanged = f"{context.said} {run.question}" if context.said else run.question
    call = completer.adapt(relaxation(run.question))
    if call is None:
        if context.said:
            with context.trace.stage("relaxation") as tally:
                tally.note = unchanged
        return unchanged

    async def pass_on(_: int, result: CallResult[str]) -> None:
        if then is not None and not isinstance(result.value, CompletionError):
            await then(result.value)

    with context.trace.stage("relaxation") as tally:
        (result,) = await ask_all(context.store, completer, [call], pass_on, tally=tally)
        relaxed = unchanged if isinstance(result.value, InvalidReply | NotAllowed) else result.require()
        tally.note = relaxed
    return relaxed
