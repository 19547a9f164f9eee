"""The methods that are operations of the SQL API, asked as an application asks them."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from pgclarify.algorithms.metrics import pooled
from pgclarify.client import (
    Ambiguity,
    AsyncClient,
    Citation,
    EvidenceCitation,
    Interpretation,
    ListedAnswer,
    RunOutcome,
    SearchResult,
    Step,
    StepCitation,
)
from pgclarify.database.evaluated_runs import EvaluatedRuns, RunFacts
from pgclarify.database.evaluations import EvaluationTables
from pgclarify.errors import InputError, PgclarifyError, RunFailed, code_of, describe
from pgclarify.evaluated import Case, CitedPassage, CorpusDescription, Output, PredictedInterpretation, Usage
from pgclarify.evaluation.waiting import RunWaiter
from pgclarify.model import Passage
from pgclarify.protocols import Method
from pgclarify.vocabulary import RunStatus, StepKind, StepOutcome

_TOP_K = 20
# The last thing that an operation looks at before it does anything is how long it may take.
_CHECKED_LAST = "timeout"
_NO_TIME = 0.0
_WORD = "rental cars"

# The passages of each step of an investigation, or under None those of a run without steps.
_Rankings: TypeAlias = Mapping[int | None, Sequence[Passage]]


@dataclass(frozen=True, slots=True)
class Asking:
    """Whom the methods ask.

    Attributes:
        client: Whose role asks; over a pool, so that several calls may wait.
        tables: What they read of runs.
        runs: Likewise.
        waiter: Waits for runs.
        corpus: Which corpus is asked.
        opened_at: Since when, by the server's clock. Answers that are still good are not asked for again: runs from
            before then have cost nothing now.
        counted: Runs that have been counted since then, and cost nothing any more.
    """

    client: AsyncClient
    tables: EvaluationTables
    runs: EvaluatedRuns
    waiter: RunWaiter
    corpus: CorpusDescription
    opened_at: datetime
    counted: set[int] = field(default_factory=set)

    async def carried_out(self, run_id: int) -> RunOutcome:
        """Wait for a run; if nobody waits any more, it is cancelled.

        Raises:
            PgclarifyError: If the server cannot be asked.
        """
        try:
            return await self.waiter.wait(run_id)
        except BaseException:
            with suppress(PgclarifyError):
                await asyncio.shield(self.client.cancel(run_id))
            raise

    async def used(self, run_id: int, facts: RunFacts) -> Usage:
        """What a run took of a model."""
        usage = (await self.tables.usage([run_id])).get(run_id, Usage())
        was_there = facts.was_there or run_id in self.counted
        self.counted.add(run_id)
        return replace(usage, reused_calls=usage.calls) if was_there else usage


def sql_method(asking: Asking, method: str, settings: Mapping[str, Any]) -> Method:
    """The method of that name.

    Raises:
        ValueError: If it is no operation of the SQL API.
    """
    made: Mapping[str, type[_Operation]] = {
        "clarify": Clarify,
        "list_answers": ListAnswers,
        "investigate": Investigate,
        "search": Search,
        "detect_ambiguity": DetectAmbiguity,
    }
    if method not in made:
        raise ValueError(f"no operation is called {method}")
    return made[method](asking, settings)


async def check_settings(asking: Asking, method: str, settings: Mapping[str, Any]) -> None:
    """Have the server check the parameters of an operation, without asking anything: it is given no time.

    Raises:
        InputError: If one cannot be used.
        PgclarifyError: If the server refuses for another reason.
    """
    client, corpus = asking.client, asking.corpus.name
    try:
        match method:
            case "clarify":
                await client.clarify(_WORD, corpus=corpus, timeout=_NO_TIME, **settings)
            case "list_answers":
                await client.list_answers(_WORD, corpus=corpus, timeout=_NO_TIME, **settings)
            case "investigate":
                await client.investigate(_WORD, corpus=corpus, timeout=_NO_TIME, **settings)
            case "search":
                await client.search(_WORD, corpus=corpus, timeout=_NO_TIME, **settings)
            case "detect_ambiguity":
                await client.detect_ambiguity(
                    _WORD, corpus=_corpus_to_look_at(asking, settings), timeout=_NO_TIME, **settings
                )
    except InputError as error:
        if error.parameter != _CHECKED_LAST:
            raise


class _Operation(ABC):
    """An operation of the SQL API.

    Args:
        asking: Whom it asks.
        settings: Its parameters, as given.
    """

    def __init__(self, asking: Asking, settings: Mapping[str, Any]) -> None:
        self._asking = asking
        self._settings = settings

    @abstractmethod
    async def answer(self, case: Case) -> Output:
        """See Method."""


class _Submitted(_Operation):
    """An operation that is submitted and waited for."""

    async def answer(self, case: Case) -> Output:
        """See Method. The history of a case is not asked: these operations have none."""
        asking, started = self._asking, time.perf_counter()
        run_id = await self._submit(case)
        outcome = await asking.carried_out(run_id)
        seconds = time.perf_counter() - started
        facts = await asking.runs.facts(run_id, asking.opened_at)
        rankings = await asking.tables.rankings(run_id)
        output = Output(
            retrieved=_pooled(rankings),
            status=outcome.status,
            run_id=run_id,
            usage=await asking.used(run_id, facts),
            retrievals=facts.retrievals,
            seconds=seconds,
        )
        if outcome.status in (RunStatus.FAILED, RunStatus.CANCELLED):
            error = outcome.error or "the run was cancelled"
            return replace(output, status=RunStatus.FAILED, error=error, error_code=outcome.error_code)
        return await self._read(case, run_id, facts, output, rankings)

    @abstractmethod
    async def _submit(self, case: Case) -> int:
        """Submit it, and return the run."""

    @abstractmethod
    async def _read(self, case: Case, run_id: int, facts: RunFacts, output: Output, rankings: _Rankings) -> Output:
        """Add what the run found to what is known of it."""


class Clarify(_Submitted):
    """`clarify`. Cites the medoid's passage first."""

    async def _submit(self, case: Case) -> int:
        asking = self._asking
        return await asking.client.submit(case.question, corpus=asking.corpus.name, **self._settings)

    async def _read(self, case: Case, run_id: int, facts: RunFacts, output: Output, rankings: _Rankings) -> Output:
        found = await self._asking.client.result(run_id)
        return replace(
            output,
            interpretations=_readings(found, output.retrieved),
            notes={
                "relaxed_question": facts.relaxed_question,
                "stop_reason": facts.stop_reason,
                "answers_by_call": await self._answers_by_call(run_id, output.usage),
            },
        )

    async def _answers_by_call(self, run_id: int, usage: Usage) -> list[list[Any]]:
        """Calls and tokens so far, and the answer of each verdict, in order; what is beside them came first."""
        verdicts = await self._asking.tables.verdict_answers(run_id)
        if not usage.calls:
            return [[0, 0, verdict.answer] for verdict in verdicts]
        calls = max(usage.calls - len(verdicts), 0)
        tokens = usage.prompt_tokens + usage.completion_tokens
        tokens -= sum(verdict.prompt_tokens + verdict.completion_tokens for verdict in verdicts)
        steps: list[list[Any]] = []
        for verdict in verdicts:
            calls += 1
            tokens += verdict.prompt_tokens + verdict.completion_tokens
            steps.append([calls, max(tokens, 0), verdict.answer])
        return steps


