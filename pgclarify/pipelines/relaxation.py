"""The question as retrieval asks it: relaxed, so that no reading of it is missed."""

from __future__ import annotations

from dataclasses import replace

from pgclarify.errors import CompletionError, InvalidReply, NotAllowed
from pgclarify.model import Completion, Run
from pgclarify.pipelines.completions import Inquiry, Pace, ask_one, check_storable
from pgclarify.pipelines.trace import Trace
from pgclarify.protocols import RunStore, Verifier


async def relax(run: Run, store: RunStore, verifier: Verifier, trace: Trace, *, pace: Pace) -> str:
    """Relax a run's question for recall, and record that; or use it as it is if none fits, or no budget allows one.

    Args:
        run: The run.
        store: Its tables and the ledger.
        verifier: Who relaxes; one that does not leaves the question as it is.
        trace: Where the stage is noted.
        pace: How often to look for a reply that another run is paying for.

    Raises:
        CompletionError: If the call failed.
        RunLost: If the run is no longer this worker's.

    Source: VERDICT, Eq. 6.
    """
    inquiry = relaxation_inquiry(verifier, run.question)
    if inquiry is None:
        return run.question
    with trace.stage("relaxation") as tally:
        answer = await ask_one(store, verifier, inquiry, pace=pace, tally=tally)
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


def relaxation_inquiry(verifier: Verifier, question: str) -> Inquiry[str] | None:
    """Put what is asked to relax a question; None if the verifier leaves questions as they are."""
    request = verifier.relaxation_request(question)
    if request is None:
        return None

    def read(completion: Completion) -> str:
        relaxed = verifier.read_relaxation(completion)
        check_storable(relaxed)
        return relaxed

    return Inquiry(request, lambda: replace(request, sample=1), read)
