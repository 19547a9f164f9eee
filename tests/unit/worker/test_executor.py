"""The order of the calls of runs, and how runs are counted that cannot be started."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from pgclarify.data.runs import Run
from pgclarify.database.runs import FailedRun, Runs
from pgclarify.errors import RunPostponed
from pgclarify.operations.context import Models, RunContext
from pgclarify.protocols import is_waited_for
from pgclarify.worker import executor
from pgclarify.worker.executor import RunExecutor
from pgclarify.worker.monitor import Monitor
from pgclarify.worker.quarantine import Quarantine


class Table(Runs):
    """Stands for the tables of runs.

    Attributes:
        watched: The runs that sessions wait for.
        times_followed: How often that was asked.
    """

    def __init__(self) -> None:
        self.watched: frozenset[int] = frozenset()
        self.times_followed = 0

    async def start(self, run_id: int, *, is_alone: bool = False) -> Run | FailedRun | None:
        return Run(run_id, 1, "clarify", "rental cars", {}, 1, "all-MiniLM-L6-v2", 384)

    async def waited_for(self, runs: Sequence[Run]) -> frozenset[int]:
        self.times_followed += 1
        return self.watched & {run.run_id for run in runs}


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
        await runs.follow_watchers()
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
        asyncio.create_task(runs.carry_out(run_id, is_waited_for=False, is_of_batch=is_of_batch))
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


async def test_a_worker_without_runs_follows_the_callers_of_queued_runs() -> None:
    table = Table()
    await RunExecutor(table, cast("Models", None), Quarantine(asyncio.Lock()), Monitor()).follow_watchers()
    assert table.times_followed == 1


async def test_a_run_that_fails_when_it_is_started_is_counted() -> None:
    counted = []

    class Refusing(Table):
        async def start(self, run_id: int, *, is_alone: bool = False) -> FailedRun:
            return FailedRun("clarify", "PC011")

    class Counting(Monitor):
        def note_end(self, operation: str, status: str, code: str) -> None:
            counted.append((operation, status, code))

    runs = RunExecutor(Refusing(), cast("Models", None), Quarantine(asyncio.Lock()), Counting())
    await runs.carry_out(1, is_waited_for=True, is_of_batch=False)
    assert counted == [("clarify", "failed", "PC011")]


async def test_a_run_beside_a_suspect_is_postponed() -> None:
    """Otherwise it would wait for the suspect, although another worker could carry it out."""
    quarantine = Quarantine(asyncio.Lock())
    runs = RunExecutor(Table(), cast("Models", None), quarantine, Monitor())
    async with quarantine.alone():
        assert runs.has_suspect
        with pytest.raises(RunPostponed):
            await runs.carry_out(1, is_waited_for=True, is_of_batch=False)
    assert not runs.has_suspect
