"""Workers are killed while runs are submitted: each run ends, each call counts, and no reply is paid for twice."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from benchmarks.faults.accounts import ENDS
from benchmarks.faults.stage import Stage, staged

KILLS = 300
_WORKERS = 3
_LATENCY = 0.1
# Of a worker after it is ready: some are killed before their first call, most while they have calls in flight. A run
# that is interrupted too often fails, because it seems to be what kills workers.
_LIFE_SECONDS = (0.1, 4.0)
_BOUND_SECONDS = 600.0
# This many runs are open at any time, so that each worker has calls in flight when it is killed.
_OPEN = 24
# It admits all calls, and counts them.
_BUDGET = '{"period": "total", "max_calls": 1000000}'


def measure(kills: int = KILLS, passages_per_call: int = 1) -> bool:
    """Kill workers, print the results of the runs, and return whether each has succeeded and each call counts once."""
    with staged() as stage, ThreadPoolExecutor(_WORKERS) as pool:
        stage.endpoint.latency = _LATENCY
        stage.passages_per_call = passages_per_call
        stage.query("select pgclarify.set_budget('kills', options => %s)", _BUDGET)
        stage.begin()
        started = time.perf_counter()
        is_over = Event()
        killers = [pool.submit(_live_and_die, stage, kills // _WORKERS, is_over) for _ in range(_WORKERS)]
        run_ids: list[int] = []
        try:
            while not any(killer.done() for killer in killers):
                stage.crew.look()
                missing = _OPEN - sum(state not in ENDS for state in stage.states(run_ids).values())
                if missing > 0:
                    run_ids += stage.ask([f"killed: question {len(run_ids) + number}" for number in range(missing)])
                time.sleep(0.1)
        finally:
            is_over.set()
        done = sum(killer.result() for killer in killers)
        seconds = time.perf_counter() - started
        stage.crew.hire(stage.dsn)
        stage.wait(run_ids, _BOUND_SECONDS)
        account = stage.account(run_ids)
        print(f"{done} kills of {_WORKERS} workers in {seconds:.0f} s, {len(run_ids)} runs asked")
        print(f"runs: {dict(account.states)}, lost {account.lost}, open {account.still_open}")
        print(
            f"calls {account.calls}, stored {account.stored}, paid twice {account.paid_twice}, answered in vain"
            f" {account.in_vain} (in flight at a kill), peak {stage.crew.peak_megabytes:.0f} MB"
        )
        ((in_budget,),) = stage.query("select calls + reserved_calls from pgclarify.budget where name = 'kills'")
        print(
            f"counted by runs {account.counted}, in the budget {in_budget}; sent twice {account.sent_twice}, of"
            f" {account.cut_off + account.in_vain} in flight at a kill"
        )
        for line in account.twice[:10]:
            print(f"    paid twice: {line}", flush=True)
        for count, error in stage.errors(run_ids):
            print(f"    {count} failed: {error}")
        return (
            account.states.get("succeeded") == len(run_ids)
            and not account.paid_twice
            and account.calls <= min(account.counted, in_budget)
            and account.sent_twice <= account.cut_off + account.in_vain
        )


def _live_and_die(stage: Stage, most: int, is_over: Event) -> int:
    """Start a worker, kill it after a short time, and repeat; return how often."""
    for done in range(most):
        if is_over.is_set():
            return done
        member = stage.crew.hire(stage.dsn)
        time.sleep(random.uniform(*_LIFE_SECONDS))  # noqa: S311 - not for secrets
        stage.crew.kill(member)
    return most
