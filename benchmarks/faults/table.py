"""Twenty faults, with many runs under each: the results of the runs, and their cost."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import contextmanager
from threading import Event, Thread

from benchmarks.faults.accounts import Account
from benchmarks.faults.catalog import FAULTS, Disturbance, Fault
from benchmarks.faults.endpoint import Spoiling
from benchmarks.faults.stage import Stage, staged

BOUND_SECONDS = 300.0
_COLUMNS = (
    "fault", "succeeded", "partial", "failed", "open", "lost", "s", "calls", "counted", "stored", "retries",
    "paid twice", "in vain", "peak MB",
)  # fmt: skip
_WIDTHS = (32, 9, 7, 6, 4, 4, 5, 5, 7, 6, 7, 10, 7, 7)


def measure(runs: int, only: str = "", bound: float = BOUND_SECONDS) -> None:
    """Print a row for each fault, with the reasons of failed runs below.

    Args:
        runs: Runs under each fault.
        only: Faults whose names contain this; all if it is empty.
        bound: Seconds after which an unfinished run is given up.
    """
    _print_row(_COLUMNS)
    print("|".join(["", *("-" * (width + 2) for width in _WIDTHS), ""]), flush=True)
    with staged() as stage:
        for fault in FAULTS:
            if only in fault.name:
                _suffer(stage, fault, runs, bound)


def _suffer(stage: Stage, fault: Fault, runs: int, bound: float) -> None:
    crew, endpoint = stage.crew, stage.endpoint
    crew.peak_megabytes = 0.0
    for _ in range(fault.workers):
        crew.hire(stage.dsn)
    endpoint.latency, endpoint.spoiling = fault.latency, Spoiling(fault.replies, fault.share)
    stage.begin()
    started = time.perf_counter()
    run_ids = stage.ask([f"{fault.name}: question {number}" for number in range(runs)])
    with disturbed(stage, fault.disturb):
        stage.wait(run_ids, bound)
        seconds = time.perf_counter() - started
    endpoint.latency, endpoint.spoiling = 0.0, Spoiling()
    account = stage.account(run_ids)
    _print_row(_cells(fault, account, seconds, crew.peak_megabytes))
    for line in account.twice[:10]:
        print(f"    paid twice: {line}", flush=True)
    for count, error in stage.errors(run_ids):
        print(f"    {count} failed: {error}", flush=True)
    if account.still_open:
        stage.query("select pgclarify.cancel(%s::bigint[])", run_ids)
    crew.dismiss()


@contextmanager
def disturbed(stage: Stage, disturb: Disturbance | None):
    """Disturb during the block; afterwards everything is restored."""
    if disturb is None:
        yield
        return
    over = Event()
    trouble = Thread(target=disturb, args=(stage, over))
    trouble.start()
    try:
        yield
    finally:
        over.set()
        trouble.join()


def _cells(fault: Fault, account: Account, seconds: float, megabytes: float) -> list[object]:
    return [
        fault.name, *(account.states.get(state, 0) for state in ("succeeded", "partial", "failed")),
        account.still_open, account.lost, f"{seconds:.0f}", account.calls, account.counted, account.stored,
        account.retries, account.paid_twice, account.in_vain, f"{megabytes:.0f}",
    ]  # fmt: skip


def _print_row(cells: Iterable[object]) -> None:
    shown = (
        f"{cell!s:<{width}}" if place == 0 else f"{cell!s:>{width}}"
        for place, (cell, width) in enumerate(zip(cells, _WIDTHS, strict=True))
    )
    print("| " + " | ".join(shown) + " |", flush=True)
