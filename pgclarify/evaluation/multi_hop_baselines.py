"""The pipelines that investigate is compared with: one search and one call, and self-ask.

They read the same corpus with the same retriever, model and prompts, and all their calls go through the ledger. They do
not use the neighborhood graph, sample answers, check quotes or read the evidence again.

Source: SUNAR, §4 and Tables 1, 5 and 9. docs/methods/evaluation.md lists the differences from the paper's experiments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pgclarify.algorithms.metrics import pooled
from pgclarify.errors import InvalidReply
from pgclarify.evaluated import Case, CitedPassage, Output, PredictedInterpretation
from pgclarify.evaluation.baselines import Asked, UsageMeter, ask, carry_out, search
from pgclarify.model import Passage
from pgclarify.prompts.investigation import answer, follow_up
from pgclarify.steps import Finding, FollowUp, Step
from pgclarify.vocabulary import StepKind, StepOutcome


class OnePass:
    """One search for the unchanged question, and one call that reasons over the passages.

    Args:
        asked: The model and the corpus.
        top_k: Passages to read.

    Source: SUNAR, §4 and Table 1 (FEW-SHOT-COT: retrieval without query understanding).
    """

    def __init__(self, asked: Asked, *, top_k: int) -> None:
        self._asked = asked
        self._top_k = top_k

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await carry_out(partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        passages = await search(self._asked, case.question, self._top_k, meter)
        finding = await ask(self._asked, meter, answer(case.question, passages)) if passages else Finding()
        return Output(_given(case, finding.answer, _cited(finding, passages)), tuple(passages))


class SelfAsk:
    """Asks one follow-up question after another, each with a search and a call; the model then concludes the answer.

    A question without follow-up questions is answered as in OnePass. If two replies have the wrong form, the step has
    no answer, or the chain ends.

    Args:
        asked: The model and the corpus.
        top_k: Passages to read for each step.
        max_steps: Most follow-up questions.

    Source: Self-ask (Press et al., 2023) with retrieval, as in SUNAR, §4 and Tables 1 and 5.
    """

    def __init__(self, asked: Asked, *, top_k: int, max_steps: int) -> None:
        self._asked = asked
        self._top_k = top_k
        self._max_steps = max_steps

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await carry_out(partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        steps: list[Step] = []
        rankings: list[Sequence[Passage]] = []
        # Citations of the latest step come first, because the answer usually comes from it.
        cited: list[CitedPassage] = []
        while True:
            said = await self._next(case.question, steps, rankings, meter)
            if said.question is None and not steps:
                question, kind = case.question, StepKind.DIRECT
            elif said.question is None or len(steps) == self._max_steps:
                given = said.answer
                break
            else:
                question, kind = said.question, StepKind.FOLLOW_UP
            passages = await search(self._asked, question, self._top_k, meter)
            finding = await self._read(question, passages, meter)
            rankings.append(passages)
            cited[:0] = _cited(finding, passages)
            outcome = StepOutcome.NOT_IN_CORPUS if finding.answer is None else StepOutcome.ANSWERED
            steps.append(Step(len(steps) + 1, kind, question, outcome, finding.answer))
            if kind is StepKind.DIRECT:
                given = finding.answer
                break
        return Output(
            _given(case, given, cited),
            tuple(pooled(rankings)),
            steps=tuple(map(tuple, rankings)),
            notes={"steps": [[step.kind, step.question, step.answer] for step in steps]},
        )

    async def _next(
        self, question: str, steps: Sequence[Step], shown: Sequence[Sequence[Passage]], meter: UsageMeter
    ) -> FollowUp:
        # The next reply repeats answers, so it must be erased together with their documents.
        documents = (passage.document_id for passages in shown for passage in passages)
        call = replace(follow_up(question, steps), document_ids=tuple(dict.fromkeys(documents)))
        try:
            return await ask(self._asked, meter, call)
        except InvalidReply:
            return FollowUp()

    async def _read(self, question: str, passages: Sequence[Passage], meter: UsageMeter) -> Finding:
        if not passages:
            return Finding()
        try:
            return await ask(self._asked, meter, answer(question, passages))
        except InvalidReply:
            return Finding()


def _cited(finding: Finding, passages: Sequence[Passage]) -> list[CitedPassage]:
    """Return the passages that an answer names, each once, without numbers that no shown passage has."""
    numbers = dict.fromkeys(one.passage for one in finding.evidence)
    return [CitedPassage(passages[number - 1]) for number in numbers if 1 <= number <= len(passages)]


def _given(case: Case, given: str | None, cited: Sequence[CitedPassage]) -> tuple[PredictedInterpretation, ...]:
    if given is None:
        return ()
    citations = tuple(dict.fromkeys(cited))
    support = len({one.passage.document_id for one in citations})
    return (PredictedInterpretation(case.question, given, citations, support=support),)