class _Waiting(_Operation):
    """An operation that cannot be submitted: a call waits, and holds a connection meanwhile."""

    # How often a call searches that makes no run.
    _retrievals_without_run = 0

    async def answer(self, case: Case) -> Output:
        """See Method."""
        asking = self._asking
        asked_at = await asking.runs.now()
        started = time.perf_counter()
        try:
            found = await self._call(case)
        except RunFailed as error:
            return await self._failed(error, time.perf_counter() - started)
        seconds = time.perf_counter() - started
        run_id = await self._run_of(case.question, found, asked_at)
        if run_id is None:
            return replace(self._read(case, found, ()), retrievals=self._retrievals_without_run, seconds=seconds)
        output = self._read(case, found, _pooled(await asking.tables.rankings(run_id)))
        facts = await asking.runs.facts(run_id, asking.opened_at)
        return replace(
            output,
            status=RunStatus.PARTIAL if facts.status is RunStatus.PARTIAL else RunStatus.SUCCEEDED,
            run_id=run_id,
            usage=await asking.used(run_id, facts),
            retrievals=facts.retrievals,
            seconds=seconds,
            notes={**output.notes, **({"stop_reason": facts.stop_reason} if facts.stop_reason else {})},
        )

    async def _failed(self, error: RunFailed, seconds: float) -> Output:
        if not error.run_ids:
            return Output(status=RunStatus.FAILED, error=describe(error), error_code=code_of(error), seconds=seconds)
        (run_id,) = error.run_ids
        facts = await self._asking.runs.facts(run_id, self._asking.opened_at)
        return Output(
            retrieved=_pooled(await self._asking.tables.rankings(run_id)),
            status=RunStatus.FAILED,
            error=error.detail or error.message,
            error_code=facts.error_code,
            run_id=run_id,
            usage=await self._asking.used(run_id, facts),
            retrievals=facts.retrievals,
            seconds=seconds,
        )

    @abstractmethod
    async def _call(self, case: Case) -> Any:  # noqa: ANN401 - each operation has its own
        """Call it and wait.

        Raises:
            RunFailed: If the run failed.
            PgclarifyError: If the server refuses.
        """

    @abstractmethod
    async def _run_of(self, question: str, found: Any, asked_at: datetime) -> int | None:  # noqa: ANN401
        """The run behind what came back; None if it asked no model."""

    @abstractmethod
    def _read(self, case: Case, found: Any, retrieved: Sequence[Passage]) -> Output:  # noqa: ANN401
        """What came back, without what the run says."""


