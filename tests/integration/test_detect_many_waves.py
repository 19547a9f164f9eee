"""Many questions in waves: the results if a run fails, after a timeout, and after a cancellation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import Connection, scalar
from tests.integration.conversing import rows
from tests.integration.explaining import Desk, desk
from tests.integration.explaining_dialogue import detection, record
from tests.workers import until

__all__ = ["desk"]

# Three runs, with at most five hundred questions each.
QUESTIONS = [f"What is number {number}?" for number in range(1200)]
RUNS = 3
MANY = "select * from pgclarify.detect_ambiguity_many(%s, %s) order by question_ordinal"
UNSTARTED = "select run_id from pgclarify.run where status = 'queued' order by run_id"


@pytest.fixture
def waves(desk: Desk) -> Desk:
    """A session in which a wave is one run."""
    desk.owner.execute(
        "create or replace function pgclarify_private.questions_at_once() returns integer language sql"
        " immutable parallel safe"
        " set search_path = pg_catalog, pg_temp begin atomic select 500; end"
    )
    return desk


@pytest.fixture
def asking() -> Iterator[Callable[..., Future[list[dict[str, Any]]]]]:
    """Asks in a thread."""
    with ThreadPoolExecutor(1) as pool:

        def ask(connection: Connection, options: str = "{}") -> Future[list[dict[str, Any]]]:
            return pool.submit(rows, connection, MANY, QUESTIONS, options)

        yield ask


def next_run(desk: Desk) -> int:
    """The next run, which is the only pending one."""
    ((run_id,),) = until(lambda: desk.owner.execute(UNSTARTED).fetchall())
    return int(run_id)


def carry_out(desk: Desk, status: str = "succeeded") -> int:
    run_id = desk.start(next_run(desk))
    asked = json.loads(scalar(desk.owner, "select question from pgclarify.run where run_id = %s", run_id))
    found = [detection(place, question, 0.9, "lexical") for place, question in enumerate(asked, start=1)]
    record(desk, run_id, "detections", found)
    desk.worker.finish(run_id, status=status, error="it broke" if status == "failed" else None)
    return run_id


@pytest.mark.parametrize("level", ["read committed", "repeatable read"])
def test_come_in_order_of_the_questions(waves: Desk, asking: Any, level: str) -> None:
    waves.user.execute(f"set default_transaction_isolation to '{level}'".encode())
    coming = asking(waves.user)
    run_ids = [carry_out(waves) for _ in range(RUNS)]

    found = coming.result()
    assert [(row["question_ordinal"], row["question"]) for row in found] == list(enumerate(QUESTIONS, start=1))
    assert [row["run_id"] for row in found] == [run_ids[place // 500] for place in range(1200)]
    assert {row["status"] for row in found} == {"succeeded"}
    assert {row["kind"] for row in found} == {"lexical"}
    counts = "select settings -> 'questions' from pgclarify.run order by run_id"
    assert waves.owner.execute(counts).fetchall() == [(500,), (500,), (200,)]


@pytest.mark.parametrize("level", ["read committed", "repeatable read"])
@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_of_one_that_did_not_succeed_say_so_and_the_others_are_there(
    waves: Desk, asking: Any, status: str, level: str
) -> None:
    waves.user.execute(f"set default_transaction_isolation to '{level}'".encode())
    coming = asking(waves.user)
    carry_out(waves)
    if status == "failed":
        run_id = carry_out(waves, "failed")
    else:
        run_id = next_run(waves)
        waves.owner.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
    carry_out(waves)

    found = coming.result()
    assert [row["question"] for row in found] == QUESTIONS
    assert [row["status"] for row in found] == ["succeeded"] * 500 + [status] * 500 + ["succeeded"] * 200
    for row in found[500:1000]:
        assert [row[name] for name in ("run_id", "is_ambiguous", "probability", "kind", "reasons")] == [run_id] + [
            None
        ] * 4
    assert all(row["is_ambiguous"] for row in found[:500] + found[1000:])


@pytest.mark.wording
def test_a_timeout_says_what_is_done_and_how_to_read_it(waves: Desk, asking: Any) -> None:
    # With any duration of the first wave, the timeout comes after the second one is entered.
    waves.owner.execute(
        """
        create or replace function pgclarify_private.deadline(timeout interval) returns timestamptz language sql
        volatile
        set search_path = pg_catalog, pg_temp begin atomic
            select
                clock_timestamp()
                + case when exists (select from pgclarify.run) then interval '0' else deadline.timeout end;
        end
        """
    )
    coming = asking(waves.user, '{"timeout": "1h"}')
    first = carry_out(waves)
    second = next_run(waves)

    error = coming.exception()
    assert isinstance(error, psycopg.Error)
    assert error.sqlstate == "PC002"
    assert error.diag.message_detail == f"Of 1200 questions, 500 are done and 500 in hand. Run {second} goes on."
    hint = str(error.diag.message_hint)
    assert f"pgclarify.wait(array[{second}])" in hint
    assert hint.endswith("Ask again from question 1001 on.")
    done = re.search(r"What is done: (select .*ordinal)\.", hint)
    assert done is not None
    assert {row[0] for row in waves.user.execute(done[1].encode()).fetchall()} == {first}


@pytest.mark.wording
def test_a_timeout_of_the_first_wave_speaks_of_nothing_else(waves: Desk, asking: Any) -> None:
    error = asking(waves.user, '{"timeout": "10ms"}').exception()

    assert isinstance(error, psycopg.Error)
    assert str(error.diag.message_detail).startswith("Of 1200 questions, 0 are done and 500 in hand. Run ")
    assert "What is done" not in str(error.diag.message_hint)


def test_who_cancels_cancels_what_goes_on_and_enters_no_more(waves: Desk, asking: Any) -> None:
    coming = asking(waves.user)
    carry_out(waves)
    next_run(waves)
    waves.user.cancel()

    assert isinstance(coming.exception(), psycopg.errors.QueryCanceled)
    statuses = "select status from pgclarify.run order by run_id"
    assert waves.owner.execute(statuses).fetchall() == [("succeeded",), ("cancelled",)]
