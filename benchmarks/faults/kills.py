"""Workers are killed again and again while runs are submitted: each run ends, and nothing is paid for twice."""

from __future__ import annotations

import itertools
import random
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

from benchmarks.faults.accounts import ENDS
from benchmarks.faults.stage import Stage, staged
from tests.workers import Worker

KILLS = 300
_WORKERS = 3
_LATENCY = 0.1
# The shortest life of a worker after it is ready.
_LEAST_LIFE_SECONDS = 0.1
MOST_LIFE_SECONDS = 3.0
_BOUND_SECONDS = 600.0
_MOST_WAIT_SECONDS = 30.0
# This many runs are open at any time.
_OPEN = 24


def measure(kills: int = KILLS, life: float = MOST_LIFE_SECONDS) -> bool:
    """Kill workers, and print the results of the runs.

    Args:
        kills: How many kills in all.
        life: Longest life of a worker after it is ready, in seconds. On a very slow machine this must be longer:
            a run that is interrupted too often fails, because it seems to be what kills workers.

    Returns:
        Whether each run has succeeded and nothing was lost or paid for twice.
    """
    with staged() as stage, ThreadPoolExecutor(_WORKERS) as pool:
        stage.endpoint.latency = _LATENCY
        stage.begin()
        started = time.perf_counter()
        counter = _Counter(kills)
        killers = [pool.submit(_live_and_die, stage, counter, life) for _ in range(_WORKERS)]
        for killer in killers:
            # An error in one thread ends all, and this one.
            killer.add_done_callback(lambda _: counter.spent.set())
        run_ids: list[int] = []
        try:
            while not counter.spent.wait(0.1):
                stage.crew.look()
                open_runs = sum(state not in ENDS for state in stage.states(run_ids).values())
                first = len(run_ids)
                if open_runs < _OPEN:
                    run_ids += stage.ask([f"killed: question {first + number}" for number in range(_OPEN - open_runs)])
        finally:
            counter.spent.set()
        for killer in killers:
            killer.result()
        asked_for = time.perf_counter() - started
        stage.crew.hire(stage.dsn)
        stage.wait(run_ids, _BOUND_SECONDS)
        account = stage.account(run_ids)
        print(f"{counter.done} kills of {_WORKERS} workers in {asked_for:.0f} s, {len(run_ids)} runs asked")
        print(f"runs: {dict(account.states)}, lost {account.lost}, open {account.still_open}")
        print(
            f"calls {account.calls}, stored {account.stored}, paid twice {account.paid_twice}, answered in vain"
            f" {account.in_vain} (in flight at a kill), peak {stage.crew.peak_megabytes:.0f} MB"
        )
        for line in account.twice[:10]:
            print(f"    paid twice: {line}", flush=True)
        for count, error in stage.errors(run_ids):
            print(f"    {count} failed: {error}")
        return account.states.get("succeeded") == len(run_ids) and not account.paid_twice


class _Counter:
    """Counts the kills that are left."""

    def __init__(self, kills: int) -> None:
        self.done = 0
        self.spent = Event()
        self._kills = kills
        self._lock = Lock()

    def count(self) -> None:
        with self._lock:
            self.done += 1
            if self.done % 20 == 0:
                print(f"{self.done} kills", flush=True)
            if self.done >= self._kills:
                self.spent.set()


def _live_and_die(stage: Stage, counter: _Counter, life: float) -> None:
    """Start a worker, kill it after a short time, and repeat."""
    turns = itertools.count()
    while not counter.spent.is_set():
        member = stage.crew.hire(stage.dsn)
        # Kill every other worker while its calls are in flight, if it gets there in time.
        if next(turns) % 2:
            _wait_for_call(stage, member)
            time.sleep(random.uniform(0, 2 * _LATENCY))  # noqa: S311 - not for secrets
        else:
            time.sleep(random.uniform(_LEAST_LIFE_SECONDS, life))  # noqa: S311
        stage.crew.kill(member)
        counter.count()


def _wait_for_call(stage: Stage, member: Worker) -> None:
    key, deadline = stage.crew.key_of(member), time.monotonic() + _MOST_WAIT_SECONDS
    while time.monotonic() < deadline and not any(call.caller == key for call in stage.calls[-100:]):
        time.sleep(0.05)
