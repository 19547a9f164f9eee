"""Asking back: what would tell which of its meanings a vague question has, and what of it the corpus can answer.

Source: AT-CoT, §3.2 and §4.2. What is checked against a corpus is ours: docs/methods/clarifying-questions.md.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from pgclarify.dialogue import ClarifyingQuestion, Form, PromptScheme, ProposedQuestion
from pgclarify.errors import CompletionError, EmbeddingError, InvalidReply, RunLost, describe
from pgclarify.language.numbers import counted
from pgclarify.language.questions import proposes_same
from pgclarify.ledger.completions import Pace, ask_one
from pgclarify.model import Run, RunStatus, StopCode
from pgclarify.operations.judging.answerability import Answerability, AnswerabilityCheck
from pgclarify.operations.trace import Trace
from pgclarify.prompts.clarifying_questions import clarifying_questions
from pgclarify.protocols import Completer, DialogueStore, Embedder, ExplorationStore, RunStore

_logger = logging.getLogger(__name__)
_PACE = Pace()


async def propose_questions(
    run: Run,
    store: RunStore,
    exploration: ExplorationStore,
    dialogue: DialogueStore,
    chat: Completer,
    embedder: Embedder | None,
    *,
    pace: Pace = _PACE,
) -> None:
    """Carry out a run whose operation is "clarifying_questions".

    One call proposes; with an embedder, each reformulation is checked against the corpus. It succeeds also if nothing
    is left that could be answered; is partial if passages could not be judged; and fails if nothing was proposed. A run
    that was cancelled or taken over meanwhile is left alone, without an error.

    Args:
        run: The run; settings: scheme, form, count, history (absent if there is none), check; search and top_k if there
            is an embedder. With check drop, what no document answers is left out.
        store: Its tables and the ledger.
        exploration: Where the passages are, and where the candidates go.
        dialogue: Where the questions go.
        chat: The language model: it proposes, and judges passages.
        embedder: The corpus's model; None if nothing is to be checked.
        pace: How often to look for replies that other runs are paying for.

    Raises:
        DatabaseError: If the store fails.
    """
    proposing = _Proposing(run, store, dialogue, chat, pace)
    check = None
    if embedder is not None:
        check = AnswerabilityCheck(
            run,
            ledger=store,
            passages=exploration,
            completer=chat,
            embedder=embedder,
            trace=proposing.trace,
            pace=pace,
        )
    try:
        try:
            await proposing.carry_out(check)
        except (CompletionError, EmbeddingError) as error:
            await store.finish_run(run, RunStatus.FAILED, [], describe(error), stages=proposing.trace.stages)
    except RunLost as lost:
        _logger.info("run %d was left: %s", run.run_id, lost.message)


class _Proposing:
    """One run of clarifying_questions, and what it works with."""

    def __init__(self, run: Run, store: RunStore, dialogue: DialogueStore, chat: Completer, pace: Pace) -> None:
        self.trace = Trace()
        self._run = run
        self._store = store
        self._dialogue = dialogue
        self._chat = chat
        self._pace = pace
        self._scheme = PromptScheme(run.settings["scheme"])
        self._form = Form(run.settings["form"])

    async def carry_out(self, check: AnswerabilityCheck | None) -> None:
        proposed = await self._propose()
        checkable = [place for place, one in enumerate(proposed) if one.reformulation is not None]
        checks: dict[int, Answerability] = {}
        if check is not None and checkable:
            found = await check.check([proposed[place].reformulation or "" for place in checkable])
            checks = dict(zip(checkable, found, strict=True))
        kept = [
            (one, checks.get(place))
            for place, one in enumerate(proposed)
            if self._run.settings["check"] != "drop" or place not in checks or checks[place].is_answerable is not False
        ]
        if not kept:
            self.trace.stop_reason = f"no document answers any of {counted(len(proposed), 'proposal')}"
            self.trace.stop_code = StopCode.NOT_ANSWERED
        elif len(kept) < len(proposed):
            left_out = counted(len(proposed) - len(kept), "proposal")
            self.trace.stop_reason = f"{left_out} left out that no document answers"
        questions = [
            ClarifyingQuestion(ordinal, one)
            if checked is None
            else ClarifyingQuestion(ordinal, one, checked.is_answerable, checked.citations)
            for ordinal, (one, checked) in enumerate(kept, start=1)
        ]
        await self._dialogue.record_clarifying_questions(self._run, questions)
        has_errors = any(checked.errors for checked in checks.values())
        await self._store.finish_run(
            self._run,
            RunStatus.PARTIAL if has_errors else RunStatus.SUCCEEDED,
            [],
            None,
            stages=self.trace.stages,
            stop_reason=self.trace.stop_reason,
            stop_code=self.trace.stop_code,
        )

    async def _propose(self) -> list[ProposedQuestion]:
        """Ask the model, and once more if its reply cannot be used.

        Raises:
            CompletionError: If there is no reply, or none that can be used.
        """
        settings = self._run.settings
        call = clarifying_questions(
            self._run.question,
            settings.get("history", []),
            scheme=self._scheme,
            form=self._form,
            count=settings["count"],
        ).then(self._fit)
        with self.trace.stage("questioning") as tally:
            answer = await ask_one(self._store, self._chat, call, pace=self._pace, tally=tally)
            value = answer.value
            if isinstance(value, CompletionError):
                raise value
            tally.rows = len(value)
            tally.note = f"{self._scheme}, {self._form}"
        return value

    def _fit(self, proposed: Sequence[ProposedQuestion]) -> list[ProposedQuestion]:
        """Leave out what would not help: the question itself, and what was proposed already.

        Raises:
            InvalidReply: If nothing is left.
        """
        fit: list[ProposedQuestion] = []
        for one in proposed:
            if not self._is_known(one, fit):
                fit.append(self._without_repetition(one))
        if not fit:
            raise InvalidReply("the model proposed nothing but the question itself")
        return fit

    def _is_known(self, one: ProposedQuestion, earlier: Sequence[ProposedQuestion]) -> bool:
        said = _said(one)
        return any(proposes_same(said, known) for known in (self._run.question, *map(_said, earlier)))

    def _without_repetition(self, one: ProposedQuestion) -> ProposedQuestion:
        """Leave a reformulation out that is the question again: to check it would tell nothing of this proposal."""
        if one.reformulation is None or not proposes_same(one.reformulation, self._run.question):
            return one
        return replace(one, reformulation=None)


def _said(one: ProposedQuestion) -> str:
    return one.clarifying_question or one.reformulation or ""
