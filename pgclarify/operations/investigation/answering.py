"""One step of an investigation: a question, its evidence, and the answer that the evidence proves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pgclarify.data.candidates import Candidate
from pgclarify.data.investigation import LEAST_CONFIDENCE, Evidence, Finding, Step
from pgclarify.data.runs import Tally
from pgclarify.data.vocabulary import StepOutcome, StopCode
from pgclarify.errors import CompletionError, ModelNotFound, describe
from pgclarify.ledger.calls import CALLS_TO_ANSWER, OutOfCalls, Unproven
from pgclarify.operations.investigation.context import InvestigationContext
from pgclarify.operations.investigation.gathering import Gathered, Gatherer
from pgclarify.operations.judging.answer_proof import Proven, prove
from pgclarify.prompts.investigation import answer


class StepAnswerer:
    """Answers the steps of one investigation.

    Attributes:
        relevance: By rank, the score of a candidate before any penalty, in (0, 1).
    """

    def __init__(self, shared: InvestigationContext) -> None:
        self._shared = shared
        self._gatherer = Gatherer(shared)
        self._cited: list[Candidate] = []
        self._found: list[Candidate] = []
        self.relevance: dict[int, float] = {}

    def best_evidence(self, most: int) -> list[Candidate]:
        """Return what steps cite, in their order, then the most relevant of what they found, each passage once.

        Relevance is the score before the penalty, because divided scores cannot be compared with whole ones.

        Source: SUNAR, §3.2: the top-l evidences across sub-questions. That cited passages come first is ours.
        """
        ranked = sorted(self._found, key=lambda one: (-self.relevance[one.rank], one.rank))
        first: dict[int, Candidate] = {}
        for one in (*self._cited, *ranked):
            first.setdefault(one.passage.passage_id, one)
        return list(first.values())[:most]

    async def answer(self, step: Step, before: Sequence[Step] = ()) -> Step:
        """Find evidence for a question, and answer it from the evidence.

        Args:
            step: direct or follow_up, with a question that stands alone.
            before: Answered steps whose evidence is read as well, before the other passages.

        Returns:
            The step: answered, not_in_corpus, cut_off or failed. Its candidates are recorded, but not the step itself.

        Raises:
            EmbeddingError: If a model on this machine failed.
            RunLost: If the run is no longer this worker's.
        """
        try:
            with self._shared.calls.keeping(CALLS_TO_ANSWER):
                gathered = await self._gatherer.gather(step.question, step_ordinal=step.ordinal)
        except CompletionError as error:
            return self._failed(step, error)
        self.relevance.update(gathered.relevance)
        self._found += gathered.candidates
        if not gathered.candidates:
            return replace(step, reason="the search found nothing", abstention_code=StopCode.NO_PASSAGE)
        # A passage that an earlier step cites comes first, and is shown once.
        cited = self._cited if before else ()
        shown = tuple({one.passage.passage_id: one for one in (*cited, *gathered.candidates)}.values())
        shown = shown[: self._shared.context.run.settings["top_k"]]
        with self._shared.context.trace.stage("answering", step_ordinal=step.ordinal) as tally:
            step = await self._answer(step, shown, before, gathered, tally)
            # Only the step has the answer: it is hidden from roles that may not read its documents, unlike the note.
            tally.note = step.outcome.value
        return step

    async def _answer(
        self, step: Step, shown: Sequence[Candidate], before: Sequence[Step], gathered: Gathered, tally: Tally
    ) -> Step:
        def check(finding: Finding) -> Proven | None:
            return prove(finding, shown, asked=step.question, steps=before)

        call = answer(step.question, [candidate.passage for candidate in shown]).then(check)
        value = await self._shared.calls.ask(call, tally=tally)
        if isinstance(value, Proven):
            return await self._answered(step, value, gathered, tally)
        match value:
            case None:
                step = replace(step, reason="the passages do not answer it", abstention_code=StopCode.NOT_ANSWERED)
            case OutOfCalls():
                step = replace(step, outcome=StepOutcome.CUT_OFF, reason=value.message)
            case Unproven():
                step = replace(step, reason=value.message, abstention_code=StopCode.UNPROVEN)
            case _:
                step = self._failed(step, value)
        read = await self._read(step.question, shown)
        if read is None:
            return step
        step = replace(step, reason=f"read without the language model: {step.reason}", abstention_code=None)
        return await self._answered(step, read, gathered, tally)

    async def _read(self, question: str, shown: Sequence[Candidate]) -> Proven | None:
        """Return the most probable answer of the trained reader, if it finds one that its quote proves."""
        # A worker with a language model seldom needs the rules.
        from pgclarify.providers.extractive import ExtractiveVerifier
        from pgclarify.providers.extractive.scoring import THRESHOLD

        reader = self._shared.context.models.reader
        if reader is None:
            return None
        try:
            verifier = ExtractiveVerifier(self._shared.embedder, await reader())
        except ModelNotFound:
            return None
        rated = await asyncio.gather(*(verifier.rate(question, candidate.passage) for candidate in shown))
        found = [(*one, number) for number, one in enumerate(rated, start=1) if one and one[0] >= THRESHOLD]
        for _, reading, number in sorted(found, key=lambda one: -one[0]):
            try:
                return prove(Finding(reading.answer, (Evidence(number, reading.quote),)), shown, asked=question)
            except Unproven:
                continue
        return None

    async def _answered(self, step: Step, proven: Proven, gathered: Gathered, tally: Tally) -> Step:
        first = proven.cited[0]
        self._cited += proven.cited
        samples = gathered.samples.get(first.batch) if first.step_ordinal == step.ordinal else None
        confidence = self.relevance[first.rank]
        reason = step.reason
        if reason is None and samples is None and gathered.has_unsampled:
            reason = f"not sampled: {OutOfCalls().message}"
        if samples is not None and self._shared.equivalence is not None:
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
