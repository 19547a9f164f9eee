"""Multi-hop questions: a question is split into steps, and each step is answered from its own evidence.

Source: SUNAR, §3 and Algorithm 1; self-ask, Press et al., 2023. docs/methods/investigation.md says which parts are
ours.
"""

from __future__ import annotations

from dataclasses import replace

from pgclarify.algorithms.ambiguity.wording import stands_alone
from pgclarify.data.investigation import FollowUp, Step
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.vocabulary import RunStatus, StepKind, StepOutcome, StopCode
from pgclarify.errors import (
    EndpointUnavailable,
    InvalidReply,
    code_of,
    describe,
)
from pgclarify.language.numbers import counted
from pgclarify.language.questions import asks_same
from pgclarify.ledger.calls import CALLS_TO_ANSWER, Calls, OutOfCalls
from pgclarify.operations.context import Ending, RunContext, code_of_failures
from pgclarify.operations.investigation.answering import StepAnswerer
from pgclarify.operations.investigation.conclusion import Chain, Conclusion
from pgclarify.operations.investigation.context import InvestigationContext
from pgclarify.operations.investigation.uncertainty import SemanticEquivalence
from pgclarify.operations.judging.answer_proof import is_told
from pgclarify.prompts.investigation import follow_up

# After this many unanswered questions in a row, further ones would be guesses.
_UNANSWERED = 2


async def investigate(context: RunContext) -> Ending:
    """Investigate a run's question, step by step, to a conclusion.

    The run succeeds if it reached a conclusion, even "not in this corpus". It is partial if calls failed or their
    number was used up. It fails if the model could not be reached, or nothing could be embedded.

    Args:
        context: The run; settings: method, retrieval, reranker, top_k, max_passages, max_steps, max_calls,
            entailment ("none": no answers are sampled).

    Source: SUNAR, Algorithm 1 and §3.2.
    """
    run, store, models = context.run, context.store, context.models
    embedder = await context.embedder()
    calls = Calls(store, models.completer, most=run.settings["max_calls"])
    # Answers of steps are also compared if none are sampled.
    judge = "embedding" if run.settings["entailment"] == "none" else run.settings["entailment"]
    entailment = await models.entailments.get(judge, store, embedder, calls=calls)
    reranker = await models.rerankers.get(run.settings["reranker"], store, calls=calls)
    shared = InvestigationContext(context, embedder, reranker, calls, SemanticEquivalence(entailment))
    return await _Investigation(shared).carry_out()


class _Unfit(InvalidReply):
    """A follow-up question that must not be asked.

    Args:
        message: What is wrong with it.
        follow_up: As the model gave it.
        repeats: The step that asked the same; None if it has another fault.
    """

    def __init__(self, message: str, follow_up: FollowUp, *, repeats: Step | None = None) -> None:
        super().__init__(message)
        self.follow_up = follow_up
        self.repeats = repeats


