"""Traces from the call that asks to the calls of the model, as a collector gets them from a worker."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import pytest
from anyio.from_thread import start_blocking_portal
from opentelemetry.sdk.trace import TracerProvider

import pgclarify
from tests.collector import CollectedSpan, Collector, collect
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.openai_server import MODEL, Reply, Server
from tests.sessions import Connection, scalar
from tests.workers import CORPUS, StartWorker, Worker, load, until, wait_until_searchable

TRACE_ID, PARENT_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE_ID}-{PARENT_ID}-01"


@dataclass(frozen=True)
class Traced:
    """A worker that exports its spans, and writes its log as JSON."""

    collector: Collector
    worker: Worker

    def last_run(self, operation: str, runs: int = 1) -> CollectedSpan:
        """The span of the last of so many runs of an operation."""
        return until(lambda: self.collector.named(operation)[runs - 1 :])[-1]


@pytest.fixture
def traced(database: str, connection: Connection, own_model: Server, run_worker: StartWorker) -> Iterator[Traced]:
    with collect() as collector:
        settings = {**collector.variables, "PGCLARIFY_LOG_FORMAT": "json"}
        worker = run_worker(database, own_model.base_url, settings=settings)
        load(connection)
        wait_until_searchable(connection)
        yield Traced(collector, worker)


def test_a_question_is_traced_from_the_client_to_the_model(database: str, traced: Traced) -> None:
    with (
        TracerProvider().get_tracer("application").start_as_current_span("request") as request,
        pgclarify.connect(database) as client,
    ):
        client.clarify("rental cars", corpus=CORPUS, top_k=3)
    run = traced.last_run("clarify")
    assert run.trace_id == f"{request.get_span_context().trace_id:032x}"
    assert run.parent_id == f"{request.get_span_context().span_id:016x}"
    assert (run.kind, run.is_error, run.attributes["pgclarify.status"]) == ("CONSUMER", False, "succeeded")
    stages = {stage.name: stage for stage in traced.collector.within(run)}
    assert {"retrieval", "judgement", "consolidation"} <= stages.keys()
    calls = traced.collector.named(f"chat {MODEL}")
    assert [call.parent_id for call in calls] == [stages["judgement"].span_id] * 3
    assert {call.attributes["pgclarify.purpose"] for call in calls} == {"verdict"}
    assert all(call.attributes["gen_ai.usage.input_tokens"] > 0 for call in calls)
    assert all(run.start <= call.start <= call.end <= run.end for call in calls)
    (indexing,) = traced.collector.named("indexing")
    assert (indexing.parent_id, indexing.attributes["pgclarify.documents"]) == ("", 12)


def test_another_run_has_events_instead_of_calls_for_replies_that_are_reused(
    connection: Connection, own_model: Server, traced: Traced
) -> None:
    connection.execute(f"set pgclarify.traceparent = '{TRACEPARENT}'")
    connection.execute("set pgclarify.reuse_runs = off")
    for _ in range(2):
        connection.execute("select from pgclarify.clarify('rental cars', top_k => 3)")
    second = traced.last_run("clarify", runs=2)
    assert (second.trace_id, second.parent_id) == (TRACE_ID, PARENT_ID)
    judgement = next(stage for stage in traced.collector.within(second) if stage.name == "judgement")
    assert judgement.events == {"replies reused": {"pgclarify.replies": 3}}
    assert traced.collector.within(judgement) == []


def test_lines_of_the_log_name_run_and_trace(connection: Connection, own_model: Server, traced: Traced) -> None:
    own_model.behavior = lambda chat: Reply("", status=401)
    connection.execute(f"set pgclarify.traceparent = '{TRACEPARENT}'")
    run_id = scalar(connection, "select pgclarify.submit('clarify', 'rental cars')")
    run = traced.last_run("clarify")
    assert (run.is_error, run.attributes["pgclarify.run_id"]) == (True, run_id)
    records = [json.loads(line) for line in traced.worker.log.read_text().splitlines()]
    of_run = [record for record in records if record.get("run_id") == run_id]
    assert of_run
    assert {record["trace_id"] for record in of_run} == {TRACE_ID}
    assert all("trace_id" not in record for record in records if "run_id" not in record)


def test_an_agent_names_its_span_in_a_call_of_a_tool(database: str, traced: Traced) -> None:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    process = StdioServerParameters(
        command=sys.executable,
        args=["-m", "pgclarify.mcp", "--corpus", CORPUS],
        env={**os.environ, "PGCLARIFY_DATABASE_URL": database},
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(process)) as agent:
        search = partial(
            agent.call_tool, "search", {"question": "hail"}, meta=cast("Any", {"traceparent": TRACEPARENT})
        )
        asked = portal.call(search)
    assert not asked.is_error
    run = traced.last_run("search")
    assert (run.trace_id, run.parent_id) == (TRACE_ID, PARENT_ID)


SUBMIT = "select pgclarify.submit('search', 'hail', corpus => 'office')"


@pytest.fixture
def office(connection: Connection) -> Connection:
    connection.execute("select pgclarify.create_corpus('office'), set_config('pgclarify.reuse_runs', 'off', false)")
    return connection


@parametrize_in_one_test(
    "parameter, statement, kept",
    [
        ("", SUBMIT, None),
        (TRACEPARENT, SUBMIT, TRACEPARENT),
        ("00-hail-01", SUBMIT, None),
        # As libraries write it that follow SQLCommenter.
        ("", f"{SUBMIT} /*db_driver='psycopg',traceparent='{TRACEPARENT}'*/;\n", TRACEPARENT),
        ("", f"{SUBMIT} /*traceparent='00-hail-01'*/", None),
        ("", f"select pgclarify.submit('search', '/*traceparent=''{TRACEPARENT}''*/', corpus => 'office')", None),
    ],
)
def test_a_run_keeps_the_span_that_asked(office: Connection, parameter: str, statement: str, kept: str | None) -> None:
    office.execute(f"set pgclarify.traceparent = '{parameter}'")
    office.execute(statement.encode())
    last = "select traceparent from pgclarify_private.run order by run_id desc limit 1"
    assert scalar(office, last) == kept
