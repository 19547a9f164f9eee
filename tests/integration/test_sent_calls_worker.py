"""What the endpoint got counts: in runs that are cut off, of workers that are killed, and when it fails."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.integration.spending import budget, price
from tests.openai_server import MODEL, Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import StartWorker, submit_many, until, wait, wait_until_searchable

pytestmark = pytest.mark.loaded

COUNTED = "select calls + reserved_calls from pgclarify.budget"
OF_RUNS = "select coalesce(sum(completions + unanswered_calls), 0) from pgclarify.run"


@pytest.fixture
def asked(database: str, connection: Connection, own_model: Server, run_worker: StartWorker) -> Connection:
    """A searchable corpus, a worker that makes 4 calls at once, and a budget of 25 calls."""
    run_worker(database, own_model.base_url, concurrency=4)
    wait_until_searchable(connection)
    price(connection, MODEL)
    budget(connection, max_calls=25)
    return connection


def ask(connection: Connection, question: str, **limits: Any) -> str | None:
    """Ask, and return the SQLSTATE that it ends with; None if it succeeds."""
    try:
        with connection.transaction():
            connection.execute(f"set local statement_timeout = {limits.get('milliseconds', 0)}".encode())
            connection.execute("select * from pgclarify.clarify(%s)", [question])
    except psycopg.Error as error:
        return error.sqlstate
    return None


def test_a_loop_of_calls_that_time_out_stops_at_its_budget(asked: Connection, own_model: Server) -> None:
    own_model.latency = 0.1

    ends = {ask(asked, f"deductible {number}", milliseconds=250) for number in range(10)}
    until(lambda: own_model.in_flight == 0)
    until(lambda: scalar(asked, "select reserved_calls from pgclarify.budget") == 0)

    assert "57014" in ends, "a call was cut off"
    assert own_model.calls <= 25
    assert scalar(asked, COUNTED) == own_model.calls
    assert scalar(asked, OF_RUNS) == own_model.calls


def test_a_cancelled_run_keeps_the_replies_to_its_calls_in_flight(asked: Connection, own_model: Server) -> None:
    asked.execute("delete from pgclarify_private.budget")
    own_model.latency = 1.0
    (run_id,) = submit_many(asked, 1)
    until(lambda: own_model.in_flight == 4)

    asked.execute("select pgclarify.cancel(array[%s::bigint])", [run_id])
    until(lambda: own_model.in_flight == 0)
    until(lambda: scalar(asked, "select unanswered_calls = 0 from pgclarify.run where run_id = %s", run_id))
    own_model.latency = 0.0

    assert wait(asked, submit_many(asked, 1)) == ["succeeded"]
    assert own_model.stats["repeated_inputs"] == 0
    assert scalar(asked, OF_RUNS) == own_model.calls == 6


def test_calls_of_a_cancelled_run_give_their_turns_to_a_run_that_needs_them(
    asked: Connection, own_model: Server
) -> None:
    own_model.behavior = lambda chat: by_rules(chat) if "question 0" not in chat.user else Reply(hangs=True)
    (run_id,) = submit_many(asked, 1, "what about question", top_k=1)
    until(lambda: own_model.in_flight == 1)
    asked.execute("select pgclarify.cancel(array[%s::bigint])", [run_id])

    def hang_at_verdicts(chat: Chat) -> Reply:
        return Reply(hangs=True) if "another" in chat.user and chat.purpose == "verdict" else by_rules(chat)

    own_model.behavior = hang_at_verdicts
    (other,) = submit_many(asked, 1, "another")
    until(lambda: own_model.in_flight == 4)
    asked.execute("select pgclarify.cancel(array[%s::bigint])", [other])
    own_model.behavior = by_rules

    assert wait(asked, submit_many(asked, 1, "third")) == ["succeeded"]
    # One of four turns stays with the calls that were left. The others were cut off, and count.
    assert own_model.in_flight == 1
    assert scalar(asked, COUNTED) == own_model.calls


@pytest.mark.parametrize(("status", "is_charged"), [(503, False), (500, True)])
def test_an_outage_does_not_drain_a_budget(asked: Connection, own_model: Server, status: int, is_charged: bool) -> None:
    own_model.behavior = lambda _: Reply.error(status)

    assert ask(asked, "deductible") == "PC003"

    assert own_model.calls > 1
    assert scalar(asked, COUNTED) == (own_model.calls if is_charged else 0)
    assert scalar(asked, OF_RUNS) == (own_model.calls if is_charged else 0)


def test_calls_of_killed_workers_count(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    alive = run_worker(database, own_model.base_url, concurrency=4)
    wait_until_searchable(connection)
    price(connection, MODEL)
    budget(connection, max_calls=1000)
    own_model.latency = 600.0
    # All calls have a turn. Those that wait for one may be counted before they are sent.
    run_ids = submit_many(connection, 2, top_k=2)
    until(lambda: own_model.in_flight == 4)
    alive.kill()
    until(lambda: own_model.in_flight == 0)
    own_model.latency = 0.0
    run_worker(database, own_model.base_url, concurrency=4)

    assert wait(connection, run_ids) == ["succeeded"] * 2
    assert own_model.stats["repeated_inputs"] == 4
    assert scalar(connection, COUNTED) == own_model.calls
    assert scalar(connection, OF_RUNS) == own_model.calls
