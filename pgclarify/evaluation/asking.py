"""Operations of the SQL API in an evaluation: submitted as runs, or called on a connection that waits."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from pgclarify.algorithms.metrics import pooled
from pgclarify.client import AsyncClient, RunOutcome
from pgclarify.database.evaluated_runs import EvaluatedRuns, RunFacts
from pgclarify.database.evaluations import EvaluationTables
from pgclarify.errors import PgclarifyError, RunFailed, code_of, describe
from pgclarify.evaluated import Case, CorpusDescription, Output, Usage
from pgclarify.evaluation.outages import describe_outage, is_lost, outage_code
from pgclarify.evaluation.waiting import RunWaiter
from pgclarify.model import Passage
from pgclarify.vocabulary import RunStatus

Rankings: TypeAlias = Mapping[int | None, Sequence[Passage]]
"""The passages of each step of an investigation; the key None has those of a run without steps."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The connections and tables that methods use.

    Attributes:
        client: Calls the operations with its role, over a pool, so that several calls may wait.
        tables: Reads facts about runs for evaluations.
        runs: Reads runs.
        waiter: Waits for runs.
        corpus: The corpus that is asked.
        opened_at: The start, by the server's clock. Valid earlier answers are reused, so earlier runs cost nothing now.
        counted: Runs whose cost was counted since the start.
    """

    client: AsyncClient
    tables: EvaluationTables
    runs: EvaluatedRuns
    waiter: RunWaiter
    corpus: CorpusDescription
    opened_at: datetime
    counted: set[int] = field(default_factory=set)

    async def carried_out(self, run_id: int) -> RunOutcome:
        """Wait for a run, and cancel it if the caller stops waiting.

        Raises:
            PgclarifyError: If the server cannot be asked.
        """
        try:
            return await self.waiter.wait(run_id)
        except BaseException:
            with suppress(PgclarifyError):
                await asyncio.shield(self.client.cancel([run_id]))
            raise

    @asynccontextmanager
    async def codes_of_runs(self) -> AsyncIterator[None]:
        """Give each RunFailed that is raised meanwhile the code of its run, which says why the run failed.

        Raises:
            RunFailed: As it was raised, with that code.
            PgclarifyError: If the server cannot be asked.
        """
        try:
            yield
        except RunFailed as error:
            for run_id in error.run_ids:
                facts = await self.runs.facts(run_id, self.opened_at)
                error.sqlstate = facts.error_code or error.sqlstate
            raise

    async def used(self, run_id: int, facts: RunFacts) -> Usage:
        """Return the model calls and tokens of a run."""
        usage = (await self.tables.usage([run_id])).get(run_id, Usage())
        was_there = facts.was_there or run_id in self.counted
        self.counted.add(run_id)
        return replace(usage, reused_calls=usage.calls) if was_there else usage


class Operation(ABC):
    """An operation of the SQL API.

    Args:
        asking: The connections and tables that it uses.
        settings: The given parameters.
    """

    def __init__(self, asking: Asking, settings: Mapping[str, Any]) -> None:
        self._asking = asking
        self._settings = settings

    @abstractmethod
    async def answer(self, case: Case) -> Output:
        """See Method."""


class Submitted(Operation):
    """An operation that is submitted and waited for."""

    async def answer(self, case: Case) -> Output:
        """See Method. The history of a case is not used, because these operations take none."""
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
        output = _with_outage(output, facts)
        if output.status is RunStatus.FAILED:
            return output
        return await self._read(case, run_id, facts, output, rankings)

    @abstractmethod
    async def _submit(self, case: Case) -> int:
        """Submit the operation, and return the id of its run."""

    @abstractmethod
    async def _read(self, case: Case, run_id: int, facts: RunFacts, output: Output, rankings: Rankings) -> Output:
        """Add the results of the run to the output."""


class Waiting(Operation):
    """An operation that cannot be submitted. Its call waits, and keeps a connection for that time."""

    # Number of searches of a call that creates no run.
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
        facts = await asking.runs.facts(run_id, asking.opened_at)
        output = _with_outage(
            replace(
                self._read(case, found, _pooled(await asking.tables.rankings(run_id))),
                status=RunStatus.PARTIAL if facts.status is RunStatus.PARTIAL else RunStatus.SUCCEEDED,
                run_id=run_id,
                usage=await asking.used(run_id, facts),
                retrievals=facts.retrievals,
                seconds=seconds,
            ),
            facts,
        )
        if output.status is RunStatus.FAILED:
            return output
        return replace(
            output,
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
        """Call the operation and wait.

        Raises:
            RunFailed: If the run failed.
            PgclarifyError: If the server refuses.
        """

    @abstractmethod
    async def _run_of(self, question: str, found: Any, asked_at: datetime) -> int | None:  # noqa: ANN401
        """Return the run of a result; None if it asked no model."""

    @abstractmethod
    def _read(self, case: Case, found: Any, retrieved: Sequence[Passage]) -> Output:  # noqa: ANN401
        """Return the output of a result, without facts of its run."""


def _with_outage(output: Output, facts: RunFacts) -> Output:
    """Add the code of an outage during a partial run to its output.

    The output fails if the outage lasts, or if no call was answered: the result would say nothing about the method.
    """
    code = outage_code(facts)
    if code is None:
        return output
    if not is_lost(facts, code, output.usage):
        return replace(output, error_code=code)
    return Output(
        status=RunStatus.FAILED,
        error=describe_outage(facts, code),
        error_code=code,
        run_id=output.run_id,
        usage=output.usage,
        retrievals=output.retrievals,
        seconds=output.seconds,
    )


def _pooled(rankings: Rankings) -> tuple[Passage, ...]:
    return tuple(pooled(list(rankings.values())))
