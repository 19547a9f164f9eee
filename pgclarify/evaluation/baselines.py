"""The pipelines that clarify is compared with: direct, diversify then verify (with and without it), all at once.

They read the same corpus with the same retriever and model, and all their calls go through the ledger.

Source: VERDICT, §3.2, §5.1.4 and Appendix D.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, ModelCall
from pgclarify.data.vocabulary import RunStatus
from pgclarify.database.ledger import LedgerTables
from pgclarify.errors import CompletionError, InvalidReply, RunFailed, code_of, describe
from pgclarify.evaluation.records import Case, CitedPassage, Output, PredictedInterpretation, Retriever, Usage
from pgclarify.ledger.completions import ask_all, ask_one
from pgclarify.prompts import baselines as prompts
from pgclarify.prompts.investigation import answer as answer_call
from pgclarify.prompts.relaxation import relaxation
from pgclarify.protocols import Completer, Embedder

T = TypeVar("T")


class UsageMeter:
    """Adds up the calls and tokens of one case. Implements protocols.Meter."""

    def __init__(self) -> None:
        self.calls = self.reused_calls = self.prompt_tokens = self.completion_tokens = 0
        self.note: str | None = None

    def count(self, completion: Completion, *, is_reused: bool) -> None:
        """Count a reply, whether it was paid for now or reused."""
        self.calls += 1
        self.reused_calls += is_reused
        self.prompt_tokens += completion.prompt_tokens or 0
        self.completion_tokens += completion.completion_tokens or 0


@dataclass(frozen=True, slots=True)
class Asked:
    """The model that baselines ask, and the corpus that they search.

    Attributes:
        ledger: Where replies are kept.
        chat: The language model.
        retriever: Searches the corpus.
        embedder: The corpus's embedding model.
        cost: The cost of input and output tokens in US dollars; None if the model has no price.
    """

    ledger: LedgerTables
    chat: Completer
    retriever: Retriever
    embedder: Embedder
    cost: Callable[[int, int], Awaitable[float | None]]


class Direct:
    """One search for the question as it is, and one call that answers it from the passages: plain RAG.

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
        return await carry_out(self._asked, partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        passages = await self._asked.retriever.search(case.question, self._top_k)
        if not passages:
            return Output()
        found = await ask(self._asked, meter, answer_call(case.question, passages))
        numbers = dict.fromkeys(one.passage for one in found.evidence if 1 <= one.passage <= len(passages))
        cited = tuple(CitedPassage(passages[number - 1]) for number in numbers)
        given = () if found.answer is None else (PredictedInterpretation(case.question, found.answer, cited),)
        return Output(given, tuple(passages))


class DiversifyThenVerify:
    """Readings from the model alone, a search for each, pruning, long-context verification, and one call that answers.

    Args:
        asked: The model and the corpus.
        passages_each: Passages to search for each reading.
        passages_kept: Passages to keep in total, by mean similarity to the readings.
        is_verified: False skips the verification: the readings stay as proposed, and one call answers them from the
            kept passages, without citations.

    Source: VERDICT, Eq. 1 to 4 and Appendix D; "DtV" and "DtV - verification" of Table 2. Answering the readings of the
        latter is ours.
    """

    def __init__(
        self,
        asked: Asked,
        *,
        passages_each: int = 5,
        passages_kept: int = 5,
        is_verified: bool = True,
    ) -> None:
        self._asked = asked
        self._passages_each = passages_each
        self._passages_kept = passages_kept
        self._is_verified = is_verified

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await carry_out(self._asked, partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        proposed = await ask(self._asked, meter, prompts.proposal(case.question))
        passages = await self._pruned(proposed)
        if not passages:
            return Output(notes={"proposed": proposed})
        if not self._is_verified:
            return await self._unverified(proposed, passages, meter)
        verified, unread = await self._verified(proposed, passages, meter)
        given = await _disambiguate(self._asked, case.question, verified, meter) if verified else []
        return Output(
            tuple(given),
            tuple(passages),
            # An operation that does only a part of its work is partial, too.
            status=RunStatus.PARTIAL if unread else RunStatus.SUCCEEDED,
            notes={"proposed": proposed, "verified_passages": len(verified), "unread_verifications": unread},
        )

    async def _pruned(self, interpretations: Sequence[str]) -> list[Passage]:
        """Search for each reading, and keep the passages that are nearest to the readings on average.

        Source: VERDICT, Eq. 2 and Appendix D.
        """
        found: dict[int, Passage] = {}
        for interpretation in interpretations:
            for passage in await self._asked.retriever.search(interpretation, self._passages_each):
                found.setdefault(passage.passage_id, passage)
        passages = list(found.values())
        if len(passages) <= self._passages_kept:
            return passages
        texts = [*interpretations, *(passage.content for passage in passages)]
        vectors = await self._asked.embedder.encode(texts)
        readings, contents = vectors[: len(interpretations)], vectors[len(interpretations) :]
        nearest = np.argsort(-(contents @ readings.mean(axis=0)), kind="stable")[: self._passages_kept]
        return [passages[index] for index in nearest]

    async def _verified(
        self, interpretations: Sequence[str], passages: Sequence[Passage], meter: UsageMeter
    ) -> tuple[list[Passage], int]:
        """Keep the passages that answer a reading, and count the calls whose second reply does not fit either.

        Raises:
            CompletionError: If a call failed for another reason, or no reply fits.

        Source: VERDICT, Eq. 3.
        """
        calls = [prompts.verification(interpretation, passages) for interpretation in interpretations]
        values = [one.value for one in await ask_all(self._asked.ledger, self._asked.chat, calls, tally=meter)]
        errors = [value for value in values if isinstance(value, CompletionError)]
        kept = {place for value in values if not isinstance(value, CompletionError) for place in value}
        for error in errors:
            if not isinstance(error, InvalidReply) or len(errors) == len(interpretations):
                raise error
        return [passage for index, passage in enumerate(passages) if index in kept], len(errors)

    async def _unverified(
        self, interpretations: Sequence[str], passages: Sequence[Passage], meter: UsageMeter
    ) -> Output:
        answers = await ask(self._asked, meter, prompts.answers(interpretations, passages))
        given = [
            PredictedInterpretation(interpretation, answer)
            for interpretation, answer in zip(interpretations, answers, strict=True)
        ]
        return Output(tuple(given), tuple(passages))


class AllAtOnce:
    """One long-context call over the passages that a search for the relaxed question finds.

    Args:
        asked: The model and the corpus. The model also relaxes the question, as for clarify.
        top_k: Passages that are read.

    Source: VERDICT, Eq. 13 and §5.1.4 ("RAC").
    """

    def __init__(self, asked: Asked, *, top_k: int) -> None:
        self._asked = asked
        self._top_k = top_k

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await carry_out(self._asked, partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        relaxed = await self._relaxed(case.question, meter)
        passages = await self._asked.retriever.search(relaxed, self._top_k)
        given = await _disambiguate(self._asked, case.question, passages, meter) if passages else []
        return Output(tuple(given), tuple(passages), notes={"relaxed_question": relaxed})

    async def _relaxed(self, question: str, meter: UsageMeter) -> str:
        try:
            return await ask(self._asked, meter, relaxation(question))
        except InvalidReply:
            return question


async def _disambiguate(
    asked: Asked, question: str, passages: Sequence[Passage], meter: UsageMeter
) -> list[PredictedInterpretation]:
    """Source: VERDICT, Eq. 4 and Eq. 13."""
    found = await ask(asked, meter, prompts.disambiguation(question, passages))
    return [
        PredictedInterpretation(
            one.interpretation,
            one.answer,
            tuple(CitedPassage(passages[place]) for place in one.passages),
        )
        for one in found
    ]


async def carry_out(asked: Asked, answer: Callable[[UsageMeter], Awaitable[Output]]) -> Output:
    """Answer a case, count its usage, and turn the failure of a model or a search into an output."""
    meter = UsageMeter()
    started = time.perf_counter()
    try:
        output = await answer(meter)
    except (CompletionError, RunFailed) as error:
        output = Output(status=RunStatus.FAILED, error=describe(error), error_code=code_of(error))
    cost = await asked.cost(meter.prompt_tokens, meter.completion_tokens) if meter.calls else 0.0
    usage = Usage(meter.calls, meter.reused_calls, meter.prompt_tokens + meter.completion_tokens, cost)
    return replace(output, usage=usage, seconds=time.perf_counter() - started)


async def ask(asked: Asked, meter: UsageMeter, call: ModelCall[T]) -> T:
    """Ask the model, again once if its reply does not fit, and count the usage.

    Raises:
        CompletionError: If no reply fits.
        DatabaseError: If the ledger fails.
    """
    result = await ask_one(asked.ledger, asked.chat, call, tally=meter)
    if isinstance(result.value, CompletionError):
        raise result.value
    return result.value
