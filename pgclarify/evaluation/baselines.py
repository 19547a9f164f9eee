"""The pipelines that clarify is compared with: direct, diversify then verify (with and without it), all at once.

They read the same corpus with the same retriever and model, and all their calls go through the ledger.

Source: VERDICT, §3.2, §5.1.4 and Appendix D.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

import numpy as np

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
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


Pipeline = Callable[[Asked, Tally, Case], Awaitable[Output]]


@dataclass(frozen=True, slots=True)
class Baseline:
    """One way to answer a question with a few calls in this process. Implements Method.

    Attributes:
        asked: The model and the corpus.
        pipeline: Answers a case, and counts its calls.
    """

    asked: Asked
    pipeline: Pipeline

    async def answer(self, case: Case) -> Output:
        """Answer a case, count its usage, and turn the failure of a model or a search into an output."""
        meter = Tally()
        started = time.perf_counter()
        try:
            output = await self.pipeline(self.asked, meter, case)
        except (CompletionError, RunFailed) as error:
            output = Output(status=RunStatus.FAILED, error=describe(error), error_code=code_of(error))
        # Reused replies count as if they were paid for now.
        calls = meter.calls + meter.reused_calls
        read = meter.prompt_tokens + meter.reused_prompt_tokens
        written = meter.completion_tokens + meter.reused_completion_tokens
        cost = await self.asked.cost(read, written) if calls else 0.0
        usage = Usage(calls, read + written, cost)
        return replace(output, usage=usage, seconds=time.perf_counter() - started)


async def direct(asked: Asked, meter: Tally, case: Case, *, top_k: int) -> Output:
    """One search for the question as it is, and one call that answers it from top_k passages: plain RAG.

    Source: SUNAR, §4 and Table 1 (FEW-SHOT-COT: retrieval without query understanding).
    """
    passages = await asked.retriever.search(case.question, top_k)
    if not passages:
        return Output()
    found = await ask(asked, meter, answer_call(case.question, passages))
    numbers = dict.fromkeys(one.passage for one in found.evidence if 1 <= one.passage <= len(passages))
    cited = tuple(CitedPassage(passages[number - 1]) for number in numbers)
    given = () if found.answer is None else (PredictedInterpretation(case.question, found.answer, cited),)
    return Output(given, tuple(passages))


async def diversify_then_verify(
    asked: Asked, meter: Tally, case: Case, *, passages_each: int, passages_kept: int, is_verified: bool = True
) -> Output:
    """Readings from the model alone, a search for each, pruning, long-context verification, and one call that answers.

    Args:
        asked: The model and the corpus.
        meter: Counts the calls.
        case: The question.
        passages_each: Passages to search for each reading.
        passages_kept: Passages to keep in total, by mean similarity to the readings.
        is_verified: False skips the verification: the readings stay as proposed, and one call answers them from the
            kept passages, without citations.

    Source: VERDICT, Eq. 1 to 4 and Appendix D; "DtV" and "DtV - verification" of Table 2. Answering the readings of the
        latter is ours.
    """
    proposed = await ask(asked, meter, prompts.proposal(case.question))
    passages = await _pruned(asked, proposed, passages_each, passages_kept)
    if not passages:
        return Output(notes={"proposed": proposed})
    if not is_verified:
        answers = await ask(asked, meter, prompts.answers(proposed, passages))
        return Output(tuple(map(PredictedInterpretation, proposed, answers)), tuple(passages))
    verified, unread = await _verified(asked, proposed, passages, meter)
    given = await _disambiguate(asked, case.question, verified, meter) if verified else []
    return Output(
        tuple(given),
        tuple(passages),
        # An operation that does only a part of its work is partial, too.
        status=RunStatus.PARTIAL if unread else RunStatus.SUCCEEDED,
        notes={"proposed": proposed, "verified_passages": len(verified), "unread_verifications": unread},
    )


async def all_at_once(asked: Asked, meter: Tally, case: Case, *, top_k: int) -> Output:
    """One long-context call over the top_k passages that a search for the relaxed question finds.

    The model also relaxes the question, as for clarify.

    Source: VERDICT, Eq. 13 and §5.1.4 ("RAC").
    """
    try:
        relaxed = await ask(asked, meter, relaxation(case.question))
    except InvalidReply:
        relaxed = case.question
    passages = await asked.retriever.search(relaxed, top_k)
    given = await _disambiguate(asked, case.question, passages, meter) if passages else []
    return Output(tuple(given), tuple(passages), notes={"relaxed_question": relaxed})


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a baseline is made.

    Attributes:
        answer: Its pipeline, which takes the options as keyword arguments.
        options: Its options with their defaults; all are numbers from 1 to 1000.
        calls: The calls that it makes for one question.
    """

    answer: Callable[..., Awaitable[Output]]
    options: Mapping[str, int]
    calls: int


BASELINES: Final[Mapping[str, Recipe]] = {
    "direct": Recipe(direct, {"top_k": 10}, calls=1),
    "dtv": Recipe(diversify_then_verify, {"passages_each": 5, "passages_kept": 5}, calls=7),
    "dtv_unverified": Recipe(
        partial(diversify_then_verify, is_verified=False), {"passages_each": 5, "passages_kept": 5}, calls=2
    ),
    "rac": Recipe(all_at_once, {"top_k": 20}, calls=2),
}


async def _pruned(asked: Asked, interpretations: Sequence[str], each: int, kept: int) -> list[Passage]:
    """Search for each reading, and keep the passages that are nearest to the readings on average.

    Source: VERDICT, Eq. 2 and Appendix D.
    """
    found: dict[int, Passage] = {}
    for interpretation in interpretations:
        for passage in await asked.retriever.search(interpretation, each):
            found.setdefault(passage.passage_id, passage)
    passages = list(found.values())
    if len(passages) <= kept:
        return passages
    vectors = await asked.embedder.encode([*interpretations, *(passage.content for passage in passages)])
    readings, contents = vectors[: len(interpretations)], vectors[len(interpretations) :]
    nearest = np.argsort(-(contents @ readings.mean(axis=0)), kind="stable")[:kept]
    return [passages[index] for index in nearest]


async def _verified(
    asked: Asked, interpretations: Sequence[str], passages: Sequence[Passage], meter: Tally
) -> tuple[list[Passage], int]:
    """Keep the passages that answer a reading, and count the calls whose second reply does not fit either.

    Raises:
        CompletionError: If a call failed for another reason, or no reply fits.

    Source: VERDICT, Eq. 3.
    """
    calls = [prompts.verification(interpretation, passages) for interpretation in interpretations]
    values = [one.value for one in await ask_all(asked.ledger, asked.chat, calls, tally=meter)]
    errors = [value for value in values if isinstance(value, CompletionError)]
    kept = {place for value in values if not isinstance(value, CompletionError) for place in value}
    for error in errors:
        if not isinstance(error, InvalidReply) or len(errors) == len(interpretations):
            raise error
    return [passage for index, passage in enumerate(passages) if index in kept], len(errors)


async def _disambiguate(
    asked: Asked, question: str, passages: Sequence[Passage], meter: Tally
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


async def ask(asked: Asked, meter: Tally, call: ModelCall[T]) -> T:
    """Ask the model, again once if its reply does not fit, and count the usage.

    Raises:
        CompletionError: If no reply fits.
        DatabaseError: If the ledger fails.
    """
    result = await ask_one(asked.ledger, asked.chat, call, tally=meter)
    return result.require()
