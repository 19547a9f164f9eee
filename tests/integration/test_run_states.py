"""The states of runs, whatever users, workers and deaths of workers do in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.integration.spending import budget, claim, enter, status, store
from tests.sessions import Connection, scalar

RUN_LOST, LOCK_NOT_AVAILABLE, CRASHED = "PC006", "55P03", "PC016"
MAX_CALLS, ALONE_FROM, MOST_CRASHES = 3, 2, 10
# Two workers compete; a third one takes over while one is dead.
MOST_WORKERS = 3
ANY = st.integers(0, 5)
ENDS = st.sampled_from([("succeeded", None), ("partial", None), ("failed", "the model could not be reached")])


class Rare(StrEnum):
    """Combinations that a random order of steps rarely has. So each is the beginning of some."""

    LOST_AFTER_A_REPLY = "a run that had crashed is lost after it has paid for a reply"
    ALONE = "a run is carried out alone"
    PUT_BACK_AND_CANCELLED = "a run is put back after it has paid for a reply, and then cancelled"
    CANCELLED_IN_A_CALL = "a run is cancelled while it makes a call"
    LATE_REPLY = "a reply comes after the end of its run"
    REFUSED = "a budget refuses a call"


@dataclass
class Run:
    """What is known of a run from what was done to it."""

    status: str = "queued"
    attempt: int = 0
    owner: ManualWorker | None = None
    crashes: int = 0
    has_progress: bool = False
    paid: int = 0
    ended: list[int] = field(default_factory=list)


class RunStates(RuleBasedStateMachine):
    """Runs without a corpus, under a budget of three calls, and workers whose statements are sent one at a time.

    Args:
        rare: How it begins.
    """

    def __init__(self, connection: Connection, make_worker: MakeWorker, rare: Rare) -> None:
        super().__init__()
        self.connection, self.make_worker, self.reached = connection, make_worker, set[Rare]()
        self.workers: list[ManualWorker] = []
        self.runs: dict[int, Run] = {}
        # Calls that are being made: their worker, and their run.
        self.calls: dict[int, tuple[ManualWorker, int]] = {}
        self.paid = self.texts = 0
        for table in ("completion", "run", "budget", "worker"):
            connection.execute(f"delete from pgclarify_private.{table}".encode())  # noqa: S608 - names
        budget(connection, max_calls=MAX_CALLS)
        # Each of two workers has a run, and another run waits, so that no step is lost before anything can happen.
        for which in range(2):
            self.start_a_worker()
            self.submit()
            self.take(which)
        self.submit()
        self.begin_with(rare)
        assert rare in self.reached

    def begin_with(self, rare: Rare) -> None:
        match rare:
            case Rare.LOST_AFTER_A_REPLY | Rare.ALONE:
                self.crash_with_a_run(0, times=2, pays=rare is Rare.LOST_AFTER_A_REPLY)
            case Rare.PUT_BACK_AND_CANCELLED | Rare.CANCELLED_IN_A_CALL:
                self.cancel_with_a_call(0, is_paid=rare is Rare.PUT_BACK_AND_CANCELLED)
            case Rare.LATE_REPLY:
                self.finish_before_a_reply(0, ("succeeded", None))
            case Rare.REFUSED:
                for _ in range(MAX_CALLS):
                    self.pay_for_a_reply(0)
                self.make_a_call(0)

    def worker(self, which: int) -> ManualWorker:
        return self.workers[which % len(self.workers)]

    def in_state(self, *states: str) -> list[int]:
        return [run_id for run_id, run in self.runs.items() if run.status in states]

    def held(self) -> list[int]:
        """Runs that a living worker has."""
        return [run_id for run_id in self.in_state("running") if self.runs[run_id].owner in self.workers]

    def lost(self) -> list[int]:
        return sorted(set(self.in_state("running")) - set(self.held()))

    def end_attempt(self, run_id: int, status: str) -> None:
        run = self.runs[run_id]
        if run.owner is not None:
            run.ended.append(run.attempt)
        run.status, run.owner = status, None

    @rule()
    @precondition(lambda self: len(self.runs) < 5)
    def submit(self) -> None:
        self.runs[enter(self.connection)] = Run()

    @rule()
    @precondition(lambda self: len(self.workers) < MOST_WORKERS)
    def start_a_worker(self) -> None:
        self.workers.append(self.make_worker())

    @rule(which=ANY)
    def take(self, which: int) -> None:
        worker = self.worker(which)
        rows = worker.send("take_run", worker_id=worker.worker_id, only_waited_for=False)
        queued = self.in_state("queued")
        assert [row["run_id"] for row in rows] == sorted(queued)[:1]
        assert [row["is_last"] for row in rows] == [len(queued) == 1 for _ in rows]
        for row in rows:
            run = self.runs[row["run_id"]]
            if run.crashes == MOST_CRASHES:
                assert row["error_code"] == CRASHED
                run.status, run.attempt = "failed", run.attempt + 1
                continue
            assert row["must_be_alone"] == (run.crashes >= ALONE_FROM)
            started = worker.start(row["run_id"], is_alone=True) if row["must_be_alone"] else row
            assert started is not None
            self.reach(Rare.ALONE, row["must_be_alone"])
            assert started["attempt"] == run.attempt + 1
            run.status, run.attempt, run.owner, run.has_progress = "running", run.attempt + 1, worker, False

    def is_alive(self, worker: ManualWorker) -> bool:
        return bool(worker.value("note_heartbeat", worker_id=worker.worker_id, embedding_models=[]))

    @rule(which=ANY)
    @precondition(lambda self: self.held())
    def make_a_call(self, which: int) -> None:
        run_id = self.held()[which % len(self.held())]
        worker = self.runs[run_id].owner
        assert worker is not None
        self.texts += 1
        claimed = claim(worker, run_id, [text := f"text {self.texts}"])
        if self.paid + len(self.calls) < MAX_CALLS:
            self.calls[claimed.ours[text]] = (worker, run_id)
        elif self.calls:
            assert claimed.waiting == {text}
        else:
            assert set(claimed.refused) == {text}
            self.reach(Rare.REFUSED)

    def may_pay(self) -> bool:
        return bool(self.held()) and self.paid + len(self.calls) < MAX_CALLS

    @rule(which=ANY)
    @precondition(lambda self: self.may_pay())
    def pay_for_a_reply(self, which: int) -> None:
        self.make_a_call(which)
        self.end_a_call(len(self.calls) - 1, succeeds=True)

    @rule(which=ANY, succeeds=st.booleans())
    @precondition(lambda self: self.calls)
    def end_a_call(self, which: int, succeeds: bool) -> None:
        completion_id = list(self.calls)[which % len(self.calls)]
        worker, run_id = self.calls.pop(completion_id)
        if succeeds:
            store(worker, [completion_id], run_id=run_id)
            self.paid += 1
            self.runs[run_id].paid += 1
            self.runs[run_id].has_progress = True
            self.reach(Rare.LATE_REPLY, run_id not in self.in_state("queued", "running"))
        else:
            worker.give_back([completion_id])

    @rule(which=ANY, end=ENDS)
    @precondition(lambda self: self.held())
    def finish(self, which: int, end: tuple[str, str | None]) -> None:
        run_id = self.held()[which % len(self.held())]
        run = self.runs[run_id]
        assert run.owner is not None
        run.owner.finish(run_id, run.attempt, *end)
        self.end_attempt(run_id, end[0])

    @rule(which=ANY, end=ENDS)
    @precondition(lambda self: self.may_pay())
    def finish_before_a_reply(self, which: int, end: tuple[str, str | None]) -> None:
        self.make_a_call(which)
        self.finish(which, end)
        self.end_a_call(len(self.calls) - 1, succeeds=True)

    @rule(which=ANY)
    @precondition(lambda self: self.held())
    def put_back(self, which: int) -> None:
        run_id = self.held()[which % len(self.held())]
        run = self.runs[run_id]
        assert run.owner is not None
        run.owner.send("put_back_run", run_id=run_id, attempt=run.attempt, pause=None)
        self.end_attempt(run_id, "queued")

    @rule(which=ANY)
    @precondition(lambda self: self.runs)
    def cancel(self, which: int) -> None:
        run_id = list(self.runs)[which % len(self.runs)]
        is_open = run_id in self.in_state("queued", "running")
        assert bool(scalar(self.connection, "select pgclarify.cancel(array[%s]::bigint[])", run_id)) is is_open
        if is_open:
            run = self.runs[run_id]
            is_put_back = run.status == "queued" and run.attempt > 0
            self.reach(Rare.PUT_BACK_AND_CANCELLED, is_put_back and run.paid)
            self.reach(Rare.CANCELLED_IN_A_CALL, run_id in [call[1] for call in self.calls.values()])
            self.end_attempt(run_id, "cancelled")

    @rule(which=ANY, is_paid=st.booleans())
    @precondition(lambda self: self.may_pay())
    def cancel_with_a_call(self, which: int, is_paid: bool) -> None:
        """A run is cancelled while it makes a call, or after it was put back with a reply."""
        run_id = self.held()[which % len(self.held())]
        if is_paid:
            self.pay_for_a_reply(which)
            self.put_back(which)
        else:
            self.make_a_call(which)
        self.cancel(list(self.runs).index(run_id))

    @rule(which=ANY, is_killed=st.booleans())
    @precondition(lambda self: len(self.workers) > 1)
    def die(self, which: int, is_killed: bool) -> None:
        """A worker loses its session, or sends no heartbeat for longer than its lease."""
        worker = self.worker(which)
        if not is_killed:
            self.connection.execute(
                "update pgclarify_private.worker set seen_at = clock_timestamp() - lease where worker_id = %s",
                [worker.worker_id],
            )
            assert [self.is_alive(each) for each in self.workers] == [each is not worker for each in self.workers]
            if self.in_state("queued"):
                self.is_refused(
                    lambda: worker.send("take_run", worker_id=worker.worker_id, only_waited_for=False),
                    LOCK_NOT_AVAILABLE,
                )
            assert worker.value("requeue_lost_runs", worker_id=worker.worker_id) == 0
        worker.die()
        self.workers.remove(worker)
        self.calls = {key: call for key, call in self.calls.items() if call[0] is not worker}

    @rule(which=ANY)
    def take_over(self, which: int) -> None:
        worker, lost = self.worker(which), self.lost()
        assert worker.value("requeue_lost_runs", worker_id=worker.worker_id) == len(lost)
        for run_id in lost:
            run = self.runs[run_id]
            self.reach(Rare.LOST_AFTER_A_REPLY, run.crashes and run.has_progress)
            run.crashes = 0 if run.has_progress else run.crashes + 1
            self.end_attempt(run_id, "queued")

    @rule(which=ANY, times=st.integers(1, 3), pays=st.booleans())
    @precondition(lambda self: self.held())
    def crash_with_a_run(self, which: int, times: int, pays: bool) -> None:
        """A run is lost with its worker several times, perhaps after a reply, and another worker begins it again."""
        run_id = self.held()[which % len(self.held())]
        for time in range(times):
            if len(self.workers) == 1:
                self.start_a_worker()
            if time and pays and self.may_pay():
                self.pay_for_a_reply(self.held().index(run_id))
            owner = self.runs[run_id].owner
            assert owner is not None
            self.die(self.workers.index(owner), is_killed=True)
            self.take_over(0)
            while self.runs[run_id].status == "queued":
                self.take(0)
            if self.runs[run_id].status == "failed":
                return

    @rule(which=ANY)
    @precondition(lambda self: any(run.ended for run in self.runs.values()))
    def write_late(self, which: int) -> None:
        """An attempt that has ended changes nothing, even if its worker wakes up."""
        late = [(run_id, attempt) for run_id, run in self.runs.items() for attempt in run.ended]
        run_id, attempt = late[which % len(late)]
        worker = self.worker(which)
        self.is_refused(lambda: worker.finish(run_id, attempt), RUN_LOST)
        worker.send("put_back_run", run_id=run_id, attempt=attempt, pause=None)
        if self.runs[run_id].status not in ("queued", "running"):
            assert worker.start(run_id) is None

    def reach(self, what: Rare, is_so: object = True) -> None:
        if is_so:
            self.reached.add(what)

    def is_refused(self, action: Callable[[], object], sqlstate: str) -> None:
        with pytest.raises(psycopg.Error) as refused:
            action()
        assert refused.value.sqlstate == sqlstate

    @invariant()
    def each_run_has_one_state_and_at_most_one_owner(self) -> None:
        found = self.connection.execute(
            """
            select run_id, status, attempt, crashes, case when status = 'running' then worker_id end,
                finished_at is not null, completions
            from pgclarify_private.run
            """
        ).fetchall()
        assert {run_id: tuple(others) for run_id, *others in found} == {
            run_id: (
                run.status, run.attempt, run.crashes, None if run.owner is None else run.owner.worker_id,
                run.status not in ("queued", "running"), None if run.status in ("queued", "running") else run.paid,
            )
            for run_id, run in self.runs.items()
        }  # fmt: skip

    @invariant()
    def the_budget_reserves_the_calls_of_living_workers(self) -> None:
        assert status(self.connection)[1::2] == (self.paid, len(self.calls))

    def teardown(self) -> None:
        for worker in self.workers:
            worker.die()
        assert status(self.connection)[3] == 0


@pytest.mark.parametrize("rare", Rare)
def test_each_run_has_one_state_and_one_owner_whatever_happens(
    connection: Connection, make_worker: MakeWorker, rare: Rare
) -> None:
    machine: Any = partial(RunStates, connection, make_worker, rare)
    run_state_machine_as_test(
        machine,
        # Shrinking would take minutes.
        settings=settings(
            max_examples=4, phases=[Phase.generate], stateful_step_count=25, deadline=None, derandomize=True,
            database=None, suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
