"""The conclusion of an investigation: one answer from its steps and the best evidence of all of them.

Source: SUNAR, §3.2, the meta evidence reasoner. The conclusion from the steps alone, contradictions and confidence are
ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from pgclarify.data.candidates import Candidate
from pgclarify.data.investigation import LEAST_CONFIDENCE, Finding, Step
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
from pgclarify.data.vocabulary import StepKind, StepOutcome, StopCode
from pgclarify.errors import CompletionError, NotAllowed, describe
from pgclarify.ledger.calls import OutOfCalls, Unproven
from pgclarify.operations.investigation.context import InvestigationContext
from pgclarify.operations.judging.answer_proof import Proven, is_told, prove
from pgclarify.prompts.investigation import conclusion

_DISAGREEMENT = 0.5


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps of an investigation and their evidence.

    Attributes:
        steps: In order, without the conclusion.
        shown: All recorded candidates, by rank.
        relevance: By rank, the score of a candidate before any penalty, in (0, 1).
        answer: The model's conclusion from the answers alone, when it had no further question; None if there is none.
    """

    steps: Sequence[Step]
    shown: Sequence[Candidate]
    relevance: Mapping[int, float]
    answer: str | None

    @property
    def answered(self) -> list[Step]:
        """The steps that have an answer."""
        return [step for step in self.steps if step.outcome is StepOutcome.ANSWERED]


