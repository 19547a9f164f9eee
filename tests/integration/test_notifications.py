"""Each login may send notifications. With any content, workers follow the tables and keep listening."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.integration.held_replies import hold_replies
from tests.openai_server import Server
from tests.sessions import Connection, scalar
from tests.workers import Worker, submit_many, until, wait, wait_until_searchable

pytestmark = pytest.mark.loaded

LISTENERS = """
    select coalesce(array_agg(pid), '{}')
    from pg_stat_activity
    where datname = current_database() and application_name = 'pgclarify queue' and starts_with(lower(query), 'listen')
"""


@pytest.fixture
def stranger(connect: Callable[..., Connection], make_role: Callable[..., str]) -> Connection:
    """A login without any role of ours."""
    return connect(make_role())


@pytest.fixture
def listener(
    database: str, connection: Connection, own_model: Server, run_worker: Callable[..., Worker], stranger: Connection
) -> int:
    """The server process of the only worker's listening session. A corpus is loaded."""
    run_worker(database, own_model.base_url)
    wait_until_searchable(connection)
    until(lambda: scalar(connection, LISTENERS))
    (process_id,) = scalar(connection, LISTENERS)
    return int(process_id)


def test_a_strangers_notifications_end_no_attempt_and_lose_no_call(
    connection: Connection, stranger: Connection, own_model: Server, listener: int
) -> None:
    running = "select count(*) from pgclarify.run where status = 'running'"
    with hold_replies(own_model):
        run_ids = submit_many(connection, 3)
        until(lambda: scalar(connection, running) == 3)
        for _ in range(20):
            stranger.execute("select pg_notify('pgclarify_runs', number::text) from generate_series(1, 100) as number")
        # This notification comes after all the others.
        run_ids += submit_many(connection, 1, "late")
        until(lambda: scalar(connection, running) == 4)

    assert wait(connection, run_ids) == ["succeeded"] * 4
    assert connection.execute("select distinct attempt from pgclarify.run").fetchall() == [(1,)]
    assert own_model.stats["repeated_inputs"] == 0


def test_a_listener_that_is_ended_listens_again(connection: Connection, listener: int) -> None:
    assert scalar(connection, "select pg_terminate_backend(%s::integer, 60000)", listener)
    until(lambda: scalar(connection, LISTENERS))
    assert wait(connection, submit_many(connection, 1)) == ["succeeded"]
