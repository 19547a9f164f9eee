"""What came of asking back: a question that says what is meant, made of a conversation.

Source: AT-CoT, §4.2 and Table 4 (reformulation).
"""

from __future__ import annotations

import logging

from pgclarify.dialogue import Rewriting
from pgclarify.errors import CompletionError, InvalidReply, RunLost, describe
from pgclarify.language.quotes import fold
from pgclarify.ledger.completions import Pace, ask_one
from pgclarify.model import Run, RunStatus
from pgclarify.operations.trace import Trace
from pgclarify.prompts.rewriting import reformulation
from pgclarify.protocols import Completer, DialogueStore, RunStore

_logger = logging.getLogger(__name__)
_PACE = Pace()


async def reply(run: Run, store: RunStore, dialogue: DialogueStore, chat: Completer, *, pace: Pace = _PACE) -> None:
    """Carry out a run whose operation is "reply".

    It succeeds if the model gave a question, be it the one that was there: somebody may have nothing to add. It fails
    if there is none. A run that was cancelled or taken over meanwhile is left alone, without an error.

    Args:
        run: The run; its question is the one that was asked back about. Of its settings, history counts: what was said
            before the question that was asked first.
        store: Its tables and the ledger.
        dialogue: Where the conversation is, and where the question goes.
        chat: The language model.
        pace: How often to look for a reply that another run is paying for.

    Raises:
        DatabaseError: If the store fails.
    """
    trace = Trace()
    try:
        try:
            rewriting = await _reformulate(run, store, dialogue, chat, trace, pace)
        except CompletionError as error:
            await store.finish_run(run, RunStatus.FAILED, [], describe(error), stages=trace.stages)
            return
        await dialogue.record_rewriting(run, rewriting)
        await store.finish_run(run, RunStatus.SUCCEEDED, [], None, stages=trace.stages)
    except RunLost as lost:
        _logger.info("run %d was left: %s", run.run_id, lost.message)


async def _reformulate(
    run: Run, store: RunStore, dialogue: DialogueStore, chat: Completer, trace: Trace, pace: Pace
) -> Rewriting:
    first, turns = await dialogue.turns(run)
    is_unchanged = False

    def check(question: str) -> str:
        nonlocal is_unchanged
        if _bare(question) == _bare(run.question):
            is_unchanged = True
            raise InvalidReply("the reply changed nothing of the question")
        return question

    with trace.stage("rewriting") as tally:
        call = reformulation(first, turns, history=run.settings.get("history", [])).then(check)
        answer = await ask_one(store, chat, call, pace=pace, tally=tally)
        if not isinstance(answer.value, CompletionError):
            rewriting = Rewriting(answer.value, None)
        elif is_unchanged:
            # Whatever became of the second attempt, the first was an answer.
            rewriting = Rewriting(run.question, None, "the reply changed nothing of the question")
        else:
            raise answer.value
        tally.note = rewriting.rewritten
    return rewriting


def _bare(question: str) -> str:
    return fold(question).strip(" ?.!")
