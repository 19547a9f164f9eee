"""Processes and serving workers: a process that only leases replies does not count as a worker for callers."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from pgclarify.database.presence import Presence
from tests.integration.by_hand import (
    MAKE_OPEN_CORPUS,
    Connect,
    Connection,
    HandWorker,
    Hire,
    MakeRole,
    scalar,
    state_of,
)
from tests.integration.explaining import explained


@pytest.fixture
def idle(connect: Connect, make_role: MakeRole) -> HandWorker:
    """A process with a language model that leases replies but serves no runs."""
    return HandWorker(connect(make_role("pgclarify_worker")), provider="openai", is_serving=False)


@pytest.fixture
def corpus(connection: Connection) -> Connection:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    return connection


def test_a_caller_does_not_wait_for_a_process_that_only_leases(corpus: Connection, idle: HandWorker) -> None:
    assert state_of(corpus, "select * from pgclarify.clarify('rental cars')") == "PC001"


def test_a_process_that_only_leases_is_not_in_worker_status(
    connection: Connection, idle: HandWorker, hire: Hire
) -> None:
    assert scalar(connection, "select count(*) from pgclarify.worker_status") == 0
    worker = hire()
    assert connection.execute("select worker_id from pgclarify.worker_status where is_alive").fetchall() == [
        (worker.worker_id,)
    ]


def test_explain_says_that_nobody_serves(corpus: Connection, idle: HandWorker) -> None:
    run_id = scalar(corpus, "select pgclarify.submit('clarify', 'rental cars')")
    assert "none is running" in explained(corpus, run_id)


def test_no_run_is_left_to_its_language_model(corpus: Connection, idle: HandWorker, hire: Hire) -> None:
    worker = hire()
    worker.index_everything()
    run_id = scalar(corpus, "select pgclarify.submit('investigate', 'rental cars')")
    assert worker.send("start_run", run_id=run_id, worker_id=worker.worker_id, is_alone=False)


def test_its_leases_hold_while_it_lives(corpus: Connection, idle: HandWorker, hire: Hire) -> None:
    worker = hire()

    def claim(of: HandWorker) -> bool:
        (row,) = of.claim_calls(None, ["asked"])
        return bool(row["is_ours"])

    assert claim(idle)
    assert not claim(worker)
    idle.die()
    assert claim(worker)


@pytest.mark.parametrize("is_serving", [True, False])
async def test_presence_says_whether_it_serves(database: str, is_serving: bool) -> None:
    async with Presence.enter(
        database, version="0", provider="openai", model="a-model", prompt_version="v1", is_serving=is_serving
    ):
        with closing(psycopg.connect(database)) as connection:
            assert scalar(connection, "select is_serving from pgclarify_private.worker") is is_serving
