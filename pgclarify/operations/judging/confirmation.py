"""Confirms answers that passed the checks of their quotes: a model, or the trained reader, reads the passage again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol, TypeAlias

from pgclarify.data.documents import Passage
from pgclarify.data.runs import Tally
from pgclarify.errors import CompletionError, ConfigurationError, EmbeddingError
from pgclarify.language.languages import counts_as_english, is_foreign
from pgclarify.ledger.completions import ask_all
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.verdict_check import Quoted
from pgclarify.operations.missing_models import no_language_model
from pgclarify.prompts.confirmation import GivenAnswer, confirmation
from pgclarify.protocols import SpanReader

Confirmed: TypeAlias = bool | CompletionError | EmbeddingError
"""Whether the passage gives the answer, or why that is unknown: an error that a verdict may have."""

AT_ONCE: Final = 5
"""Most answers in one call."""

# Both limits bound the prompt. Passages for the default embedding model are shorter.
_LONGEST_PASSAGE: Final = 3000
_LONGEST_HEADING: Final = 300


class Confirmation(Protocol):
    """Reads passages once more, and judges whether they give the answers that were read in them."""

    async def ask(self, given: Sequence[GivenAnswer], *, tally: Tally) -> Sequence[Confirmed]:
        """Ask about answers.

        Args:
            given: Any number, also none.
            tally: Counts the replies.

        Returns:
            For each answer the judgement, or the error.

        Raises:
            DatabaseError: If the ledger fails.
        """


class ReaderConfirmation:
    """Asks the trained reader whether passages may answer their readings. It knows English; of other texts, all may.

    Args:
        question: The question of the run, which is read if a reading is no question.
        reader: The trained reader.
    """

    def __init__(self, question: str, reader: SpanReader) -> None:
        self._question = question
        self._reader = reader

    async def ask(self, given: Sequence[GivenAnswer], *, tally: Tally) -> Sequence[Confirmed]:
        """Ask about all answers at once, so that the reader computes them in batches."""
        return await asyncio.gather(*map(self._judge, given))

    async def _judge(self, given: GivenAnswer) -> Confirmed:
        passage = given.passage
        asked = given.interpretation if given.interpretation.rstrip().endswith("?") else self._question
        if is_foreign(asked) or not counts_as_english(passage.content, self._question):
            return True
        headings = " > ".join(filter(None, (passage.title, passage.heading)))
        try:
            span = await self._reader.read(asked, headings, passage.content)
        except EmbeddingError as error:
            return error
        return span is None or span.is_answerable


class ModelConfirmation:
    """Asks the language model whether passages give the answers that were read in them.

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

    async def ask(self, given: Sequence[GivenAnswer], *, tally: Tally) -> Sequence[Confirmed]:
        """Ask about answers, several in a call, with all calls in flight at once."""
        context = self._context
        # Which answers share a call depends on the answers before them. If a verdict failed, and succeeds in a later
        # run, that run asks again about it and all after it. Calls by blocks of rank would not change. But if a third
        # of 20 passages is supported, every run would make twice as many calls.
        asked = [given[start : start + AT_ONCE] for start in range(0, len(given), AT_ONCE)]
        results = await ask_all(context.store, self._chat, [confirmation(some) for some in asked], tally=tally)
        judged: list[Confirmed] = []
        for some, result in zip(asked, results, strict=True):
            judged += [result.value] * len(some) if isinstance(result.value, CompletionError) else result.value
        return judged


def confirms_nothing() -> ConfigurationError:
    """Make the error of a worker that cannot confirm, because it has no language model."""
    return no_language_model('"verify": "model"', 'pass "checks", or leave it out')


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