class _Investigation:
    """One run of investigate."""

    def __init__(self, shared: InvestigationContext) -> None:
        self._shared = shared
        self._run = shared.context.run
        self._trace = shared.context.trace
        self._calls = shared.calls
        self._answerer = StepAnswerer(shared)
        self._steps: list[Step] = []

    async def carry_out(self) -> Ending:
        # Calls that the conclusion may need are reserved.
        with self._calls.keeping(CALLS_TO_ANSWER):
            answer = await self._decompose()
        chain = Chain(self._steps, self._answerer.shown, self._answerer.relevance, answer)
        end = await Conclusion(self._shared).conclude(chain)
        errors = self._shared.errors
        if self._calls.were_short:
            self._trace.stop_reason = self._calls.shortage(CALLS_TO_ANSWER)
            self._trace.stop_code = StopCode.LIMIT
        if end.outcome is StepOutcome.NOT_IN_CORPUS:
            # After an incomplete search, the answer cannot be "not in this corpus".
            gone = next((error for error in errors if isinstance(error, EndpointUnavailable)), None)
            if gone is not None:
                await self._record(_cut_short(end, StepOutcome.FAILED, describe(gone)))
                raise gone
            if errors:
                end = _cut_short(end, StepOutcome.FAILED, describe(errors[0]))
            elif self._calls.were_short:
                end = _cut_short(end, StepOutcome.CUT_OFF, self._trace.stop_reason)
        await self._record(end)
        return Ending(
            RunStatus.PARTIAL if errors or self._calls.were_short else RunStatus.SUCCEEDED,
            error_code=code_of_failures(map(code_of, errors)),
        )

    async def _decompose(self) -> str | None:
        """Ask follow-up questions until there is no further one, or it would be useless.

        If no follow-up question is allowed, the question itself is the only step.

        Returns:
            The model's conclusion from the answers; None if there is none.

        Source: SUNAR, §3 (de); self-ask.
        """
        if self._run.settings["max_steps"] == 0:
            await self._take(FollowUp())
            self._stop("no follow-up questions are allowed")
            return None
        unanswered = 0
        while True:
            follow_up = await self._next()
            if follow_up is None:
                return None
            if self._steps and (follow_up.question is None or self._is_answered(follow_up)):
                self._stop("no further question was needed")
                return follow_up.answer
            step = await self._take(follow_up)
            if step is None:
                return follow_up.answer
            if step.kind is StepKind.DIRECT and step.outcome is StepOutcome.ANSWERED:
                self._stop("the question needed no follow-up")
                return None
            if step.outcome is StepOutcome.CUT_OFF:
                return None
            unanswered = 0 if step.outcome is StepOutcome.ANSWERED else unanswered + 1
            if unanswered == _UNANSWERED:
                self._stop(f"{_UNANSWERED} questions in a row had no answer")
                return None

    async def _take(self, follow_up: FollowUp) -> Step | None:
        """Take the next step; None if there are too many."""
        ordinal = len(self._steps) + 1
        question = follow_up.question
        if question is None or (not self._steps and asks_same(question, self._run.question)):
            return await self._record(
                await self._answerer.answer(self._run.question, kind=StepKind.DIRECT, ordinal=ordinal)
            )
        most = self._run.settings["max_steps"]
        if sum(step.kind is StepKind.FOLLOW_UP for step in self._steps) == most:
            self._stop(f"the limit of {counted(most, 'follow-up question')} was reached")
            return None
        return await self._record(await self._answerer.answer(question, kind=StepKind.FOLLOW_UP, ordinal=ordinal))

    async def _next(self) -> FollowUp | None:
        """Ask the model for the next question; None if there is none."""
        with self._trace.stage("decomposition", step_ordinal=len(self._steps) + 1) as tally:
            value = await self._calls.ask(self._render, tally=tally)
            if isinstance(value, FollowUp):
                tally.note = self._told(value)
                return value
            tally.note = describe(value)
        if isinstance(value, OutOfCalls):
            return None
        if isinstance(value, _Unfit):
            if value.repeats is not None and value.follow_up.question is not None:
                await self._go_round(value.follow_up.question, value.repeats)
                return FollowUp(answer=value.follow_up.answer)
            self._stop(value.message)
        elif not self._steps and isinstance(value, EndpointUnavailable):
            raise value
        else:
            self._shared.errors.append(value)
            self._stop("the next question could not be had")
        # A question that cannot be split can still be answered directly.
        return None if self._steps else FollowUp()

    def _told(self, follow_up: FollowUp) -> str | None:
        """Describe the model's reply about the next question; None if there is one, because the next step shows it.

        The note repeats no answer, because all roles that see the run see its notes.
        """
        if follow_up.question is not None and not self._is_answered(follow_up):
            return None
        return "no further question" if self._steps else "no follow-up question is needed"

    def _render(self) -> ModelCall[FollowUp]:
        return follow_up(self._run.question, tuple(self._steps)).then(self._check)

    def _check(self, follow_up: FollowUp) -> FollowUp:
        if follow_up.question is None or self._is_answered(follow_up):
            return follow_up
        for step in self._steps:
            if asks_same(step.question, follow_up.question):
                raise _Unfit("the next question was asked before", follow_up, repeats=step)
        if not stands_alone(follow_up.question):
            raise _Unfit("the next question does not stand on its own", follow_up)
        return follow_up

    def _is_answered(self, follow_up: FollowUp) -> bool:
        """Tell whether the steps already answer a question that a model would go on with."""
        return follow_up.answer is not None and is_told(
            follow_up.answer, [], asked=self._run.question, steps=self._steps
        )

    async def _go_round(self, question: str, earlier: Step) -> None:
        """Note that a question was repeated, which ends the decomposition."""
        await self._record(
            Step(
                ordinal=len(self._steps) + 1,
                kind=StepKind.FOLLOW_UP,
                question=question,
                outcome=StepOutcome.REPEATED,
                reason=f"step {earlier.ordinal} asked the same",
            )
        )
        self._stop("a question was asked again")

    async def _record(self, step: Step) -> Step:
        await self._shared.context.store.record_results(self._run, [step])
        self._steps.append(step)
        return step

    def _stop(self, reason: str) -> None:
        """Note why it stopped early; the first reason is kept."""
        self._trace.stop_reason = self._trace.stop_reason or reason


def _cut_short(end: Step, outcome: StepOutcome, reason: str | None) -> Step:
    """Replace the outcome of a conclusion without evidence, if the search was incomplete."""
    return replace(end, outcome=outcome, reason=reason, abstention_code=None)
