"""Two workers, and the network of one stops: how soon the other takes over its runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack

from benchmarks.faults.accounts import ENDS
from benchmarks.faults.stage import Stage, staged
from tests.integration.partitioning import network

_RUNS = 24
# The network stops when the worker has this many runs.
_HELD = 4
_LATENCY = 2.0
BOUND_SECONDS = 240.0
# How long to watch for writes of the first worker after its network is back.
_AFTERWARDS_SECONDS = 30.0
_HOLDERS = "select run_id, worker_id, status from pgclarify.run where run_id = any(%s)"
# Counts that are kept outside the run may change after its end.
_WRITTEN = """
    select
        (
            select md5(string_agg(concat_ws('|', run_id, status, attempt, worker_id, finished_at), ',' order by run_id))
            from pgclarify.run where run_id = any(%s)
        ),
        (
            select md5(string_agg(concat_ws('|', run_id, rank, passage_id), ',' order by run_id, rank))
            from pgclarify.candidate where run_id = any(%s)
        ),
        (
            select md5(string_agg(concat_ws('|', run_id, rank, answer, quote), ',' order by run_id, rank))
            from pgclarify.verdict where run_id = any(%s)
        ),
        (
            select md5(string_agg(concat_ws('|', completion_id, md5(reply), finished_at), ',' order by completion_id))
            from pgclarify_private.completion where run_id = any(%s)
        )
"""


def measure(bound: float = BOUND_SECONDS) -> bool:
    """Print the time of the takeover, the writes of the first worker afterwards, and the calls that were paid.

    Args:
        bound: Seconds to wait for the takeover.

    Returns:
        Whether all runs have succeeded, and nothing was written by the first worker or paid for twice.
    """
    with staged() as stage, ExitStack() as stack:
        way, dsn_through_it = stack.enter_context(network(stage.dsn))
        stage.endpoint.latency = _LATENCY
        first = stage.crew.hire(dsn_through_it)
        ((first_id,),) = stage.query("select worker_id from pgclarify.worker_status where is_alive")
        stage.crew.hire(stage.dsn)
        stage.begin()
        run_ids = stage.ask([f"partition: question {number}" for number in range(_RUNS)])
        _until(lambda: len(_held(stage, run_ids, first_id)) >= _HELD)
        way.part()
        began = time.perf_counter()
        held = _held(stage, run_ids, first_id)
        taken: dict[int, float] = {}

        def all_taken() -> bool:
            for run_id, worker_id, status in stage.query(_HOLDERS, held):
                if worker_id != first_id or status in ENDS:
                    taken.setdefault(run_id, time.perf_counter() - began)
            return len(taken) == len(held)

        print(f"{len(run_ids)} runs, {len(held)} of them in the hands of the worker that is cut off", flush=True)
        if not _until(all_taken, bound):
            print(f"NOT TAKEN OVER within {bound:.0f} s: {len(held) - len(taken)} runs")
        if taken:
            print(f"taken over after {min(taken.values()):.1f} to {max(taken.values()):.1f} s")
        all_over = stage.wait(run_ids, bound)
        print(f"all runs over: {all_over}, {time.perf_counter() - began:.1f} s after the cut", flush=True)
        before = _written(stage, run_ids)
        way.heal()
        time.sleep(_AFTERWARDS_SECONDS)
        after = _written(stage, run_ids)
        names = ("runs", "candidates", "verdicts", "completions")
        changed = [name for name, old, new in zip(names, before, after, strict=True) if old != new]
        account = stage.account(run_ids)
        print(f"changed in the {_AFTERWARDS_SECONDS:.0f} s after the network was back: {changed or 'nothing'}")
        print(f"the first worker is still there: {first.process.is_alive()}")
        print(
            f"runs: {dict(account.states)}; calls {account.calls}, stored {account.stored},"
            f" paid twice {account.paid_twice}, answered in vain {account.in_vain}"
        )
        for line in account.twice[:10]:
            print(f"    paid twice: {line}", flush=True)
        for count, error in stage.errors(run_ids):
            print(f"    {count} failed: {error}")
        return all_over and account.states.get("succeeded") == _RUNS and not changed and not account.paid_twice


def _held(stage: Stage, run_ids: list[int], worker_id: int) -> list[int]:
    """The runs that a worker carries out."""
    holders = stage.query(_HOLDERS, run_ids)
    return [run_id for run_id, holder, status in holders if holder == worker_id and status == "running"]


def _written(stage: Stage, run_ids: list[int]) -> tuple[str, ...]:
    (row,) = stage.query(_WRITTEN, *[run_ids] * 4)
    return row


def _until(what: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True
