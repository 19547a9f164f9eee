"""Baselines of `rewrite`: rewrite all questions, or those that a detector calls ambiguous.

They rewrite with the prompt of `rewrite`, and do not check the reply of the model.

Source: Detect, then rewrite (summary), Key Results.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, TypeAlias

from pgclarify.errors import InvalidReply
from pgclarify.evaluated import Case, Output
from pgclarify.evaluation.asking import Asking
from pgclarify.evaluation.baselines import Asked, UsageMeter, ask, carry_out
from pgclarify.evaluation.dialogue_methods import searched_with
from pgclarify.prompts.dialogue_baselines import ambiguity
from pgclarify.prompts.rewriting import rewriting
from pgclarify.protocols import Retriever

_HALF: Final = 0.5

Detect: TypeAlias = Callable[[Case, UsageMeter], Awaitable[float]]
"""Returns the probability that the question of a case is ambiguous, and counts the usage."""


class RewriteWhere:
    """Rewrites the questions with history that a detector calls ambiguous, and searches with them.

    Args:
        asked: The model; None without a language model. Then no question is rewritten.
        retriever: Searches the corpus.
        detect: The detector. A question with a probability of at least a half is rewritten.
    """

    def __init__(self, asked: Asked | None, retriever: Retriever, detect: Detect) -> None:
        self._asked = asked
        self._retriever = retriever
        self._detect = detect

    async def answer(self, case: Case) -> Output:
        """See Method."""
        output = await carry_out(partial(self._answer, case))
        return await searched_with(case, output, self._retriever)

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        probability = await self._detect(case, meter)
        rewritten = await self._rewritten(case, meter) if probability >= _HALF else None
        return Output(questions=(rewritten or case.question,), probability=probability)

    async def _rewritten(self, case: Case, meter: UsageMeter) -> str | None:
        """Return the rewritten question; None if the model cannot rewrite it, or if two replies do not fit."""
        if self._asked is None or not case.history:
            return None
        try:
            return await ask(self._asked, meter, rewriting(case.question, case.history))
        except InvalidReply:
            return None


def detector(method: str, asked: Asked, asking: Asking) -> Detect:
    """Return what decides for one of the methods that rewrite; `logistic_regression` takes `foretold`."""
    detectors = {
        "always_rewrite": everything(),
        "few_shot": few_shot(asked),
        "rewrite_ambiguous": classifier(asking),
    }
    return detectors[method]


def everything() -> Detect:
    """Call every question ambiguous."""

    async def detect(case: Case, meter: UsageMeter) -> float:
        return 1.0

    return detect


def classifier(asking: Asking) -> Detect:
    """Ask the classifier and the rules of `detect_ambiguity`. A question that they cannot read counts as clear.

    Args:
        asking: The connections that call `detect_ambiguity`.

    Source: Detect, then rewrite (summary), Method Summary.
    """

    async def detect(case: Case, meter: UsageMeter) -> float:
        async with asking.codes_of_runs():
            found = await asking.client.detect_ambiguity(case.question, case.history, timeout=None)
        return found.probability or 0.0

    return detect


def few_shot(asked: Asked) -> Detect:
    """Ask the language model, with a few examples. If two replies do not fit, the question counts as clear.

    Args:
        asked: The model.
    """

    async def detect(case: Case, meter: UsageMeter) -> float:
        try:
            return float(await ask(asked, meter, ambiguity(case.question, case.history)))
        except InvalidReply:
            return 0.0

    return detect


def foretold(probabilities: Mapping[str, float]) -> Detect:
    """Return known probabilities.

    Args:
        probabilities: Probabilities by case id.
    """

    async def detect(case: Case, meter: UsageMeter) -> float:
        return probabilities[case.case_id]

    return detect
