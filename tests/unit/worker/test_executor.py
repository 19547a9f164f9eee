"""The order of the calls of runs, and how runs are counted that cannot be started."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import cast

import pytest

from pgclarify.data.runs import Run
from pgclarify.data.vocabulary import RunStatus
from pgclarify.database.run_tables import RunTables
from pgclarify.database.runs import FailedRun, Runs, TakenRun
from pgclarify.errors import DatabaseBusy, DatabaseError, RunLost, ServerUnavailable
from pgclarify.operations.context import Models, RunContext
from pgclarify.protocols import is_waited_for
from pgclarify.worker import executor
from pgclarify.worker.executor import RunExecutor
from pgclarify.worker.monitor import Monitor
from pgclarify.worker.quarantine import Quarantine


def a_run(run_id: int = 1, attempt: int = 1) -> Run:
    return Run(run_id, attempt, "clarify", "rental cars", {}, 1, "all-MiniLM-L6-v2", 384)


def taken(run: Run, *, is_of_batch: bool = False) -> TakenRun:
    return TakenRun(run.run_id, run, is_waited_for=False, is_of_batch=is_of_batch)


class Table(Runs):
    """Stands for the tables of runs.

    Attributes:
        watched: The runs that sessions wait for.
        times_followed: How often that was asked.
        refusal: The error of the next runs that are put back.
        returned: The runs that were put back, and how long they wait.
    """

    def __init__(self) -> None:
        self.watched: frozenset[int] = frozenset()
        self.times_followed = 0
        self.refusal: DatabaseError | None = None
        self.returned: list[tuple[int, timedelta | None]] = []

    async def start(self, run_id: int, *, is_alone: bool = False) -> Run | FailedRun | None:
        return a_run(run_id)

    async def put_back(self, run: Run, pause: timedelta | None) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.returned.append((run.run_id, pause))

    async def watch(self, runs: Sequence[Run]) -> tuple[list[Run], frozenset[int]]:
        self.times_followed += 1
        return [], self.watched & {run.run_id for run in runs}


async def test_calls_of_a_run_go_first_while_a_session_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asyncio.Event()
    goes_first: dict[int, bool] = {}

    async def execute(context: RunContext) -> None:
        while True:
            await asked.wait()
            goes_first[context.run.run_id] = is_waited_for()
            await asyncio.sleep(0)

    async def who_goes_first(*watched: int) -> set[int]:
        table.watched = frozenset(watched)
        await runs.watch()
        goes_first.clear()
        asked.set()
        while len(goes_first) < 3:  # noqa: ASYNC110 - the runs send no signal
            await asyncio.sleep(0)
        asked.clear()
        return {run_id for run_id, is_first in goes_first.items() if is_first}

    monkeypatch.setattr(executor, "execute", execute)
    table = Table()
    runs = RunExecutor(table, cast("Models", None), Quarantine(asyncio.Lock()), Monitor())
    tasks = [
        asyncio.create_task(runs.carry_out(taken(a_run(run_id), is_of_batch=is_of_batch)))
        for run_id, is_of_batch in ((1, False), (2, False), (3, True))
    ]
    async with asyncio.timeout(60):
        while runs.in_hand < 3:  # noqa: ASYNC110 - the runs send no signal
            await asyncio.sleep(0)
        assert await who_goes_first() == set()
        assert await who_goes_first(1, 3) == {1}, "3 belongs to a batch"
        assert await who_goes_first(2) == {2}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_run_that_fails_when_it_is_started_is_counted() -> None:
    counted = []

    class Counting(Monitor):
        def note_end(self, operation: str, status: str, code: str) -> None:
            counted.append((operation, status, code))

    runs = RunExecutor(Table(), cast("Models", None), Quarantine(asyncio.Lock()), Counting())
    await runs.carry_out(TakenRun(1, FailedRun("clarify", "PC011"), is_waited_for=True, is_of_batch=False))
    assert counted == [("clarify", "failed", "PC011")]


@pytest.mark.parametrize("may_lack_cost", [False, True])
async def test_a_run_that_may_have_ended_before_its_last_replies_were_stored_gets_their_cost(
    monkeypatch: pytest.MonkeyPatch, may_lack_cost: bool
) -> None:
    settled = []

    async def execute(context: RunContext) -> None:
        tables = context.store
        tables.status, tables.may_lack_cost = RunStatus.SUCCEEDED, may_lack_cost

    async def settle(tables: RunTables) -> None:
        settled.append(tables.may_lack_cost)

    monkeypatch.setattr(executor, "execute", execute)
    monkeypatch.setattr(RunTables, "settle", settle)
    runs = RunExecutor(Table(), cast("Models", None), Quarantine(asyncio.Lock()), Monitor())
    await runs.carry_out(taken(a_run()))
    assert settled == [True] * may_lack_cost


async def carry_out(
    table: Table, error: BaseException, monkeypatch: pytest.MonkeyPatch, attempt: int = 1
) -> RunExecutor:
    """Carry out a run that ends with this error."""

    async def execute(context: RunContext) -> None:
        raise error

    monkeypatch.setattr(executor, "execute", execute)
    runs = RunExecutor(table, cast("Models", None), Quarantine(asyncio.Lock()), Monitor())
    await runs.carry_out(taken(a_run(attempt=attempt)))
    return runs


async def test_a_run_is_put_back_at_once_if_its_worker_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()

    async def execute(context: RunContext) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(executor, "execute", execute)
    table = Table()
    runs = RunExecutor(table, cast("Models", None), Quarantine(asyncio.Lock()), Monitor())
    task = asyncio.create_task(runs.carry_out(taken(a_run())))
    await asyncio.wait_for(begun.wait(), 60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert table.returned == [(1, None)]


@pytest.mark.parametrize(
    "error", [DatabaseBusy("a deadlock"), DatabaseError("the end of the run was refused"), ValueError("a mistake")]
)
@pytest.mark.parametrize(("attempt", "longest"), [(1, 4), (10, 60)])
async def test_a_run_that_fails_for_the_moment_waits(
    monkeypatch: pytest.MonkeyPatch, error: Exception, attempt: int, longest: int
) -> None:
    table = Table()
    monkeypatch.setattr(secrets, "randbelow", lambda limit: limit - 1)
    await carry_out(table, error, monkeypatch, attempt)
    assert table.returned == [(1, timedelta(seconds=longest))]


async def test_a_run_that_another_worker_has_is_not_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table()
    await carry_out(table, RunLost("taken over"), monkeypatch)
    assert table.returned == []


@pytest.mark.parametrize("refusal", [DatabaseBusy("it is locked"), ServerUnavailable("closed")])
async def test_a_run_that_cannot_be_put_back_is_put_back_later(
    monkeypatch: pytest.MonkeyPatch, refusal: DatabaseError
) -> None:
    """Otherwise it would stay with this worker until the worker has ended."""
    table = Table()
    table.refusal = refusal
    runs = await carry_out(table, ServerUnavailable("it is gone"), monkeypatch)
    await runs.settle()
    assert table.returned == []
    table.refusal = None
    for _ in range(2):
        await runs.settle()
    assert table.returned == [(1, None)]


async def test_a_suspect_is_started_when_no_other_run_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ends = [], asyncio.Event()

    async def execute(context: RunContext) -> None:
        begun.append(context.run.run_id)
        await ends.wait()
        raise RunLost("it is over")

    monkeypatch.setattr(executor, "execute", execute)
    quarantine = Quarantine(asyncio.Lock())
    runs = RunExecutor(Table(), cast("Models", None), quarantine, Monitor())
    tasks = [
        asyncio.create_task(runs.carry_out(each))
        for each in (taken(a_run(1)), TakenRun(2, None, is_waited_for=False, is_of_batch=False))
    ]
    for _ in range(20):
        await asyncio.sleep(0)
    assert (begun, quarantine.has_suspect) == ([1], True)
    ends.set()
    await asyncio.gather(*tasks)
    assert (begun, quarantine.has_suspect) == ([1, 2], False)
