"""Runs that another session has locked while replies come: nothing else waits, and each payment is counted."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from tests.integration.by_hand import Connect, Connection, HandWorker, Hire, scalar
from tests.integration.spending import budget, claim, enter, price, status

COST = Decimal("0.00014")


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    """A worker with a short lock timeout, and prices."""
    hired = hire()
    hired.connection.execute("set lock_timeout = '500ms'")
    price(connection)
    connection.execute("select pgclarify.create_corpus('one'), pgclarify.create_corpus('two')")
    return hired


def store_both(worker: HandWorker, calls: dict[int, int]) -> None:
    """Store a reply of each run in one statement; calls: rows of the ledger by runs."""
    worker.send(
        "store_completions",
        worker_id=worker.worker_id,
        completions=json.dumps(
            [
                {
                    "completion_id": completion_id,
                    "run_id": run_id,
                    "reply": "said",
                    "prompt_tokens": 40,
                    "leased_until": worker.leases[completion_id].isoformat(),
                    "completion_tokens": 10,
                    "latency_ms": 1.0,
                }
                for run_id, completion_id in calls.items()
            ]
        ),
    )


@pytest.mark.parametrize("settled_by", ["the worker", "the job"])
def test_replies_are_kept_and_counted_while_somebody_drops_a_corpus(
    connection: Connection, connect: Connect, worker: HandWorker, settled_by: str
) -> None:
    budget(connection, max_calls=100)
    cancelled, going_on = enter(connection, corpus="one"), enter(connection, corpus="two")
    worker.start(cancelled)
    calls = {run_id: claim(worker, run_id, [f"{run_id}"]).ours[f"{run_id}"] for run_id in (cancelled, going_on)}
    connection.execute("select pgclarify.cancel(array[%s]::bigint[])", [cancelled])
    with connect() as dropping, dropping.transaction():
        dropping.execute("select pgclarify.drop_corpus('one')")
        store_both(worker, calls)
        assert status(connection)[1] == 2
        replies = "select count(*) from pgclarify_private.completion where reply is not null"
        assert scalar(connection, replies) == 2

    paid = "select cost_usd from pgclarify.run where run_id = %s"
    assert scalar(connection, paid, cancelled) == 0
    if settled_by == "the worker":
        worker.send("settle_runs", run_ids=[cancelled])
    else:
        # It waited too long, so the job was put back.
        assert worker.start(cancelled) is None
    assert scalar(connection, paid, cancelled) == COST
