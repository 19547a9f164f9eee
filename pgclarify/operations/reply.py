"""What came of asking back: a question that says what is meant, made of a conversation.

Source: AT-CoT, §4.2 and Table 4 (reformulation).
"""

from __future__ import annotations

from pgclarify.dialogue import Rewriting
from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.language.quotes import fold
from pgclarify.ledger.completions import ask_one
from pgclarify.operations.context import Ending, RunContext
from pgclarify.prompts.rewriting import reformulation


async def reply(context: RunContext) -> Ending:
    """Make one question of a conversation.

    It succeeds if the model gave a question, be it the one that was there: somebody may have nothing to add. It fails
    if there is none.

    Args:
        context: The run; its question is the one that was asked back about. Of its settings, history counts: what was
            said before the question that was asked first.
    """
    await context.stores.dialogue.record_rewriting(context.run, await _reformulate(context))
    return Ending()


async def _reformulate(context: RunContext) -> Rewriting:
    run = context.run
    first, turns = await context.stores.dialogue.turns(run)
    is_unchanged = False

    def check(question: str) -> str:
        nonlocal is_unchanged
        if _bare(question) == _bare(run.question):
            is_unchanged = True
            raise InvalidReply("the reply changed nothing of the question")
        return question

    with context.trace.stage("rewriting") as tally:
        call = reformulation(first, turns, history=run.settings.get("history", [])).then(check)
        result = await ask_one(context.store, context.models.completer, call, poll=context.poll, tally=tally)
        if not isinstance(result.value, CompletionError):
            rewriting = Rewriting(result.value, None)
        elif is_unchanged:
            # Whatever became of the second attempt, the first was an answer.
            rewriting = Rewriting(run.question, None, "the reply changed nothing of the question")
        else:
            raise result.value
        tally.note = rewriting.rewritten
    return rewriting


def _bare(question: str) -> str:
    return fold(question).strip(" ?.!")