class Conclusion:
    """Concludes one investigation."""

    def __init__(self, shared: InvestigationContext) -> None:
        self._shared = shared
        self._run = shared.context.run

    async def conclude(self, chain: Chain) -> Step:
        """Conclude.

        Raises:
            EmbeddingError: If a model on this machine failed.
            DatabaseError: If the ledger fails.
        """
        ordinal = len(chain.steps) + 1
        with self._shared.context.trace.stage("reasoning", step_ordinal=ordinal) as tally:
            end = Step(ordinal, StepKind.CONCLUSION, self._run.question, StepOutcome.NOT_IN_CORPUS)
            if (direct := _direct_answer(chain)) is not None:
                # The answer comes from its own passages, so no error of an earlier step can affect it.
                step = replace(direct, ordinal=ordinal, kind=StepKind.CONCLUSION)
            elif chain.shown:
                step = await self._from_evidence(end, chain, tally)
            else:
                step = self._from_chain(end, chain)
            # The reason may repeat answers. So only the step has it.
            tally.note = step.outcome.value
        return step

    async def _from_evidence(self, end: Step, chain: Chain, tally: Tally) -> Step:
        """Have the model read the chain and the evidence: the meta evidence reasoner."""
        shown = best_evidence(chain, self._run.settings["top_k"])
        passages = [candidate.passage for candidate in shown]

        def check(finding: Finding) -> tuple[str | None, Proven | None]:
            return finding.contradiction, prove(finding, shown, asked=self._run.question, steps=chain.answered)

        def render() -> ModelCall[tuple[str | None, Proven | None]]:
            return conclusion(self._run.question, chain.steps, passages).then(check)

        value = await self._shared.calls.ask(render, tally=tally)
        if isinstance(value, CompletionError):
            if not isinstance(value, Unproven | OutOfCalls):
                self._shared.errors.append(value)
            contradiction, proven, why = None, None, describe(value)
            code = _code_of(value)
        else:
            contradiction, proven = value
            why, code = "the evidence does not answer the question", StopCode.NOT_ANSWERED
        clash = None
        if contradiction is not None and len(chain.answered) > 1:
            clash = f"the steps contradict each other: {contradiction}"
        if proven is not None:
            return await self._decided(end, chain, proven, clash, tally)
        if clash is not None:
            return replace(end, outcome=StepOutcome.CONTRADICTED, reason=clash)
        return self._from_chain(end, chain, doubt=why, code=code)

    async def _decided(self, end: Step, chain: Chain, proven: Proven, clash: str | None, tally: Tally) -> Step:
        """Return the reasoner's answer, with its confidence."""
        passages = {candidate.passage.passage_id for candidate in proven.cited}
        ids = {candidate.rank: candidate.passage.passage_id for candidate in chain.shown}
        grounds = [
            step.confidence or 0.0
            for step in chain.answered
            if any(ids[citation.candidate_rank] in passages for citation in step.citations)
        ]
        confidence = prod(grounds) if grounds else max(chain.relevance[one.rank] for one in proven.cited)
        reason = None
        if clash is not None:
            reason = f"{clash}; the evidence decides"
        elif chain.answer is not None and not await self._agree(proven.answer, chain.answer, tally):
            reason = f'the steps alone would have given "{chain.answer}"'
        return replace(
            end,
            outcome=StepOutcome.ANSWERED,
            answer=proven.answer,
            confidence=max(confidence if reason is None else confidence * _DISAGREEMENT, LEAST_CONFIDENCE),
            reason=reason,
            citations=proven.citations,
        )

    def _from_chain(
        self, end: Step, chain: Chain, *, doubt: str | None = None, code: StopCode = StopCode.NOT_ANSWERED
    ) -> Step:
        """Return the model's conclusion from the answers alone, if answers of steps say it.

        Args:
            end: The conclusion to complete.
            chain: The steps.
            doubt: Why the evidence did not confirm it; None if there is no evidence, and so no step with an answer.
            code: The same as a code; not_answered if there is no evidence.
        """
        answered = chain.answered
        if chain.answer is None:
            return replace(end, reason=doubt or "the steps do not answer the question", abstention_code=code)
        if not answered or not is_told(chain.answer, [], asked=self._run.question, steps=answered):
            return replace(end, reason=f'no step proves the answer "{chain.answer}"', abstention_code=StopCode.UNPROVEN)
        confidence = prod(step.confidence or 0.0 for step in answered)
        return replace(
            end,
            outcome=StepOutcome.ANSWERED,
            answer=chain.answer,
            confidence=max(confidence * _DISAGREEMENT, LEAST_CONFIDENCE),
            reason=f"from the steps alone: {doubt}",
            citations=tuple(dict.fromkeys(citation for step in answered for citation in step.citations)),
        )

    async def _agree(self, first: str, second: str, tally: Tally) -> bool:
        """Tell whether two answers to the question mean the same; True if that cannot be determined."""
        try:
            return await self._shared.equivalence.agree(self._run.question, first, second, tally)
        except OutOfCalls:
            return True
        except CompletionError as error:
            self._shared.errors.append(error)
            return True


def best_evidence(chain: Chain, most: int) -> list[Candidate]:
    """Choose the evidence for the reasoner: what steps cite, in their order, then the rest by relevance.

    Relevance is the score before any penalty, because not every step could be sampled, and divided scores cannot be
    compared with whole ones.

    A passage that several steps found is shown once.

    Source: SUNAR, §3.2: the top-l evidences across sub-questions. Showing cited passages first is ours.
    """
    by_rank = {candidate.rank: candidate for candidate in chain.shown}
    cited = [by_rank[citation.candidate_rank] for step in chain.answered for citation in step.citations]
    ranked = sorted(chain.shown, key=lambda candidate: (-chain.relevance[candidate.rank], candidate.rank))
    chosen: dict[int, Candidate] = {}
    for candidate in (*cited, *ranked):
        chosen.setdefault(candidate.passage.passage_id, candidate)
    return list(chosen.values())[:most]


def _direct_answer(chain: Chain) -> Step | None:
    return next((step for step in chain.answered if step.kind is StepKind.DIRECT), None)


def _code_of(error: CompletionError) -> StopCode:
    match error:
        case Unproven():
            return StopCode.UNPROVEN
        case OutOfCalls():
            return StopCode.LIMIT
        case NotAllowed():
            return StopCode.BUDGET
    return StopCode.FAILED_CALLS
