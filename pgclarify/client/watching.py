"""The script that watches a run until it is over. Its docstring is that of the client's method."""

from __future__ import annotations

from pgclarify.client.operations import WITH_VERDICTS
from pgclarify.client.parts import is_over
from pgclarify.client.records import Verdict
from pgclarify.client.rows import record
from pgclarify.client.runs import wait
from pgclarify.client.scripts import Session, Statement, Stream, interval, pace
from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import InputError, NotReady, RunTimeout

# Reads the state of a run once, without waiting.
_LOOK_SECONDS = 0.001


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
    limit = interval(timeout)
    began = session.clock()
    # It raises the errors for a run that does not exist, or that no worker can see yet.
    yield from wait(session, [run_id], timeout=_LOOK_SECONDS)
    seen: list[int] = []
    while True:
        rows = yield Statement("client_watch_run", {"run_id": run_id, "seen": seen})
        if rows and rows[0]["operation"] not in WITH_VERDICTS:
            raise NotReady(
                f"run {run_id} has no verdicts",
                detail=f"Its operation is {rows[0]['operation']}.",
                hint=f"Runs of {' and '.join(WITH_VERDICTS)} have verdicts.",
            )
        for row in rows:
            if row["rank"] is not None:
                seen.append(row["rank"])
                yield record(Verdict, row)
        if not rows or is_over(RunStatus(rows[0]["status"])):
            return
        if session._is_in_transaction and rows[0]["isolation"] in ("repeatable read", "serializable"):
            raise InputError(
                f"run {run_id} cannot be watched from here",
                detail=f"The connection is in a {rows[0]['isolation']} transaction, whose snapshot does not change.",
                hint="Watch it outside a transaction.",
            )
        elapsed = session.clock() - began
        if limit is not None and elapsed >= limit.total_seconds():
            raise RunTimeout(
                f"the run was not over within {limit}",
                detail=f"Run {run_id} continues.",
                hint="Watch it again, or wait.",
                run_ids=[run_id],
            )
        yield pace(elapsed)
