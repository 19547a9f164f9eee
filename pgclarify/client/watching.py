"""Scripts that watch a run while it goes on. The docstrings are those of the client's methods."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pgclarify.client.asking import wait
from pgclarify.client.records import Row, Step, Verdict, is_over, read_step, read_verdict
from pgclarify.client.scripts import Session, Statement, Stream, interval, pace
from pgclarify.errors import InputError, NotReady, RunTimeout
from pgclarify.vocabulary import RunStatus

T = TypeVar("T")

# A look at how a run stands, rather than a wait.
_LOOK_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class _Watched:
    """What there is to see of a run.

    Attributes:
        what: In the plural.
        operations: Of which runs.
        statement: Takes run_id and the keys already seen; one row at least if the run may be seen, with key null if
            there is nothing new.
        key: Column that tells what has been seen.
    """

    what: str
    operations: tuple[str, ...]
    statement: str
    key: str


_VERDICTS = _Watched("verdicts", ("clarify", "consolidate"), "client_watch_run", "rank")
_STEPS = _Watched("steps", ("investigate",), "client_watch_investigation", "ordinal")


def verdicts(session: Session, /, run_id: int, *, timeout: float | None = 60.0) -> Stream[Verdict]:
    """Watch a run: its verdicts as they land, until it is over.

    Looks again and again, in short statements; nothing is held open in between. How the run ended is for wait or
    result to say.

        run_id = client.submit("rental cars")
        for verdict in client.verdicts(run_id):
            print(verdict.rank, verdict.outcome, verdict.answer)
        readings = client.result(run_id)

    Args:
        run_id: From submit, committed, or any run that you may see.
        timeout: Seconds to watch; None means until it is over, however long that takes.

    Returns:
        An iterator over verdicts; each passage once, in the order in which they were decided.

    Raises:
        NotFound: If there is no such run, or none that you may see.
        NotReady: If such a run has no verdicts.
        NotCommitted: If it was submitted in a transaction that is still open.
        InputError: If the connection is in a transaction that cannot see the run go on.
        RunTimeout: If the time is up; the run goes on.
    """
    return _watch(session, run_id, timeout, _VERDICTS, read_verdict)


def steps(session: Session, /, run_id: int, *, timeout: float | None = 300.0) -> Stream[Step]:
    """Watch an investigation: its steps as they land, until it is over.

    Looks again and again, as verdicts does.

        run_id = client.submit_investigation("Who owns the company that insures the rental cars?")
        for step in client.steps(run_id):
            print(step.question, step.outcome, step.answer)
        found = client.investigation(run_id)

    Args:
        run_id: From submit_investigation, committed, or any run that you may see.
        timeout: Seconds to watch; None means until it is over, however long that takes.

    Returns:
        An iterator over steps, in order; the conclusion is the last one, if it comes to one.

    Raises:
        NotFound: If there is no such run, or none that you may see.
        NotReady: If it is no investigation.
        NotCommitted: If it was submitted in a transaction that is still open.
        InputError: If the connection is in a transaction that cannot see the run go on.
        RunTimeout: If the time is up; the run goes on.
    """
    return _watch(session, run_id, timeout, _STEPS, read_step)


def _watch(
    session: Session, run_id: int, timeout: float | None, watched: _Watched, read: Callable[[Row], T]
) -> Stream[T]:
    """Yield what a statement finds of a run, until that is over.

    Args:
        session: The client.
        run_id: The run.
        timeout: Seconds; None means without end.
        watched: What there is to see.
        read: Makes a record of a row.
    """
    limit = interval(timeout)
    began = time.monotonic()
    # For its errors: a run that does not exist, or that no worker can see yet.
    yield from wait(session, [run_id], timeout=_LOOK_SECONDS)
    seen: list[int] = []
    while True:
        rows = yield Statement(watched.statement, {"run_id": run_id, "seen": seen})
        if rows and rows[0]["operation"] not in watched.operations:
            raise NotReady(
                f"run {run_id} has no {watched.what}",
                detail=f"Its operation is {rows[0]['operation']}.",
                hint=f"Those of {' and '.join(watched.operations)} have {watched.what}.",
            )
        for row in rows:
            if row[watched.key] is not None:
                seen.append(row[watched.key])
                yield read(row)
        if not rows or is_over(RunStatus(rows[0]["status"])):
            return
        if session.is_in_transaction and rows[0]["isolation"] in ("repeatable read", "serializable"):
            raise InputError(
                f"run {run_id} cannot be watched from here",
                detail=f"The connection is in a {rows[0]['isolation']} transaction, whose snapshot does not move on.",
                hint="Watch it outside of a transaction.",
            )
        elapsed = time.monotonic() - began
        if limit is not None and elapsed >= limit.total_seconds():
            raise RunTimeout(
                f"the run was not over within {limit}",
                detail=f"Run {run_id} goes on.",
                hint="Watch it again, or wait.",
                run_ids=[run_id],
            )
        yield pace(elapsed)