class ListAnswers(_Waiting):
    """`list_answers`, whose answers are readings of the question itself."""

    async def _call(self, case: Case) -> list[ListedAnswer]:
        asking = self._asking
        return await asking.client.list_answers(
            case.question, corpus=asking.corpus.name, timeout=None, **self._settings
        )

    async def _run_of(self, question: str, found: list[ListedAnswer], asked_at: datetime) -> int | None:
        if found:
            return found[0].run_id
        asking = self._asking
        return await asking.runs.find("list_answers", question, asking.corpus.corpus_id, self._settings, since=asked_at)

    def _read(self, case: Case, found: list[ListedAnswer], retrieved: Sequence[Passage]) -> Output:
        given = [
            PredictedInterpretation(
                case.question, one.answer, _cited(one.citations, retrieved), support=len(one.document_ids)
            )
            for one in found
        ]
        return Output(tuple(given), tuple(retrieved))


class Investigate(_Submitted):
    """`investigate`, whose answer is the one reading."""

    async def _submit(self, case: Case) -> int:
        asking = self._asking
        return await asking.client.submit_investigation(case.question, corpus=asking.corpus.name, **self._settings)

    async def _read(self, case: Case, run_id: int, facts: RunFacts, output: Output, rankings: _Rankings) -> Output:
        found = await self._asking.client.investigation(run_id)
        given: tuple[PredictedInterpretation, ...] = ()
        if found.answer is not None:
            cited = _cited(found.citations, output.retrieved)
            given = (PredictedInterpretation(case.question, found.answer, cited, support=len(found.document_ids)),)
        return replace(
            output,
            interpretations=given,
            # A step that found nothing is one of them; a question that was asked before was not searched again.
            steps=tuple(tuple(rankings.get(step.ordinal, ())) for step in found.steps if _searched(step)),
            notes={
                "outcome": found.outcome,
                "confidence": found.confidence,
                "steps": [[step.kind, step.question, step.answer] for step in found.steps],
            },
        )


class Search(_Waiting):
    """`search`, which retrieves and gives no readings."""

    _retrievals_without_run = 1

    async def _call(self, case: Case) -> list[SearchResult]:
        asking = self._asking
        return await asking.client.search(case.question, corpus=asking.corpus.name, timeout=None, **self._given())

    async def _run_of(self, question: str, found: list[SearchResult], asked_at: datetime) -> int | None:
        if "reranker" not in self._settings:
            return None
        asking = self._asking
        kept = {name: value for name, value in self._given().items() if name != "method"}
        return await asking.runs.find("search", question, asking.corpus.corpus_id, kept, since=asked_at)

    def _read(self, case: Case, found: list[SearchResult], retrieved: Sequence[Passage]) -> Output:
        return Output(
            retrieved=tuple(
                Passage(one.document_id, one.passage_id, one.content, title=one.title, heading=one.heading)
                for one in found
            )
        )

    def _given(self) -> dict[str, Any]:
        return {"top_k": _TOP_K, **self._settings}


class DetectAmbiguity(_Waiting):
    """`detect_ambiguity`; it looks at the corpus, too, if it is told at how many passages (top_k)."""

    async def _call(self, case: Case) -> Ambiguity:
        return await self._asking.client.detect_ambiguity(
            case.question,
            case.history,
            corpus=_corpus_to_look_at(self._asking, self._settings),
            timeout=None,
            **self._settings,
        )

    async def _run_of(self, question: str, found: Ambiguity, asked_at: datetime) -> int | None:
        return found.run_id

    def _read(self, case: Case, found: Ambiguity, retrieved: Sequence[Passage]) -> Output:
        return Output(
            probability=found.probability,
            notes={
                "is_ambiguous": found.is_ambiguous,
                "kind": found.kind,
                "reasons": [reason.text for reason in found.reasons],
            },
        )


def _corpus_to_look_at(asking: Asking, settings: Mapping[str, Any]) -> str | None:
    return asking.corpus.name if "top_k" in settings else None


def _searched(step: Step) -> bool:
    return step.kind != StepKind.CONCLUSION and step.outcome != StepOutcome.REPEATED


def _pooled(rankings: _Rankings) -> tuple[Passage, ...]:
    return tuple(pooled(list(rankings.values())))


def _readings(found: Iterable[Interpretation], retrieved: Sequence[Passage]) -> tuple[PredictedInterpretation, ...]:
    return tuple(
        PredictedInterpretation(one.interpretation, one.answer, _cited(one.citations, retrieved), support=one.support)
        for one in found
    )


def _cited(
    citations: Iterable[Citation | EvidenceCitation | StepCitation], retrieved: Sequence[Passage]
) -> tuple[CitedPassage, ...]:
    """Citations with their passages; of one that is gone meanwhile, the quote is what is left."""
    there = {passage.passage_id: passage for passage in retrieved}
    return tuple(
        CitedPassage(
            there.get(one.passage_id)
            or Passage(one.document_id, one.passage_id, one.quote, title=one.title, heading=one.heading),
            one.quote,
        )
        for one in citations
    )
