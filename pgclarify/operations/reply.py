"""The reply to a clarifying question: the conversation is turned into one question that says what is meant.

Source: AT-CoT, §4.2 and Table 4 (reformulation).
"""

from __future__ import annotations

from pgclarify.data.dialogue import Rewriting
from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.language.words import asks_same_words
from pgclarify.ledger.completions import ask_one
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.missing_models import no_language_model
from pgclarify.prompts.rewriting import reformulation


async def reply(context: RunContext) -> Ending:
    """Make one question from a conversation.

    The run succeeds if the model returned a question, even the same one, because a reply may add nothing. It fails if
    there is none. A reformulation that was chosen is the question, without a call.

    Args:
        context: The run; its question is the one before the reply. Settings: text, the reply; ordinal, if it is a
            reformulation that was chosen; history, what was said before the original question.
    """
    settings = context.run.settings
    rewriting = Rewriting(settings["text"], None) if "ordinal" in settings else await _reformulate(context)
    await context.store.record_results(context.run, [rewriting])
    return Ending()


async def _reformulate(context: RunContext) -> Rewriting:
    run = context.run
    if context.models.chat is None:
        raise no_language_model("replying in words", "choose a reformulation by its ordinal, which works without one")
    first, turns = await context.dialogue.turns(run)
    is_unchanged = False

    def check(question: str) -> str:
        nonlocal is_unchanged
        if asks_same_words(question, run.question):
            is_unchanged = True
            raise InvalidReply("the reply changed nothing of the question")
        return question

    with context.trace.stage("rewriting") as tally:
        call = reformulation(first, turns, history=run.settings.get("history", [])).then(check)
        result = await ask_one(context.store, context.models.completer, call, tally=tally)
        if not isinstance(result.value, CompletionError):
            rewriting = Rewriting(result.value, None)
        elif is_unchanged:
            # Even if the second attempt failed, the first reply was an answer.
            rewriting = Rewriting(run.question, None, "the reply changed nothing of the question")
        else:
            raise result.value
        tally.note = rewriting.rewritten
    return rewriting
