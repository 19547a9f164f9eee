"""Confirms answers that passed the checks of their quotes: a language model says whether the passage gives them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.errors import CompletionError, ConfigurationError
from pgclarify.ledger.completions import CallResult, ask_all
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.verdict_check import Quoted
from pgclarify.operations.missing_models import no_language_model
from pgclarify.prompts.confirmation import GivenAnswer, confirmation
from pgclarify.protocols import Meter

AT_ONCE: Final = 5
"""Most answers in one call."""

NOT_FOUND: Final = "asked once more, the model does not find the answer in the passage"
"""The code for an answer that was not confirmed."""

# Both limits bound the prompt. Passages for the default embedding model are shorter.
_LONGEST_PASSAGE: Final = 3000
_LONGEST_HEADING: Final = 300


class Confirmation:
    """Asks a language model whether passages give the answers that were read in them.

    Args:
        context: The run.

    Raises:
        ConfigurationError: If this worker has no language model.
    """

    def __init__(self, context: RunContext) -> None:
        chat = context.models.chat
        if chat is None:
            raise confirms_nothing()
        self._context = context
        self._chat = chat

    async def ask(
        self,
        given: Sequence[GivenAnswer],
        on_result: Callable[[int, bool | CompletionError], Awaitable[None]],
        *,
        tally: Meter,
    ) -> None:
        """Ask about answers, several in a call, with all calls in flight at once.

        Args:
            given: Any number, also none.
            on_result: Called with the index of each answer and the model's judgement, or the error.
            tally: Counts the replies.

        Raises:
            RunLost: If on_result raised it; calls in flight are cancelled.
            DatabaseError: If the ledger fails.
        """

        async def on_call(index: int, result: CallResult[list[bool]]) -> None:
            value, first = result.value, index * AT_ONCE
            for place in range(first, min(first + AT_ONCE, len(given))):
                await on_result(place, value if isinstance(value, CompletionError) else value[place - first])

        context = self._context
        calls = confirmation_calls(given)
        await ask_all(context.store, self._chat, calls, on_call, poll=context.poll, tally=tally)


def confirms_nothing() -> ConfigurationError:
    """Make the error of a worker that cannot confirm, because it has no language model."""
    return no_language_model('"verify": "model"', 'pass "checks", or leave it out')


def confirmation_calls(given: Sequence[GivenAnswer]) -> list[ModelCall[list[bool]]]:
    """Render the calls about some answers, a fixed number in each, in order.

    Which answers share a call depends on the answers before them. If a verdict failed, and succeeds in a later run,
    that run asks again about it and all after it. Calls by blocks of rank would not change. But if a third of 20
    passages is supported, every run would make twice as many calls.
    """
    return [confirmation(given[start : start + AT_ONCE]) for start in range(0, len(given), AT_ONCE)]


def given_answer(passage: Passage, interpretation: str, answer: str, quoted: Quoted) -> GivenAnswer:
    """Return what to ask about one answer; of a long passage, the part around the quote."""
    content = passage.content
    middle = (quoted.start_char + quoted.end_char) // 2 - passage.start_char
    start = max(0, min(middle - _LONGEST_PASSAGE // 2, len(content) - _LONGEST_PASSAGE))
    shown = replace(
        passage,
        content=content[start : start + _LONGEST_PASSAGE],
        title=passage.title and passage.title[:_LONGEST_HEADING],
        # The innermost heading is the last one.
        heading=passage.heading and passage.heading[-_LONGEST_HEADING:],
    )
    return GivenAnswer(shown, interpretation, answer)
