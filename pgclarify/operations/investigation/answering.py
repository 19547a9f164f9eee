"""One step of an investigation: a question, its evidence, and the answer that the evidence proves."""

from __future__ import annotations

from dataclasses import replace

from pgclarify.data.candidates import Candidate
from pgclarify.data.investigation import LEAST_CONFIDENCE, Step
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
from pgclarify.data.vocabulary import StepKind, StepOutcome, StopCode
from pgclarify.errors import CompletionError, describe
from pgclarify.ledger.calls import CALLS_TO_ANSWER, OutOfCalls, Unproven
from pgclarify.operations.investigation.context import InvestigationContext
from pgclarify.operations.investigation.gathering import Gathered, Gatherer
from pgclarify.operations.judging.answer_proof import Proven, prove
from pgclarify.prompts.investigation import answer


class StepAnswerer:
    """Answers the steps of one investigation.

    Attributes:
        shown: The candidates of all steps, by rank.
        relevance: By rank, the score of a candidate before any penalty, in (0, 1).
    """

    def __init__(self, shared: InvestigationContext) -> None:
        self._shared = shared
        self._gatherer = Gatherer(shared)
        self.shown: list[Candidate] = []
        self.relevance: dict[int, float] = {}

    async def answer(self, question: str, *, kind: StepKind, ordinal: int) -> Step:
        """Find evidence for a question, and answer it from the evidence.

        Args:
            question: A question that stands alone.
            kind: direct or follow_up.
            ordinal: The step's, from 1.

        Returns:
            The step: answered, not_in_corpus, cut_off or failed. Its candidates are recorded, but not the step itself.

        Raises:
            EmbeddingError: If a model on this machine failed.
            RunLost: If the run is no longer this worker's.
        """
        step = Step(ordinal, kind, question, StepOutcome.NOT_IN_CORPUS)
        try:
            with self._shared.calls.keeping(CALLS_TO_ANSWER):
                gathered = await self._gatherer.gather(question, step_ordinal=ordinal)
        except CompletionError as error:
            return self._failed(step, error)
        self.shown += gathered.candidates
        self.relevance.update(gathered.relevance)
        if not gathered.candidates:
            return replace(step, reason="the search found nothing", abstention_code=StopCode.NO_PASSAGE)
        with self._shared.context.trace.stage("answering", step_ordinal=ordinal) as tally:
            step = await self._answer(step, gathered, tally)
            # Only the step has the answer: it is hidden from roles that may not read its documents, unlike the note.
            tally.note = step.outcome.value
        return step

    async def _answer(self, step: Step, gathered: Gathered, tally: Tally) -> Step:
        passages = [candidate.passage for candidate in gathered.candidates]

        def render() -> ModelCall[Proven | None]:
            return answer(step.question, passages).then(
                lambda finding: prove(finding, gathered.candidates, asked=step.question)
            )

        value = await self._shared.calls.ask(render, tally=tally)
        match value:
            case None:
                return replace(step, reason="the passages do not answer it", abstention_code=StopCode.NOT_ANSWERED)
            case OutOfCalls():
                return replace(step, outcome=StepOutcome.CUT_OFF, reason=value.message)
            case Unproven():
                return replace(step, reason=value.message, abstention_code=StopCode.UNPROVEN)
            case CompletionError():
                return self._failed(step, value)
        return await self._answered(step, value, gathered, tally)

    async def _answered(self, step: Step, proven: Proven, gathered: Gathered, tally: Tally) -> Step:
        first = proven.cited[0]
        samples = gathered.samples.get(first.batch)
        confidence = gathered.relevance[first.rank]
        reason = None
        if samples is None and gathered.has_unsampled:
            reason = f"not sampled: {OutOfCalls().message}"
        if samples is not None:
            try:
                confidence = await self._shared.equivalence.share(step.question, samples, proven.answer, tally)
            except OutOfCalls as error:
                reason = f"not compared with what was sampled: {error.message}"
            except CompletionError as error:
                self._shared.errors.append(error)
        return replace(
            step,
            outcome=StepOutcome.ANSWERED,
            answer=proven.answer,
            confidence=max(confidence, LEAST_CONFIDENCE),
            reason=reason,
            semantic_sets=None if samples is None else len(samples.sets),
            citations=proven.citations,
        )

    def _failed(self, step: Step, error: CompletionError) -> Step:
        self._shared.errors.append(error)
        return replace(step, outcome=StepOutcome.FAILED, reason=describe(error))
