"""A role that may only connect fills the queue of notifications: which runs are submitted, and how late they start."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg

from benchmarks.faults.stage import CORPUS, TOP_K, Stage, staged
from pgclarify import embedded

RUNS = 1000
# Runs that are submitted one by one, each to a worker without work.
_SINGLES = 20
_BOUND_SECONDS = 600.0
_SUBMIT = "select pgclarify.submit('clarify', %s, %s, jsonb_build_object('top_k', %s::integer))"
# PostgreSQL 17 and later. With the default of 8 GB, it takes the role minutes to fill the queue.
_SMALL = "alter system set max_notify_queue_pages = 64"
_DELAYS = """
    select
        count(*), count(*) filter (where status = 'succeeded'),
        coalesce(percentile_cont(array[0.5, 0.95, 1]) within group (
            order by extract(epoch from started_at - created_at)::float8
        ), '{}')
    from pgclarify_private.run where run_id = any(%s)
"""


def measure(runs: int = RUNS) -> bool:
    """Print, with an empty and with a full queue, how many submissions pass and after how long their runs start.

    Returns:
        Whether all submissions have passed, and all runs have succeeded.
    """
    with staged() as stage:
        stage.query(_SMALL)
        stage.query("create role stranger login password 'stranger'")
        embedded.stop(stage.data_dir)
        embedded.start(stage.data_dir)
        stage.crew.hire(stage.dsn)
        passed = _measure(stage, runs, "empty")
        with _full(stage):
            passed &= _measure(stage, runs, "full")
        return passed


@contextmanager
def _full(stage: Stage) -> Iterator[None]:
    with closing(_stranger(stage)) as holding, closing(_stranger(stage)) as filling:
        for statement in ("listen anything", "begin", "select"):
            holding.execute(statement)
        try:
            while True:
                filling.execute("select pg_notify('anything', %s)", [str(time.perf_counter_ns()).ljust(7900, "x")])
        except psycopg.errors.ProgramLimitExceeded:
            yield


def _stranger(stage: Stage) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(stage.dsn, user="stranger", password="stranger", autocommit=True)  # noqa: S106


def _measure(stage: Stage, runs: int, name: str) -> bool:
    ((usage,),) = stage.query("select pg_notification_queue_usage()")
    print(f"queue of notifications {name}: {usage:.0%}", flush=True)
    one_by_one: list[int] = []
    for number in range(_SINGLES):
        one_by_one += [stage.query(_SUBMIT, f"{name}: alone {number}", CORPUS, TOP_K)[0][0]]
        stage.wait(one_by_one, _BOUND_SECONDS)
    refused = 0
    together: list[int] = []
    began = time.perf_counter()
    with closing(psycopg.connect(stage.dsn, autocommit=True)) as connection:
        for number in range(runs):
            try:
                row = connection.execute(_SUBMIT, [f"{name}: {number}", CORPUS, TOP_K]).fetchone()
                assert row is not None
                together.append(row[0])
            except psycopg.Error as error:
                refused += 1
                if refused == 1:
                    print(f"    refused: {error.sqlstate} {error.diag.message_primary}")
    print(f"    {runs} submissions in {time.perf_counter() - began:.1f} s, {refused} refused", flush=True)
    all_over = stage.wait(together, _BOUND_SECONDS)
    passed = not refused and all_over
    for kind, run_ids in (("alone", one_by_one), ("together", together)):
        ((count, succeeded, delays),) = stage.query(_DELAYS, run_ids)
        shown = ", ".join(f"{delay:.3f}" for delay in delays)
        print(f"    {kind}: {succeeded} of {count} succeeded; started after p50, p95, max: {shown} s", flush=True)
        passed &= bool(count == succeeded)
    return passed
