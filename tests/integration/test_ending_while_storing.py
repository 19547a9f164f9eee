"""A run ends while its last replies are being stored on another connection, and costs what they cost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pgclarify.database.queries import statement
from tests.integration.manual_worker import MakeWorker
from tests.integration.spending import claim, enter, price, store
from tests.sessions import Connect, Connection, scalar
from tests.workers import until


def test_the_end_of_a_run_waits_for_replies_that_are_being_stored(
    connection: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    price(connection)
    run_id = enter(connection)
    worker = make_worker()
    run = worker.start(run_id)
    assert run is not None
    ours = list(claim(worker, run_id, ["a", "b"], sent_at_once=2).ours.values())
    ending: dict[str, Any] = {
        "run_id": run_id,
        "attempt": run["attempt"],
        "status": "succeeded",
        **dict.fromkeys(("error", "error_code", "stop_reason", "stop_code", "budget_id")),
        **dict.fromkeys(("verdicts", "interpretations", "stages"), "[]"),
        "replies": ours,
    }
    other = connect()
    with ThreadPoolExecutor(1) as thread:
        worker.connection.execute("begin")
        store(worker, ours, run_id=run_id)
        ended = thread.submit(other.execute, statement("finish_run", ending), ending)
        until(
            lambda: scalar(
                connection,
                "select wait_event = 'PgSleep' from pg_stat_activity where pid = %s",
                other.info.backend_pid,
            )
        )
        worker.connection.execute("commit")
        ended.result()
    assert scalar(connection, "select completions from pgclarify.run where run_id = %s", run_id) == 2
