"""Carries out an evaluation: several cases at once, each stored when it is judged. It can resume an evaluation."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Final

from pgclarify.data.vocabulary import RunStatus
from pgclarify.database.evaluations import Plan
from pgclarify.errors import EndpointFailed, RunFailed, code_of, describe
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.figures import Figure, Row, measure, summarize
from pgclarify.evaluation.records import Case, Judge, Method, Output
from pgclarify.evaluation.regressions import Regression, regressions
from pgclarify.ledger.tasks import cause_of
from pgclarify.operations.context import OF_A_BUDGET, OUTAGES

# The passages of the corpus about a question that a judge reads for readings without citations.
_EVIDENCE: Final = 20
# A server may fail because of a single case. After this many failures in a row, it counts as down.
_MOST_OUTAGES: Final = 10
_GOES_ON: Final = "Solve the problem and repeat the command: it goes on with the remaining cases."


@dataclass(slots=True)
class Progress:
    """What an evaluation has done.

    Attributes:
        total: All cases.
        done: Judged cases, including those of earlier starts.
        calls: Replies of the model that this start used.
        failures: Failed cases of this start by reason.
        skipped: Cases that could not be asked, since the model's server failed; they are asked by the next start.
    """

    total: int
    done: int = 0
    calls: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of an evaluation that has all its cases."""

    eval_run_id: int
    plan: Plan
    figures: dict[str, Figure]
    progress: Progress
    regressions: tuple[Regression, ...]


async def evaluate(
    bench: Bench,
    plan: Plan,
    data_set: DataSet,
    method: Method,
    judge: Judge,
    *,
    concurrency: int = 8,
    on_progress: Callable[[Progress], object] = lambda progress: None,
) -> Finished:
    """Carry out an evaluation, or the rest of it.

    A case that fails counts as an empty output. But a missing endpoint, a refused key or a spent budget is no result:
    it ends the evaluation, and a case during which the model's server failed is not stored. The next start asks it.

    Args:
        bench: The connections.
        plan: The plan of the evaluation.
        data_set: Its cases.
        method: The method to evaluate.
        judge: Judges the outputs of the method.
        concurrency: Most cases at once, from 1.
        on_progress: Called after every case.

    Raises:
        RunFailed: If the model cannot be asked, or its server failed for some cases.
        NotReady: If the corpus changes during it.
        PgclarifyError: If it cannot go on.
    """
    eval_run_id, done = await bench.tables.begin(plan)
    progress = Progress(len(data_set.cases), len(done))
    running = _Running(bench, eval_run_id, plan.method, method, judge, progress, on_progress)
    left = iter([(place, case) for place, case in enumerate(data_set.cases, 1) if place not in done])
    try:
        async with asyncio.TaskGroup() as everything:
            watching = everything.create_task(bench.watch())
            async with asyncio.TaskGroup() as workers:
                for _ in range(concurrency):
                    workers.create_task(running.work_on(left))
            watching.cancel()
    except BaseExceptionGroup as group:
        raise cause_of(group) from group
    if progress.skipped:
        raise RunFailed(
            f"{progress.skipped} of {len(data_set.cases)} cases could not be asked",
            detail=f"The model's server failed: {running.last_outage.rstrip('.')}. The other cases are kept.",
            hint=_GOES_ON,
        )
    cases = await bench.tables.cases(eval_run_id)
    rows: list[Row] = [case.figures for case in cases]
    figures = await asyncio.to_thread(summarize, rows)
    await bench.tables.finish(eval_run_id, {name: asdict(one) for name, one in figures.items()})
    return Finished(eval_run_id, plan, figures, progress, tuple(regressions(cases)))


@dataclass(slots=True)
class _Running:
    bench: Bench
    eval_run_id: int
    name: str
    method: Method
    judge: Judge
    progress: Progress
    on_progress: Callable[[Progress], object]
    last_outage: str = ""
    _outages_in_a_row: int = 0

    async def work_on(self, left: Iterator[tuple[int, Case]]) -> None:
        progress = self.progress
        for ordinal, case in left:
            try:
                output = await self.method.answer(case)
            except RunFailed as error:
                output = Output(status=RunStatus.FAILED, error=describe(error), error_code=code_of(error))
            progress.calls += output.usage.calls
            if self._is_outage(output):
                progress.skipped += 1
                self.on_progress(progress)
                continue
            judged = await measure(
                self.name, case, output, self.judge, partial(self.bench.asking.search, top_k=_EVIDENCE)
            )
            await self.bench.tables.record(
                self.eval_run_id,
                {
                    "ordinal": ordinal,
                    "case_id": case.case_id,
                    "question": case.question,
                    "gold": case.gold,
                    "output": output.as_json(judged.supported),
                    "run_id": output.run_id,
                    "status": output.status,
                    "error": output.error,
                    "figures": judged.figures,
                },
            )
            if output.status is RunStatus.FAILED:
                progress.failures[output.error or ""] += 1
            progress.done += 1
            self.on_progress(progress)

    def _is_outage(self, output: Output) -> bool:
        """Return whether the model's server failed, so that the output says nothing about the method.

        Raises:
            RunFailed: If no more calls can be made.
        """
        code = output.error_code
        is_outage = code in OUTAGES or code in OF_A_BUDGET
        self._outages_in_a_row = self._outages_in_a_row + 1 if is_outage else 0
        # If the server answered other calls of the case, its partial result counts.
        if not is_outage or (code == EndpointFailed.sqlstate and output.status is RunStatus.PARTIAL):
            return False
        self.last_outage = output.error or str(output.notes.get("stop_reason", code))
        if code != EndpointFailed.sqlstate or self._outages_in_a_row >= _MOST_OUTAGES:
            raise RunFailed(
                "the evaluation cannot go on",
                detail=f"A case failed: {self.last_outage.rstrip('.')}. Cases that were judged before are kept.",
                hint=_GOES_ON,
            )
        return True
