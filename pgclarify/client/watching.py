"""Scripts that watch a run until it is over. The docstrings are those of the client's methods."""

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

# Reads the state of a run once, without waiting.
_LOOK_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class _Watched:
    """What can be watched of a run.

    Attributes:
        what: Its name, in the plural.
        operations: The operations that have it.
        statement: Takes run_id and the keys that were seen. Returns at least one row if the run may be seen; key is
            null if there is nothing new.
        key: The column that identifies a row.
    """

    what: str
    operations: tuple[str, ...]
    statement: str
    key: str


_VERDICTS = _Watched("verdicts", ("clarify", "consolidate"), "client_watch_run", "rank")
_STEPS = _Watched("steps", ("investigate",), "client_watch_investigation", "ordinal")


def verdicts(session: Session, /, run_id: int, *, timeout: float | None = 60.0) -> Stream[Verdict]:
    """Watch a run: yield its verdicts as they arrive, until it is over.

    This polls with short statements; nothing is held open in between. wait or result say how the run ended.

        run_id = client.submit("clarify", "rental cars")
        for verdict in client.verdicts(run_id):
            print(verdict.rank, verdict.outcome, verdict.answer)
        readings = client.result(run_id)

    Args:
        run_id: From submit, committed, or any run that you may see.
        timeout: Seconds to watch; None watches until the run is over.

    Returns:
        An iterator over verdicts; each passage once, in the order of the decisions.

    Raises:
        NotFound: If the run does not exist, or you may not see it.
        NotReady: If the operation of the run has no verdicts.
        NotCommitted: If it was submitted in a transaction that is still open.
        InputError: If the connection is in a transaction whose snapshot does not change.
        RunTimeout: If the time is up; the run continues.
    """
    return _watch(session, run_id, timeout, _VERDICTS, read_verdict)


def steps(session: Session, /, run_id: int, *, timeout: float | None = 300.0) -> Stream[Step]:
    """Watch an investigation: yield its steps as they arrive, until it is over.

    This polls as verdicts does.

        run_id = client.submit("investigate", "Who owns the company that insures the rental cars?")
        for step in client.steps(run_id):
            print(step.question, step.outcome, step.answer)
        (found,) = client.result(run_id)

    Args:
        run_id: From submit_investigation, committed, or any run that you may see.
        timeout: Seconds to watch; None watches until the run is over.

    Returns:
        An iterator over steps, in order; a conclusion is the last one.

    Raises:
        NotFound: If the run does not exist, or you may not see it.
        NotReady: If it is not an investigation.
        NotCommitted: If it was submitted in a transaction that is still open.
        InputError: If the connection is in a transaction whose snapshot does not change.
        RunTimeout: If the time is up; the run continues.
    """
    return _watch(session, run_id, timeout, _STEPS, read_step)


def _watch(
    session: Session, run_id: int, timeout: float | None, watched: _Watched, read: Callable[[Row], T]
) -> Stream[T]:
    """Yield the rows that a statement finds of a run, until the run is over.

    Args:
        session: The client.
        run_id: The run.
        timeout: Seconds; None watches without limit.
        watched: What to watch.
        read: Makes a record of a row.
    """
    limit = interval(timeout)
    began = time.monotonic()
    # It raises the errors for a run that does not exist, or that no worker can see yet.
    yield from wait(session, [run_id], timeout=_LOOK_SECONDS)
    seen: list[int] = []
    while True:
        rows = yield Statement(watched.statement, {"run_id": run_id, "seen": seen})
        if rows and rows[0]["operation"] not in watched.operations:
            raise NotReady(
                f"run {run_id} has no {watched.what}",
                detail=f"Its operation is {rows[0]['operation']}.",
                hint=f"Runs of {' and '.join(watched.operations)} have {watched.what}.",
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
                detail=f"The connection is in a {rows[0]['isolation']} transaction, whose snapshot does not change.",
                hint="Watch it outside a transaction.",
            )
        elapsed = time.monotonic() - began
        if limit is not None and elapsed >= limit.total_seconds():
            raise RunTimeout(
                f"the run was not over within {limit}",
                detail=f"Run {run_id} continues.",
                hint="Watch it again, or wait.",
                run_ids=[run_id],
            )
        yield pace(elapsed)
