"""The meta evidence reasoner: one more call for the answer to the whole question, from all steps and their evidence.

Source: SUNAR, §3.2. The proof by quotes, and that an answer without it changes nothing, are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgclarify.data.investigation import LEAST_CONFIDENCE, Finding, Step
from pgclarify.data.vocabulary import StepOutcome
from pgclarify.errors import CompletionError
from pgclarify.language.catalog import language_of
from pgclarify.language.relations import Relation
from pgclarify.ledger.calls import OutOfCalls, Unproven
from pgclarify.operations.investigation.answering import StepAnswerer
from pgclarify.operations.investigation.context import InvestigationContext
from pgclarify.operations.judging.answer_proof import Proven, prove
from pgclarify.prompts.investigation import conclusion

# The confidence in an answer is halved if the steps have another one.
_DISAGREEMENT = 0.5


async def reason_again(shared: InvestigationContext, answerer: StepAnswerer, steps: Sequence[Step], end: Step) -> Step:
    """Return a proven answer of the reasoner if it is another one than that of the steps, or the only one; else end.

    Args:
        shared: What the parts of the investigation share.
        answerer: Has the evidence of the steps.
        steps: All steps, in order.
        end: The conclusion that the steps give.

    Raises:
        DatabaseError: If the ledger fails.
    """
    shown = answerer.best_evidence(shared.context.run.settings["top_k"])
    if not shown:
        return end
    answered = [step for step in steps if step.outcome is StepOutcome.ANSWERED]

    def check(finding: Finding) -> Proven | None:
        return prove(finding, shown, asked=end.question, steps=answered)

    call = conclusion(end.question, steps, [candidate.passage for candidate in shown]).then(check)
    # Only the step has the answer: it is hidden from roles that may not read its documents, unlike the note.
    with shared.context.trace.stage("answering", step_ordinal=end.ordinal) as tally:
        proven = await shared.calls.ask(call, tally=tally)
        if isinstance(proven, CompletionError):
            if not isinstance(proven, Unproven | OutOfCalls):
                shared.errors.append(proven)
            tally.note = "meta evidence: not proven" if isinstance(proven, Unproven) else "meta evidence: no reply"
            return end
        if proven is None:
            tally.note = "meta evidence: no answer"
            return end
        language = language_of(proven.answer, end.question)
        if end.answer is not None and language.relate_answers(proven.answer, end.answer) is Relation.AGREE:
            tally.note = "meta evidence: the same answer"
            return end
        tally.note = "meta evidence: another answer" if end.answer is not None else "meta evidence: an answer"
    confidence = max(answerer.relevance[one.rank] for one in proven.cited)
    return replace(
        end,
        outcome=StepOutcome.ANSWERED,
        answer=proven.answer,
        confidence=max(confidence if end.answer is None else confidence * _DISAGREEMENT, LEAST_CONFIDENCE),
        reason=None if end.answer is None else f'the steps answer "{end.answer}"',
        semantic_sets=None,
        citations=proven.citations,
        abstention_code=None,
    )
