"""The pipelines that clarify is compared with: diversify then verify (also without verification), and all at once.

They read the same corpus with the same retriever and model, and all their calls go through the ledger.
docs/methods/evaluation.md lists the differences from the paper's experiments.

Source: VERDICT, §3.2, §5.1.4 and Appendix D.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from pgclarify.errors import CompletionError, InvalidReply, RunFailed, code_of, describe
from pgclarify.evaluated import Case, CitedPassage, Output, PredictedInterpretation, Usage
from pgclarify.ledger.completions import CallResult, PollInterval, ask_all, ask_one
from pgclarify.model import Passage
from pgclarify.model_calls import Completion, ModelCall
from pgclarify.prompts import baselines as prompts
from pgclarify.prompts.relaxation import relaxation
from pgclarify.protocols import Completer, Embedder, Ledger, Retriever
from pgclarify.vocabulary import RunStatus

_POLL_INTERVAL = PollInterval()
T = TypeVar("T")


class UsageMeter:
    """Adds up the usage of one case. Implements protocols.Meter.

    Attributes:
        usage: Model calls and tokens.
        retrievals: Number of searches.
        outage: The code of an outage during a partial run that counts; None if there was none.
    """

    def __init__(self) -> None:
        self.usage = Usage()
        self.retrievals = 0
        self.outage: str | None = None
        self.note: str | None = None

    def count(self, completion: Completion, *, is_reused: bool) -> None:
        """Count a reply, whether it was paid for now or reused."""
        self.usage += Usage(
            calls=1,
            reused_calls=int(is_reused),
            prompt_tokens=completion.prompt_tokens or 0,
            completion_tokens=completion.completion_tokens or 0,
            model_seconds=completion.latency_ms / 1000,
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """The model that baselines ask, and the corpus that they search.

    Attributes:
        ledger: Where replies are kept.
        chat: The language model.
        retriever: Searches the corpus.
        embedder: The corpus's embedding model.
        poll: How often to check for replies that other processes are paying for.
    """

    ledger: Ledger
    chat: Completer
    retriever: Retriever
    embedder: Embedder
    poll: PollInterval = _POLL_INTERVAL


class DiversifyThenVerify:
    """Readings from the model alone, a search for each, pruning, long-context verification, and one call that answers.

    Args:
        asked: The model and the corpus.
        passages_each: Passages to search for each reading.
        passages_kept: Passages to keep in total, by mean similarity to the readings.
        is_verified: False skips the verification: the readings stay as proposed, and one call answers them from the
            kept passages, without citations.
        verifier: The model that verifies; None for the model of all other calls.

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
        verifier: Completer | None = None,
    ) -> None:
        self._asked = asked
        self._verifier = verifier or asked.chat
        self._passages_each = passages_each
        self._passages_kept = passages_kept
        self._is_verified = is_verified

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await carry_out(partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        proposed = await ask(self._asked, meter, prompts.proposal(case.question))
        passages = await self._pruned(proposed, meter)
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

    async def _pruned(self, interpretations: Sequence[str], meter: UsageMeter) -> list[Passage]:
        """Search for each reading, and keep the passages that are nearest to the readings on average.

        Source: VERDICT, Eq. 2 and Appendix D.
        """
        found: dict[int, Passage] = {}
        for interpretation in interpretations:
            for passage in await search(self._asked, interpretation, self._passages_each, meter):
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
        kept = set[int]()
        errors: list[CompletionError] = []

        async def on_result(_: int, result: CallResult[list[int]]) -> None:
            if isinstance(result.value, CompletionError):
                errors.append(result.value)
            else:
                kept.update(result.value)

        await ask_all(
            self._asked.ledger,
            self._verifier,
            [prompts.verification(interpretation, passages) for interpretation in interpretations],
            on_result,
            poll=self._asked.poll,
            tally=meter,
        )
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
        return await carry_out(partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        relaxed = await self._relaxed(case.question, meter)
        passages = await search(self._asked, relaxed, self._top_k, meter)
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
            support=len({passages[place].document_id for place in one.passages}),
        )
        for one in found
    ]


async def carry_out(answer: Callable[[UsageMeter], Awaitable[Output]]) -> Output:
    """Answer a case, count its usage, and turn the failure of a model or a search into an output."""
    meter = UsageMeter()
    started = time.perf_counter()
    try:
        output = await answer(meter)
    except (CompletionError, RunFailed) as error:
        output = Output(status=RunStatus.FAILED, error=describe(error), error_code=code_of(error))
    return replace(output, usage=meter.usage, retrievals=meter.retrievals, seconds=time.perf_counter() - started)


async def search(asked: Asked, query: str, top_k: int, meter: UsageMeter) -> Sequence[Passage]:
    """Search, and count the search."""
    meter.retrievals += 1
    return await asked.retriever.search(query, top_k)


async def ask(asked: Asked, meter: UsageMeter, call: ModelCall[T]) -> T:
    """Ask the model, again once if its reply does not fit, and count the usage.

    Raises:
        CompletionError: If no reply fits.
        DatabaseError: If the ledger fails.
    """
    result = await ask_one(asked.ledger, asked.chat, call, poll=asked.poll, tally=meter)
    if isinstance(result.value, CompletionError):
        raise result.value
    return result.value
