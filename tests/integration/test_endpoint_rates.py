"""The rate at which all workers together call an endpoint, in the database."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from itertools import chain, pairwise
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from pgclarify.database.queries import statement
from tests.openai_server import Server
from tests.rate_limited import Limited
from tests.sessions import Connect, Connection, scalar
from tests.workers import wait

pytestmark = pytest.mark.rolled_back


def book(
    connection: Connection, tokens: float, more: Mapping[str, float] | None = None, *, endpoint: str = "an endpoint"
) -> float:
    """Book seconds of a limit of tokens, and return the seconds until they may be sent.

    Args:
        connection: A worker's.
        tokens: The seconds.
        more: What else is passed to the statement, in seconds.
        endpoint: The endpoint.
    """
    empty = dict.fromkeys([f"{unit}_{name}" for unit in ("requests", "tokens") for name in ("accepted", "spare")])
    seconds = {"tokens_time": tokens, "requests_time": 0.0, **(more or {})}
    times = {name: timedelta(seconds=value) for name, value in seconds.items()}
    parameters = {"endpoint": endpoint, **empty, **times}
    with connection.cursor(row_factory=dict_row) as cursor:
        (row,) = cursor.execute(statement("book_endpoint", parameters), parameters).fetchall()
    wait: timedelta = row["result"]
    return wait.total_seconds()


@pytest.mark.committed
def test_sessions_that_book_at_once_get_one_time_after_the_other(connect: Connect) -> None:
    def book_many(connection: Connection) -> list[float]:
        return [book(connection, 10.0) for _ in range(20)]

    with closing(connect()) as first, closing(connect()) as second, ThreadPoolExecutor(2) as pool:
        waits = sorted(chain.from_iterable(pool.map(book_many, (first, second))))
        after = book(first, 0.0)
    # They start ten seconds apart; the first one at once.
    assert waits[0] <= 0
    assert all(8 < later - earlier < 12 for earlier, later in pairwise(waits))
    assert 390 < after <= 400


@pytest.mark.committed
def test_a_session_that_is_killed_while_it_books_leaves_no_lock(connect: Connect) -> None:
    with closing(connect()) as killed, closing(connect()) as other:
        book(killed, 1.0)
        killed.execute("begin")
        book(killed, 1.0)
        other.execute("select pg_terminate_backend(%s::integer, 10000)", [killed.info.backend_pid])
        assert book(other, 1.0) < 1


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, (0, 9.5, 19.5)),
        # The endpoint must be left alone, or has room; the other limit counts, too.
        ({"tokens_accepted": -20}, (20, 30, 40)),
        ({"requests_accepted": -30, "tokens_accepted": 5}, (30, 30, 30)),
        ({"tokens_accepted": 40}, (0, 9.5, 19.5)),
        # It can be sent more at once, but not against what it says of the same or the other limit.
        ({"tokens_spare": 15}, (0, 0, 5)),
        ({"tokens_spare": 15, "tokens_accepted": 5}, (0, 5, 15)),
        ({"tokens_spare": 15, "requests_accepted": -3}, (3, 3, 5)),
    ],
)
def test_limits_are_learnt_from_headers(connect: Connect, more: dict[str, float], expected: tuple[float, ...]) -> None:
    with closing(connect()) as connection:
        waits = [book(connection, 10.0, more) for _ in range(3)]
        assert book(connection, 10.0, endpoint="another endpoint") <= 0
    assert [max(wait, 0) for wait in waits] == pytest.approx(expected, abs=1)


def test_runs_of_a_worker_stay_below_a_limit_that_it_learns_from_headers(
    asker: psycopg.Connection[Any], superuser: psycopg.Connection[Any], model: Server
) -> None:
    # Nearly used up at the start: without a limit of its own, the worker gets 429 within its first second.
    limits = Limited(240_000, share=0.02)
    model.behavior = limits.behavior()
    questions = [f"limited {number}" for number in range(3)]
    run_ids = scalar(asker, "select pgclarify.submit_many('clarify', %s)", questions)
    assert wait(asker, run_ids) == ["succeeded"] * 3
    assert len(limits.accepted) > 24
    assert limits.refused == 0
    # What the runs waited for is in their stages, which explain shows.
    notes = "select count(note) from pgclarify_private.stage where run_id = any(%s) and name = 'judgement'"
    assert scalar(superuser, notes, run_ids) > 0
