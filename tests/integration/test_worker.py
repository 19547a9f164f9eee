"""Worker processes that are told to stop, or have nothing to work with; and life without one."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.openai_server import HANG, Server, by_rules
from tests.workers import (
    Worker,
    environment,
    load,
    run_command,
    scalar,
    submit_many,
    until,
    wait,
    wait_until_searchable,
)

Connection = psycopg.Connection[Any]
StartWorker = Callable[..., Worker]


def test_sigterm_finishes_what_can_be_finished_and_puts_the_rest_back(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    own_model.latency = 1.0
    own_model.behavior = lambda chat: HANG if "Question: stuck" in chat.outside and chat.passage else by_rules(chat)
    first = run_worker(database, own_model.base_url)
    load(connection)
    wait_until_searchable(connection)
    stuck = submit_many(connection, 1, "stuck", top_k=2)
    until(lambda: own_model.calls >= 3)
    quick = submit_many(connection, 1, "quick", top_k=2)
    until(lambda: own_model.calls >= 4)

    # What can be finished has ten seconds, however slow the machine is.
    own_model.latency = 0.0
    assert first.stop() == 0

    states = "select status from pgclarify.run where run_id = %s"
    assert scalar(connection, states, quick[0]) == "succeeded"
    assert scalar(connection, states, stuck[0]) == "running"
    own_model.behavior = by_rules
    run_worker(database, own_model.base_url)
    assert wait(connection, stuck) == ["succeeded"]
    assert own_model.stats["repeated_inputs"] == 2, "the two calls that hung"


def test_an_answer_is_served_with_no_worker_alive(
    database: str,
    connection: Connection,
    own_model: Server,
    run_worker: StartWorker,
    make_role: Callable[..., str],
) -> None:
    alive = run_worker(database, own_model.base_url)
    load(connection)
    wait_until_searchable(connection)
    alice, bob, team = make_role("pgclarify_user"), make_role("pgclarify_user"), make_role()
    statement = b"select * from pgclarify.clarify('what is charged', top_k => 4)"

    def served(user: str) -> list[tuple[Any, ...]] | str | None:
        with closing(psycopg.connect(database, user=user, autocommit=True)) as caller:
            try:
                return caller.execute(statement).fetchall()
            except psycopg.Error as error:
                return error.sqlstate

    first = served(alice)
    assert isinstance(first, list)
    assert first
    alive.kill()
    until(lambda: scalar(connection, "select count(*) from pgclarify.worker_status where is_alive") == 0)

    assert served(alice) == first
    with closing(psycopg.connect(database, user=alice, autocommit=True)) as caller:
        run_id = scalar(caller, "select pgclarify.submit('what is charged', top_k => 4)")
        assert caller.execute("select * from pgclarify.result(%s)", [run_id]).fetchall() == first
        other = "select pgclarify.submit('what is charged', top_k => 5)"
        assert scalar(caller, other) != run_id, "another question, which waits for a worker"
    assert served(bob) == "PC001"

    membership = sql.SQL("{} {} {}").format
    grant = membership(sql.SQL("grant"), sql.Identifier(team), sql.SQL("to {}").format(sql.Identifier(alice)))
    revoke = membership(sql.SQL("revoke"), sql.Identifier(team), sql.SQL("from {}").format(sql.Identifier(alice)))
    connection.execute(grant)
    assert served(alice) == "PC001"
    connection.execute(revoke)
    assert served(alice) == first

    connection.execute("select pgclarify.remove_document('rental', '112')")
    assert served(alice) == "PC001"


def test_an_endpoint_that_is_down(
    database: str, connection: Connection, run_worker: StartWorker, tmp_path: Path
) -> None:
    with closing(socket.socket()) as taken:
        # Nobody else gets it, and nobody listens.
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        run_worker(database, f"http://127.0.0.1:{port}/v1")
        load(connection, documents=1)
        wait_until_searchable(connection)

        with pytest.raises(psycopg.Error) as caught:
            connection.execute("select * from pgclarify.clarify('hello')")
        told = run_command("ask", "hello", variables=environment(database, None), folder=tmp_path)

    assert told.returncode == 1
    assert str(caught.value.diag.message_detail) in told.stderr, "whole, with what stands after a colon"
    assert caught.value.sqlstate == "PC003"
    error = scalar(connection, "select error from pgclarify.run_summary where status = 'failed'")
    assert str(port) in error
    assert str(port) in (caught.value.diag.message_detail or "")


def serve_in_vain(dsn: str, folder: Path, base_url: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a worker that is expected to refuse."""
    return run_command("worker", variables=environment(dsn, base_url), folder=folder)


@pytest.mark.parametrize("schema", ["missing", "older", "newer"])
def test_a_schema_of_another_version_is_refused(
    make_database: Callable[..., str], template: str, tmp_path: Path, schema: str
) -> None:
    dsn = make_database("template1" if schema == "missing" else template)
    if schema != "missing":
        with closing(psycopg.connect(dsn, autocommit=True)) as connection:
            revision = "9999" if schema == "newer" else "0016"
            connection.execute("update pgclarify.schema_version set version_num = %s", [revision])

    refused = serve_in_vain(dsn, tmp_path)

    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    lines = [line for line in refused.stderr.splitlines() if line.strip()]
    assert 1 <= len(lines) <= 3, "the message, its detail and its hint"


def test_a_server_of_ones_own_without_a_provider_is_refused(database: str, tmp_path: Path) -> None:
    variables = environment(database, None)
    del variables["PGCLARIFY_LLM_PROVIDER"]
    refused = run_command("worker", variables=variables, folder=tmp_path)

    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
