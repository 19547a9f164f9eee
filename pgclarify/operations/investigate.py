"""Multi-hop questions: a question is split into steps once, and each step is answered from its own evidence.

Source: SUNAR, §3 and Algorithm 1; the plan with #1 for earlier answers is that of MuSiQue (Trivedi et al., 2022).
docs/methods/investigation.md says which parts are ours.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from pgclarify.data.investigation import LEAST_CONFIDENCE, Step
from pgclarify.data.vocabulary import RunStatus, StepKind, StepOutcome, StopCode
from pgclarify.errors import EndpointUnavailable, code_of, describe
from pgclarify.ledger.calls import CALLS_TO_ANSWER, Calls, OutOfCalls
from pgclarify.operations.context import Ending, RunContext, code_of_failures
from pgclarify.operations.investigation.answering import StepAnswerer
from pgclarify.operations.investigation.context import InvestigationContext
from pgclarify.operations.investigation.meta_evidence import reason_again
from pgclarify.operations.investigation.uncertainty import SemanticEquivalence
from pgclarify.prompts.investigation import compares, fill_in, needed, plan


async def investigate(context: RunContext) -> Ending:
    """Investigate a run's question, step by step, to a conclusion.

    The run succeeds if it reached a conclusion, even "not in this corpus". It is partial if calls failed or their
    number was used up. It fails if the model could not be reached, or nothing could be embedded.

    Args:
        context: The run; settings: method, retrieval, reranker, top_k, max_passages, max_steps, max_calls,
            entailment ("none": no answers are sampled), samples, meta.

    Source: SUNAR, Algorithm 1 and §3.2.
    """
    run, store, models = context.run, context.store, context.models
    embedder = await context.embedder()
    calls = Calls(store, models.completer, most=run.settings["max_calls"])
    equivalence = None
    if run.settings["entailment"] != "none":
        entailment = await models.entailments.get(run.settings["entailment"], store, embedder, calls=calls)
        equivalence = SemanticEquivalence(entailment)
    reranker = await models.rerankers.get(run.settings["reranker"], store, calls=calls)
    return await _Investigation(InvestigationContext(context, embedder, reranker, calls, equivalence)).carry_out()


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
        with self._calls.keeping(CALLS_TO_ANSWER):
            questions = await self._plan()
        # Calls for the question as a whole are reserved.
        is_meta = bool(questions) and self._run.settings.get("meta", False)
        kept = CALLS_TO_ANSWER * (bool(questions) + is_meta)
        with self._calls.keeping(kept):
            for question in questions:
                await self._record(await self._take(question))
        if not self._steps or self._steps[-1].outcome is not StepOutcome.ANSWERED:
            whole = self._step(StepKind.DIRECT, self._run.question)
            with self._calls.keeping(CALLS_TO_ANSWER * is_meta):
                await self._record(await self._answerer.answer(whole, self._answered()))
        end = self._conclusion()
        if is_meta:
            end = await reason_again(self._shared, self._answerer, self._steps, end)
        errors = self._shared.errors
        if self._calls.were_short:
            self._trace.stop_reason = self._calls.shortage(kept)
            self._trace.stop_code = StopCode.LIMIT
        if end.outcome is not StepOutcome.ANSWERED:
            # After an incomplete search, the answer cannot be "not in this corpus".
            gone = next((error for error in errors if isinstance(error, EndpointUnavailable)), None)
            if gone is not None:
                await self._record(_cut_short(end, StepOutcome.FAILED, describe(gone)))
                raise gone
            if errors:
                end = _cut_short(end, StepOutcome.FAILED, describe(errors[0]))
            elif self._calls.were_short:
                end = _cut_short(end, StepOutcome.CUT_OFF, self._trace.stop_reason)
            elif end.abstention_code == StopCode.UNPROVEN:
                self._trace.stop_code = StopCode.UNPROVEN
        await self._record(end)
        return Ending(
            RunStatus.PARTIAL if errors or self._calls.were_short else RunStatus.SUCCEEDED,
            error_code=code_of_failures(map(code_of, errors)),
        )

    async def _plan(self) -> tuple[str, ...]:
        """Plan the questions of the steps; none if the question is not split."""
        most = self._run.settings["max_steps"]
        # In a plan, the number of "Symphony #2" would stand for an answer.
        if most < 2 or needed(self._run.question):
            return ()
        with self._trace.stage("decomposition", step_ordinal=1) as tally:
            value = await self._calls.ask(plan(self._run.question, most=most), tally=tally)
            if isinstance(value, tuple):
                tally.rows = len(value)
                return value
            tally.note = describe(value)
        if isinstance(value, EndpointUnavailable):
            raise value
        if not isinstance(value, OutOfCalls):
            self._shared.errors.append(value)
        return ()

    async def _take(self, question: str) -> Step:
        """Answer a question of the plan, with the answers of earlier steps in it, if they have those that it needs."""
        for number in needed(question):
            earlier = self._steps[number - 1]
            if earlier.outcome is not StepOutcome.ANSWERED:
                reason, code = f"it needs the answer of step {number}", earlier.abstention_code
                step = self._step(StepKind.FOLLOW_UP, question)
                return replace(step, outcome=earlier.outcome, reason=reason, abstention_code=code)
        # A comparison rests on what the steps cite. Other questions have all that they need in their answers.
        before = [self._steps[number - 1] for number in needed(question)] if compares(question) else ()
        return await self._answerer.answer(self._step(StepKind.FOLLOW_UP, fill_in(question, self._steps)), before)

    def _conclusion(self) -> Step:
        """Conclude with the answer of the last step: its proof is that of all steps, unless it needs none of them."""
        last = self._steps[-1]
        end = replace(last, ordinal=last.ordinal + 1, kind=StepKind.CONCLUSION, question=self._run.question)
        if last.kind is StepKind.DIRECT:
            return end
        answered = self._answered()
        return replace(
            end,
            confidence=max(prod(step.confidence or 0.0 for step in answered), LEAST_CONFIDENCE),
            reason=None,
            semantic_sets=None,
            citations=tuple(dict.fromkeys(citation for step in answered for citation in step.citations)),
        )

    def _answered(self) -> list[Step]:
        return [step for step in self._steps if step.outcome is StepOutcome.ANSWERED]

    def _step(self, kind: StepKind, question: str) -> Step:
        return Step(len(self._steps) + 1, kind, question, StepOutcome.NOT_IN_CORPUS)

    async def _record(self, step: Step) -> None:
        await self._shared.context.store.record_results(self._run, [step])
        self._steps.append(step)


def _cut_short(end: Step, outcome: StepOutcome, reason: str | None) -> Step:
    """Replace the outcome of a conclusion without evidence, if the search was incomplete."""
    return replace(end, outcome=outcome, reason=reason, abstention_code=None)
