"""The question as retrieval asks it: relaxed, so that no reading of it is missed."""

from __future__ import annotations

from pgclarify.errors import CompletionError, InvalidReply, NotAllowed
from pgclarify.ledger.completions import Pace, ask_one
from pgclarify.model import Run
from pgclarify.operations.trace import Trace
from pgclarify.prompts.relaxation import relaxation
from pgclarify.protocols import Completer, RunStore


async def relax(run: Run, store: RunStore, completer: Completer, trace: Trace, *, pace: Pace) -> str:
    """Relax a run's question for recall, and record that; or use it as it is if none fits, or no budget allows one.

    Args:
        run: The run.
        store: Its tables and the ledger.
        completer: Who relaxes; one that cannot leaves the question as it is.
        trace: Where the stage is noted.
        pace: How often to look for a reply that another run is paying for.

    Raises:
        CompletionError: If the call failed.
        RunLost: If the run is no longer this worker's.

    Source: VERDICT, Eq. 6.
    """
    call = completer.adapt(relaxation(run.question))
    if call is None:
        return run.question
    with trace.stage("relaxation") as tally:
        answer = await ask_one(store, completer, call, pace=pace, tally=tally)
        match answer.value:
            case InvalidReply() | NotAllowed():
                relaxed = run.question
            case CompletionError() as error:
                raise error
            case relaxed:
                pass
        tally.note = relaxed
    await store.record_relaxation(run, relaxed, answer.completion_id)
    return relaxed
