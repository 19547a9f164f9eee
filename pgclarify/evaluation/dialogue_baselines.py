"""Baselines of `rewrite`: rewrite all questions, or those that a detector calls ambiguous.

They rewrite with the prompt of `rewrite`, and do not check the reply of the model.

Source: Detect, then rewrite (summary), Key Results.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from pgclarify.errors import InvalidReply
from pgclarify.evaluated import Case, Output
from pgclarify.evaluation.asking import Asking
from pgclarify.evaluation.baselines import Asked, UsageMeter, ask, carry_out
from pgclarify.evaluation.dialogue_methods import searched_with
from pgclarify.prompts.dialogue_baselines import ambiguity
from pgclarify.prompts.rewriting import rewriting
from pgclarify.protocols import Retriever

_HALF: Final = 0.5


class Detected(NamedTuple):
    """Whether a question is ambiguous, and the probability that it is."""

    is_ambiguous: bool
    probability: float


Detect: TypeAlias = Callable[[Case, UsageMeter], Awaitable[Detected]]
"""Judges the question of a case, and counts the usage."""


class RewriteWhere:
    """Rewrites the questions with history that a detector calls ambiguous, and searches with them.

    Args:
        asked: The model; None without a language model. Then no question is rewritten.
        retriever: Searches the corpus.
        detect: The detector.
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
        detected = await self._detect(case, meter)
        rewritten = await self._rewritten(case, meter) if detected.is_ambiguous else None
        return Output(
            questions=(rewritten or case.question,),
            probability=detected.probability,
            notes={"is_ambiguous": detected.is_ambiguous},
        )

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

    async def detect(case: Case, meter: UsageMeter) -> Detected:
        return Detected(True, 1.0)

    return detect


def classifier(asking: Asking) -> Detect:
    """Ask the classifier and the rules of `detect_ambiguity`. A question that they cannot read counts as clear.

    Args:
        asking: The connections that call `detect_ambiguity`, and the corpus whose classifier and rules judge. None of
            its passages is read.

    Source: Detect, then rewrite (summary), Method Summary.
    """

    async def detect(case: Case, meter: UsageMeter) -> Detected:
        async with asking.codes_of_runs():
            found = await asking.client.detect_ambiguity(
                case.question, case.history, corpus=asking.corpus.name, top_k=0, timeout=None
            )
        return Detected(found.is_ambiguous, found.probability or 0.0)

    return detect


def few_shot(asked: Asked) -> Detect:
    """Ask the language model, with a few examples. If two replies do not fit, the question counts as clear.

    Args:
        asked: The model.
    """

    async def detect(case: Case, meter: UsageMeter) -> Detected:
        try:
            is_ambiguous = await ask(asked, meter, ambiguity(case.question, case.history))
        except InvalidReply:
            is_ambiguous = False
        return Detected(is_ambiguous, float(is_ambiguous))

    return detect


def foretold(probabilities: Mapping[str, float]) -> Detect:
    """Return known probabilities. A question is ambiguous from a half on.

    Args:
        probabilities: Probabilities by case id.
    """

    async def detect(case: Case, meter: UsageMeter) -> Detected:
        probability = probabilities[case.case_id]
        return Detected(probability >= _HALF, probability)

    return detect
