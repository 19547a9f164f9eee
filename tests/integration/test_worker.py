"""Worker processes: how they stop, what they refuse, and their sessions; and life without one."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import psycopg
import pytest

from pgclarify.config import Provider, Settings
from pgclarify.corpora.embedders import open_embedders
from pgclarify.database.connections import Connections
from pgclarify.database.endpoint_rates import EndpointRates
from pgclarify.database.pool import fetch, open_pool
from pgclarify.database.sessions import require_own_sessions
from pgclarify.embedding.cross_encoder import CrossEncoders
from pgclarify.errors import ServerUnavailable
from pgclarify.worker import serving
from pgclarify.worker.executor import RunExecutor
from pgclarify.worker.language_models import open_language_models
from pgclarify.worker.monitor import Monitor
from pgclarify.worker.rerank_endpoint import open_rerank_endpoint
from tests.openai_server import HANG, MODEL, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import (
    API_KEY,
    CORPUS,
    StartWorker,
    environment,
    run_command,
    submit_many,
    until,
    wait,
    wait_until_searchable,
)


@pytest.mark.loaded
def test_sigterm_finishes_what_can_be_finished_and_puts_the_rest_back(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    own_model.latency = 1.0
    own_model.behavior = lambda chat: HANG if "Question: stuck" in chat.outside and chat.passage else by_rules(chat)
    first = run_worker(database, own_model.base_url, arguments=("--grace", "4"))
    wait_until_searchable(connection)
    stuck = submit_many(connection, 1, "stuck", top_k=2)
    until(lambda: own_model.calls >= 2)
    quick = submit_many(connection, 1, "quick", top_k=2)
    until(lambda: own_model.calls >= 3)

    # Runs get four seconds to finish, on a machine of any speed.
    own_model.latency = 0.0
    assert first.stop() == 0

    states = "select status from pgclarify.run where run_id = %s"
    assert scalar(connection, states, quick[0]) == "succeeded"
    assert scalar(connection, states, stuck[0]) == "queued"
    own_model.behavior = by_rules
    run_worker(database, own_model.base_url)
    assert wait(connection, stuck) == ["succeeded"]
    assert own_model.stats["repeated_inputs"] == 2, "the two calls that hung"


@pytest.mark.loaded
def test_runs_of_a_worker_stopped_without_grace_are_free_at_once(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    own_model.behavior = lambda chat: HANG if chat.passage else by_rules(chat)
    stopped = run_worker(database, own_model.base_url, arguments=("--grace", "0"))
    wait_until_searchable(connection)
    submit_many(connection, 2, top_k=2)
    until(lambda: own_model.in_flight == 4)
    assert stopped.stop() == 0

    leases = "select count(*) from pgclarify_private.completion where leased_by is not null"
    queued = "select count(*) from pgclarify_private.run where status = 'queued' and due_at is null"
    assert (scalar(connection, leases), scalar(connection, queued)) == (0, 2)


def get(port: int, path: str) -> tuple[int, str]:
    """Ask a worker over HTTP: status and text."""
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.loaded
def test_metrics_tell_of_calls_and_of_the_queue_and_of_no_text(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    worker = run_worker(database, own_model.base_url, arguments=("--metrics", str(port)))
    wait_until_searchable(connection)
    assert wait(connection, submit_many(connection, 2, "a secret question", top_k=2)) == ["succeeded"] * 2

    assert [get(port, path)[0] for path in ("/healthz", "/readyz")] == [200, 200]
    status, told = get(port, "/metrics")
    assert status == 200
    assert f'pgclarify_model_calls_total{{model="{MODEL}",purpose="verdict"}} 4.0' in told
    assert "pgclarify_workers_alive 1.0" in told
    ended = r'^pgclarify_runs_ended_total{code="\w*",operation="clarify",status="succeeded"} 2\.0$'
    until(lambda: re.search(ended, get(port, "/metrics")[1], re.M))
    assert not any(text in told for text in ("secret", API_KEY, CORPUS))

    own_model.behavior = lambda chat: HANG if chat.passage else by_rules(chat)
    submit_many(connection, 1, "another question", top_k=2)
    until(lambda: own_model.in_flight == 2)
    assert "pgclarify_model_calls_open 2.0" in get(port, "/metrics")[1]
    worker.process.terminate()
    until(lambda: get(port, "/readyz")[0] == 503)
    assert get(port, "/healthz")[0] == 200, "it still finishes its runs"
    own_model.behavior = by_rules


def test_a_database_without_the_schema_is_refused(make_database: Callable[..., str], tmp_path: Path) -> None:
    variables = environment(make_database("template1"), None)

    refused = run_command("worker", variables=variables, folder=tmp_path)

    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    lines = [line for line in refused.stderr.splitlines() if line.strip()]
    assert 1 <= len(lines) <= 3, "message, detail and hint"


@pytest.mark.loaded
def test_after_an_upgrade_a_worker_finishes_its_runs_takes_no_others_and_ends(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    worker = run_worker(database, own_model.base_url)
    wait_until_searchable(connection)
    own_model.latency = 2.0
    (begun,) = submit_many(connection, 1, top_k=2)
    until(lambda: own_model.in_flight > 0)

    connection.execute("update pgclarify_private.applied_sql set shipped_hash = 'later'")
    (later,) = submit_many(connection, 1, "another question")

    until(lambda: not worker.process.is_alive())
    assert worker.process.exitcode == 1
    assert "Traceback" not in worker.log.read_text()
    states = connection.execute("select run_id, status, attempt from pgclarify_private.run order by run_id").fetchall()
    assert states == [(begun, "succeeded", 1), (later, "queued", 0)]


class ReadyMonitor(Monitor):
    """Knows whether the worker is ready."""

    is_ready = True

    def note_ready(self, *, is_ready: bool) -> None:
        self.is_ready = is_ready


async def test_a_worker_is_not_ready_before_it_drops_its_runs(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, monitor = Settings(provider=Provider.EXTRACTIVE), ReadyMonitor()
    was_ready: list[bool] = []

    async def lose(*_: object) -> None:
        raise ServerUnavailable("the session is lost")

    monkeypatch.setattr(serving, "_be_present", lose)
    monkeypatch.setattr(RunExecutor, "drop_all", lambda _: was_ready.append(monitor.is_ready))
    cross_encoders = CrossEncoders(device=settings.torch_device)
    async with (
        open_embedders(settings) as embedders,
        open_language_models(settings, embedders) as models,
        open_rerank_endpoint(settings) as at_endpoint,
    ):
        rates = EndpointRates()
        world = serving._World(
            settings, database, serving._check(database), models, embedders, cross_encoders, at_endpoint, rates, monitor
        )
        with pytest.raises(ServerUnavailable):
            await asyncio.wait_for(serving._serve(world, asyncio.Event(), lambda: None, grace=10.0), 60)
    cross_encoders.close()
    assert was_ready == [False]


SETTINGS = {
    "statement_timeout": "1h",
    "idle_in_transaction_session_timeout": "1h",
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
}


async def test_settings_of_a_database_for_people_do_not_apply_to_workers(
    database: str, connection: psycopg.Connection[object]
) -> None:
    for name, value in SETTINGS.items():
        connection.execute(f"alter database {connection.info.dbname} set {name} = '{value}'".encode())

    async with open_pool(database, connections=Connections()) as pool, pool.connection() as worker:
        found = {}
        for name in SETTINGS:
            cursor = await worker.execute("select current_setting(%s) as value", [name])
            (row,) = await cursor.fetchall()
            found[name] = row["value"]

    assert found == {
        "statement_timeout": "10min",
        "idle_in_transaction_session_timeout": "20s",
        "default_transaction_isolation": "read committed",
        "default_transaction_read_only": "off",
    }


async def test_a_worker_that_stops_while_it_asks_leaves_no_transaction_open(database: str, tmp_path: Path) -> None:
    """Its locks would stop all other workers. Before Sync, no limit of the server ends a transaction that waits."""
    path = tmp_path / "messages"
    async with open_pool(database) as pool:
        with path.open("w") as trace:
            async with pool.connection() as connection:
                connection.pgconn.trace(trace.fileno())
            await fetch(pool, "advance_space", embedding_space_id=0)
            async with pool.connection() as connection:
                connection.pgconn.untrace()
    sent = re.findall(r"\tF\t\d+\t(\w+)", path.read_text())
    assert sent[-2:] == ["Execute", "Sync"]
    assert sent.count("Execute") == 1


def test_a_server_that_turns_everybody_away_is_no_pooler(
    database: str, connection: psycopg.Connection[object], make_role: Callable[..., str]
) -> None:
    role = make_role("pgclarify_worker")
    dsn = psycopg.conninfo.make_conninfo(database, user=role)
    require_own_sessions(dsn)

    connection.execute(f"alter role {role} connection limit 0".encode())
    with pytest.raises(ServerUnavailable) as refused:
        require_own_sessions(dsn)
    assert "too many connections" in str(refused.value)
