"""Clarifying questions: which question would show the meaning of a vague question, if the corpus can answer it?

Source: AT-CoT, §3.2 and §4.2. What is checked against a corpus is ours: docs/methods/clarifying-questions.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgclarify.data.dialogue import ClarifyingQuestion, Form, ProposedQuestion
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import CompletionError, InvalidReply, code_of
from pgclarify.language.numbers import counted
from pgclarify.language.questions import asks_same_words
from pgclarify.ledger.completions import ask_one
from pgclarify.operations.context import Ending, RunContext, code_of_failures
from pgclarify.operations.judging.answerability import Answerability, check_answerability
from pgclarify.prompts.clarifying_questions import clarifying_questions
from pgclarify.protocols import Embedder


async def propose_questions(context: RunContext) -> Ending:
    """Propose clarifying questions.

    One call proposes. Each reformulation is checked against the run's corpus, unless settings["check"] is none or there
    is no corpus. The run succeeds even if no question is left. It is partial if passages could not be judged, and fails
    if the model proposed nothing.

    Args:
        context: The run; settings: form, count, history (absent if there is none), check; search and
            top_k for the check; proposals, if the model is asked for more than count. With check drop, reformulations
            that no document answers are removed. The first of the others are shown, at most count.
    """
    run = context.run
    is_checked = run.corpus_id is not None and run.settings["check"] != "none"
    # Before a call is paid for, because the model may be missing.
    embedder = await context.embedder() if is_checked else None
    return await _Proposing(context).carry_out(embedder)


class _Proposing:
    """One run of clarifying_questions."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._run = context.run
        self._trace = context.trace
        self._form = Form(self._run.settings["form"])

    async def carry_out(self, embedder: Embedder | None) -> Ending:
        proposed = await self._propose()
        asked = {place: one.reformulation for place, one in enumerate(proposed) if one.reformulation is not None}
        checks: dict[int, Answerability] = {}
        if embedder is not None and asked:
            found = await check_answerability(self._context, embedder, list(asked.values()))
            checks = dict(zip(asked, found, strict=True))
        kept = [
            (one, checks.get(place))
            for place, one in enumerate(proposed)
            if self._run.settings["check"] != "drop" or place not in checks or checks[place].is_answerable is not False
        ]
        left_out = len(proposed) - len(kept)
        if not kept:
            self._trace.stop_reason = f"no document answers any of {counted(len(proposed), 'proposal')}"
            self._trace.stop_code = StopCode.NOT_ANSWERED
        elif left_out:
            self._trace.stop_reason = f"{counted(left_out, 'proposal')} left out that no document answers"
        questions = [
            ClarifyingQuestion(ordinal, one)
            if checked is None
            else ClarifyingQuestion(ordinal, one, checked.is_answerable, checked.citations)
            for ordinal, (one, checked) in enumerate(kept[: self._run.settings["count"]], start=1)
        ]
        await self._context.store.record_results(self._run, questions)
        errors = [error for checked in checks.values() for error in checked.errors]
        return Ending(
            RunStatus.PARTIAL if errors else RunStatus.SUCCEEDED, error_code=code_of_failures(map(code_of, errors))
        )

    async def _propose(self) -> list[ProposedQuestion]:
        """Ask the model, and a second time if the reply cannot be used.

        Raises:
            CompletionError: If there is no usable reply.
        """
        settings = self._run.settings
        call = clarifying_questions(
            self._run.question,
            settings.get("history", []),
            form=self._form,
            count=settings.get("proposals", settings["count"]),
        ).then(self._fit)
        with self._trace.stage("questioning") as tally:
            context = self._context
            result = await ask_one(context.store, context.models.completer, call, tally=tally)
            value = result.value
            if isinstance(value, CompletionError):
                raise value
            tally.rows = len(value)
            tally.note = str(self._form)
        return value

    def _fit(self, proposed: Sequence[ProposedQuestion]) -> list[ProposedQuestion]:
        """Remove proposals that are the question itself.

        Raises:
            InvalidReply: If nothing is left.
        """
        question = self._run.question
        fit = [self._without_repetition(one) for one in proposed if not asks_same_words(_said(one), question)]
        if not fit:
            raise InvalidReply("the model proposed nothing but the question itself")
        return fit

    def _without_repetition(self, one: ProposedQuestion) -> ProposedQuestion:
        """Remove a reformulation that is the question itself: checking it would tell nothing about this proposal."""
        if one.reformulation is None or not asks_same_words(one.reformulation, self._run.question):
            return one
        return replace(one, reformulation=None)


def _said(one: ProposedQuestion) -> str:
    return one.clarifying_question or one.reformulation or ""
