"""Carrying out an evaluation: cases in flight, each kept as soon as it is judged; and going on with one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pgclarify.database.evaluations import EvaluationTables
from pgclarify.errors import RunFailed
from pgclarify.evaluated import Case, EvaluationPlan, Output, Summary, Usage
from pgclarify.evaluation import scoring
from pgclarify.model import RunStatus
from pgclarify.pipelines.completions import cause_of
from pgclarify.pipelines.failures import describe
from pgclarify.protocols import Judge, Method

# A reply that does not fit is quoted in its error, so that two are hardly alike; so many that are alike in a row are no
# property of the cases but of what is asked: an endpoint that is gone, a method that takes a model where there is none.
_MOST_ALIKE = 10
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an evaluation is.

    Attributes:
        done: Cases that are judged, those of earlier starts included.
        total: All of them.
        calls: Replies of the model that were used since this start, whether paid for now or before.
        paid: How many of them were paid for now.
        coverage: Mean share of known answers that were found so far; None where none are known.
    """

    done: int
    total: int
    calls: int = 0
    paid: int = 0
    coverage: float | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """What an evaluation came to.

    Attributes:
        eval_run_id: Its id.
        plan: What it is of.
        summaries: The metrics of all cases together.
        resumed_cases: How many cases had been judged before this start.
        usage: What was used of the model since this start.
        failures: How often cases failed for which reason since this start, the most frequent first.
    """

    eval_run_id: int
    plan: EvaluationPlan
    summaries: Mapping[str, Summary]
    resumed_cases: int
    usage: Usage
    failures: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Work:
    """What an evaluation works with.

    Attributes:
        tables: Where it is kept.
        method: What is evaluated.
        judge: Who judges what it gives.
        watch: Looks after the workers until cancelled; raises if there is no going on.
        concurrency: Most cases in flight, from 1.
        on_progress: Told after every case.
    """

    tables: EvaluationTables
    method: Method
    judge: Judge
    watch: Callable[[], Awaitable[None]]
    concurrency: int
    on_progress: Callable[[Progress], object] = lambda progress: None


async def evaluate(plan: EvaluationPlan, cases: Sequence[Case], work: Work) -> Finished:
    """Carry out an evaluation, or what is left of it.

    Interrupted or failing, it leaves what is judged; begun again, it goes on from there. Cases that failed count as
    having given nothing, but those at the end of a row of equal failures that ended it are asked again.

    Args:
        plan: What it is of.
        cases: All of them, in order.
        work: What it works with.

    Raises:
        RunFailed: If one case after the other fails for the same reason.
        NotReady: If another process is at it.
        PgclarifyError: If it cannot go on.
    """
    begun = await work.tables.begin(plan)
    try:
        running = _Running(begun.eval_run_id, plan, cases, work)
        await running.carry_out(begun.done)
        values = [row for _, row in await work.tables.values(begun.eval_run_id)]
        summaries = await asyncio.to_thread(scoring.summarize, values)
        await work.tables.finish(begun.eval_run_id, summaries)
    finally:
        await work.tables.leave(begun.eval_run_id)
    failures = dict(sorted(running.failures.items(), key=lambda entry: -entry[1]))
    return Finished(begun.eval_run_id, plan, summaries, len(begun.done), running.usage, failures)


@dataclass(frozen=True, slots=True)
class _Judged:
    ordinal: int
    case: Case
    output: Output
    values: Mapping[str, float]
    supported: Sequence[bool] | None


@dataclass(slots=True)
class _Running:
    """One start of an evaluation."""

    eval_run_id: int
    plan: EvaluationPlan
    cases: Sequence[Case]
    work: Work
    usage: Usage = field(default_factory=Usage)
    failures: dict[str, int] = field(default_factory=dict)
    _done: int = 0
    _coverages: list[float] = field(default_factory=list)
    # Failures that are all alike, until a case comes that is not.
    _alike: list[_Judged] = field(default_factory=list)

    async def carry_out(self, done: frozenset[int]) -> None:
        """Judge the cases that are not done."""
        self._done = len(done)
        if done:
            for _, values in await self.work.tables.values(self.eval_run_id):
                self._note(values)
        self._tell()
        left = ((ordinal, case) for ordinal, case in enumerate(self.cases, start=1) if ordinal not in done)
        try:
            async with asyncio.TaskGroup() as everything:
                watching = everything.create_task(_awaited(self.work.watch()))
                async with asyncio.TaskGroup() as workers:
                    for _ in range(self.work.concurrency):
                        workers.create_task(self._work(left))
                watching.cancel()
        except BaseExceptionGroup as group:
            raise cause_of(group) from group
        await self._keep_alike()

    async def _work(self, left: Iterator[tuple[int, Case]]) -> None:
        for ordinal, case in left:
            try:
                output = await self.work.method.answer(case)
            except RunFailed as error:
                output = Output(status=RunStatus.FAILED, error=describe(error))
            judgements = await scoring.judge(case, output, self.work.judge)
            values = scoring.score(case, output, judgements, method=self.plan.method)
            await self._land(_Judged(ordinal, case, output, values, judgements.supported or None))

    async def _land(self, judged: _Judged) -> None:
        output = judged.output
        self.usage += output.usage
        self._note(judged.values)
        if output.status is RunStatus.FAILED:
            await self._land_failure(judged)
        else:
            await self._keep_alike()
            await self._record(judged)
        self._done += 1
        self._tell()

    async def _land_failure(self, judged: _Judged) -> None:
        error = judged.output.error or ""
        if self._alike and _shape(self._alike[0].output.error or "") != _shape(error):
            await self._keep_alike()
        self._alike.append(judged)
        if len(self._alike) == _MOST_ALIKE:
            told = error.rstrip(".")
            raise RunFailed(
                f"{_MOST_ALIKE} cases in a row failed for the same reason",
                detail=f"The last one said: {told}. These {_MOST_ALIKE} are not counted; what came before is kept.",
                hint="Put that right and repeat the command: it goes on from there.",
            )

    async def _keep_alike(self) -> None:
        kept, self._alike = self._alike, []
        for judged in kept:
            error = judged.output.error or ""
            self.failures[error] = self.failures.get(error, 0) + 1
            await self._record(judged)

    async def _record(self, judged: _Judged) -> None:
        await self.work.tables.record(
            self.eval_run_id, judged.ordinal, judged.case, judged.output, judged.values, judged.supported
        )

    def _note(self, values: Mapping[str, float]) -> None:
        if "answer_coverage" in values:
            self._coverages.append(values["answer_coverage"])

    def _tell(self) -> None:
        coverage = sum(self._coverages) / len(self._coverages) if self._coverages else None
        paid = self.usage.calls - self.usage.reused_calls
        self.work.on_progress(Progress(self._done, self.plan.planned_cases, self.usage.calls, paid, coverage))


async def _awaited(watching: Awaitable[None]) -> None:
    await watching


def _shape(error: str) -> str:
    """An error without its numbers: those of runs and passages differ."""
    return _DIGITS.sub("", error)
