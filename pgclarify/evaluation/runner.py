"""Carries out an evaluation: several cases at once, each stored when it is judged. It can resume an evaluation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pgclarify.database.evaluations import EvaluationTables
from pgclarify.errors import RunFailed, code_of, describe
from pgclarify.evaluated import Case, EvaluationPlan, Output, Summary, Usage
from pgclarify.evaluation.judging import given_readings, judge_output
from pgclarify.evaluation.outages import Outage, outage_of
from pgclarify.evaluation.scoring import score
from pgclarify.evaluation.strata import summarize_strata
from pgclarify.evaluation.summaries import summarize_in_parts
from pgclarify.ledger.completions import cause_of
from pgclarify.model import Passage
from pgclarify.protocols import Judge, Method
from pgclarify.vocabulary import RunStatus

# A server may fail because of a single case. After this many failures in a row, it counts as down.
_MOST_OUTAGES = 10
_GOES_ON = "Solve the problem and repeat the command: it continues with the remaining cases."


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an evaluation.

    Attributes:
        done: Judged cases, including those of earlier starts.
        total: All cases.
        calls: Replies of the model that were used since this start, whether paid for now or before.
        paid: Number of replies that were paid for since this start.
        coverage: Mean share of known answers that were found so far; None if none are known.
        failed: Cases that failed since this start, and count as failed.
        put_off: Cases to ask again at the end, because a server failed during them, perhaps for another reason. They
            are missing if the evaluation ends before that.
        is_summing_up: Whether all cases are judged, and their metrics are computed now.
    """

    done: int
    total: int
    calls: int = 0
    paid: int = 0
    coverage: float | None = None
    failed: int = 0
    put_off: int = 0
    is_summing_up: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of an evaluation.

    Attributes:
        eval_run_id: The id of the evaluation.
        plan: The plan of the evaluation.
        summaries: The metrics of all cases together.
        strata: The metrics of the cases of each stratum, in display order.
        resumed_cases: Number of cases that were judged before this start.
        usage: Model usage since this start.
        failures: Number of failed cases since this start by reason, the most frequent first.
    """

    eval_run_id: int
    plan: EvaluationPlan
    summaries: Mapping[str, Summary]
    strata: Mapping[str, Mapping[str, Summary]]
    resumed_cases: int
    usage: Usage
    failures: Mapping[str, int]


async def _nothing_changed() -> None:
    pass


async def _nothing_compared(case: Case, output: Output) -> Mapping[str, float]:
    return {}


@dataclass(frozen=True, slots=True)
class Work:
    """The collaborators of an evaluation.

    Attributes:
        tables: The tables of evaluations.
        method: The method to evaluate.
        judge: Judges the outputs of the method.
        watch: Watches the workers and the corpus until cancelled; raises if the evaluation cannot continue.
        concurrency: Most cases at once, from 1.
        on_progress: Called after every case.
        evidence: Finds passages about the question of a case, independently of the method.
        check: Checks the corpus once before the first case and after the last; raises as `watch`.
        compare_texts: Computes the metrics of a case that compare texts by their vectors.
    """

    tables: EvaluationTables
    method: Method
    judge: Judge
    watch: Callable[[], Awaitable[None]]
    concurrency: int
    on_progress: Callable[[Progress], object] = lambda progress: None
    evidence: Callable[[Case], Awaitable[Sequence[Passage]]] = field(kw_only=True)
    check: Callable[[], Awaitable[None]] = field(kw_only=True, default=_nothing_changed)
    compare_texts: Callable[[Case, Output], Awaitable[Mapping[str, float]]] = field(
        kw_only=True, default=_nothing_compared
    )


async def evaluate(plan: EvaluationPlan, cases: Sequence[Case], work: Work) -> Finished:
    """Carry out an evaluation, or the rest of it.

    If it is interrupted or fails, the judged cases stay stored, and a new start continues there. Any number of failed
    cases count as empty outputs. But a missing endpoint or a refused key is no result: it ends the evaluation, and the
    case is not stored. If a server failed, the case is asked again after all others.

    Args:
        plan: The plan of the evaluation.
        cases: All cases, in order.
        work: The collaborators.

    Raises:
        RunFailed: If the model cannot be asked, or its server fails for many cases in a row.
        NotReady: If another process carries it out, or the corpus changes during it.
        PgclarifyError: If it cannot continue.
    """
    await work.check()
    begun = await work.tables.begin(plan)
    try:
        running = _Running(begun.eval_run_id, plan, cases, work)
        await running.carry_out(begun.done)
        await work.check()
        running.tell(is_summing_up=True)
        values = dict(await work.tables.values(begun.eval_run_id))
        summaries = await summarize_in_parts([*values.values()])
        strata = await summarize_strata(values, {place: case.strata for place, case in enumerate(cases, start=1)})
        await work.tables.finish(begun.eval_run_id, summaries, strata)
    finally:
        await work.tables.leave(begun.eval_run_id)
    failures = dict(sorted(running.failures.items(), key=lambda entry: -entry[1]))
    return Finished(begun.eval_run_id, plan, summaries, strata, len(begun.done), running.usage, failures)


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
    _coverage: float = 0.0
    _covered_cases: int = 0
    # Cases to ask again after all others; None after that has begun.
    _put_off: list[tuple[int, Case]] | None = field(default_factory=list)
    _outages_in_a_row: int = 0

    async def carry_out(self, done: frozenset[int]) -> None:
        """Judge the cases that are not done."""
        self._done = len(done)
        if done:
            self._coverage, self._covered_cases = await self.work.tables.coverage(self.eval_run_id)
        self.tell()
        left = ((ordinal, case) for ordinal, case in enumerate(self.cases, start=1) if ordinal not in done)
        try:
            async with asyncio.TaskGroup() as everything:
                watching = everything.create_task(_awaited(self.work.watch()))
                await self._ask(left)
                put_off, self._put_off = self._put_off or [], None
                await self._ask(put_off)
                watching.cancel()
        except BaseExceptionGroup as group:
            raise cause_of(group) from group

    async def _ask(self, cases: Iterable[tuple[int, Case]]) -> None:
        left = iter(cases)
        async with asyncio.TaskGroup() as workers:
            for _ in range(self.work.concurrency):
                workers.create_task(self._work(left))

    async def _work(self, left: Iterator[tuple[int, Case]]) -> None:
        for ordinal, case in left:
            try:
                output = await self.work.method.answer(case)
            except RunFailed as error:
                output = Output(status=RunStatus.FAILED, error=describe(error), error_code=code_of(error))
            self.usage += output.usage
            if self._is_put_off(ordinal, case, output):
                self.tell()
                continue
            evidence = await self.work.evidence(case) if given_readings(output) else ()
            judgements = await judge_output(case, output, self.work.judge, evidence)
            values = {
                **score(case, output, judgements, method=self.plan.method),
                **await self.work.compare_texts(case, output),
            }
            await self._land(_Judged(ordinal, case, output, values, judgements.supported or None))

    async def _land(self, judged: _Judged) -> None:
        output = judged.output
        if output.status is RunStatus.FAILED:
            error = output.error or ""
            self.failures[error] = self.failures.get(error, 0) + 1
        await self.work.tables.record(
            self.eval_run_id, judged.ordinal, judged.case, output, judged.values, judged.supported
        )
        self._note(judged.values)
        self._done += 1
        self.tell()

    def _is_put_off(self, ordinal: int, case: Case, output: Output) -> bool:
        """Return whether a case is asked again before it counts.

        Raises:
            RunFailed: If no more calls can be made.
        """
        error = output.error or ""
        outage = outage_of(output.error_code)
        # If the output is partial, the server answered some calls, so it is not down.
        is_down = outage is not None and output.status is RunStatus.FAILED
        self._outages_in_a_row = self._outages_in_a_row + 1 if is_down else 0
        if outage is None:
            return False
        if outage is Outage.LASTING:
            raise RunFailed(
                "the evaluation cannot continue",
                detail=f"A case failed: {error.rstrip('.')}. The case is not the reason, so it does not count. Cases "
                "that were judged before are kept.",
                hint=_GOES_ON,
            )
        if self._outages_in_a_row >= _MOST_OUTAGES:
            raise RunFailed(
                f"{_MOST_OUTAGES} cases in a row failed because their server failed",
                detail=f"The last error was: {error.rstrip('.')}. Such cases do not count; judged cases are kept.",
                hint=_GOES_ON,
            )
        if self._put_off is None:
            return False
        self._put_off.append((ordinal, case))
        return True

    def _note(self, values: Mapping[str, float]) -> None:
        if "answer_coverage" in values:
            self._coverage += values["answer_coverage"]
            self._covered_cases += 1

    def tell(self, *, is_summing_up: bool = False) -> None:
        """Report the progress."""
        self.work.on_progress(
            Progress(
                done=self._done,
                total=self.plan.planned_cases,
                calls=self.usage.calls,
                paid=self.usage.calls - self.usage.reused_calls,
                coverage=self._coverage / self._covered_cases if self._covered_cases else None,
                failed=sum(self.failures.values()),
                put_off=len(self._put_off or ()),
                is_summing_up=is_summing_up,
            )
        )


async def _awaited(watching: Awaitable[None]) -> None:
    await watching
