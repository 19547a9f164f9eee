"""Spans, as an exporter gets them."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from pgclarify import tracing
from pgclarify.client.opening import statement_of
from pgclarify.client.scripts import Call
from pgclarify.data.model_calls import Completion, CompletionRequest, Message
from pgclarify.errors import BudgetSpent, ConfigurationError, EndpointUnavailable
from pgclarify.protocols import Payer, paid_by
from pgclarify.providers.client import Address
from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint
from pgclarify.providers.endpoint import Endpoint
from pgclarify.providers.rerank_endpoint import RerankEndpoint
from pgclarify.worker.json_log import JsonFormatter
from tests import openai_server
from tests.collector import collect
from tests.fakes import FakeLedger, FakeLedgerTable, scripts
from tests.pages import CHECKOUT, SPAN_ATTRIBUTES, blocks
from tests.unit.ledger.buying import buy, request
from tests.unit.operations.rental_cars import carry_out, corpus, script

TRACE_ID, PARENT_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE_ID}-{PARENT_ID}-01"
PAGE = CHECKOUT / "docs" / "traces.md"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CHAT = CompletionRequest(
    purpose="relaxation",
    model="rules-1",
    parameters={"temperature": 0, "max_tokens": 64},
    prompt_version="1",
    messages=(Message("system", "Be brief."), Message("user", "Question: what?")),
    schema={"type": "object"},
)


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    """What is recorded in a test."""
    exporter = InMemorySpanExporter()
    with tracing.recording(SimpleSpanProcessor(exporter)):
        yield exporter


def parent_of(span: ReadableSpan) -> str | None:
    return None if span.parent is None else f"{span.parent.span_id:016x}"


def attributes_of(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_span_belongs_to_the_trace_that_asked(exporter: InMemorySpanExporter) -> None:
    with tracing.span("clarify", {"pgclarify.run_id": 7, "unknown": None}, traceparent=TRACEPARENT):
        with tracing.span("retrieval", {}):
            tracing.note({"pgclarify.rows": 20})
        inside = tracing.current_traceparent()
    inner, outer = exporter.get_finished_spans()
    assert (parent_of(outer), attributes_of(outer)) == (PARENT_ID, {"pgclarify.run_id": 7})
    assert (parent_of(inner), attributes_of(inner)) == (f"{outer.context.span_id:016x}", {"pgclarify.rows": 20})
    assert {f"{span.context.trace_id:032x}" for span in (inner, outer)} == {TRACE_ID}
    assert inside == f"00-{TRACE_ID}-{outer.context.span_id:016x}-01"


def test_an_invalid_parent_is_ignored(exporter: InMemorySpanExporter) -> None:
    with tracing.span("clarify", {}, traceparent=f"00-{'0' * 32}-{'0' * 16}-01"):
        pass
    (span,) = exporter.get_finished_spans()
    assert span.parent is None


def test_an_error_is_recorded_by_its_code_alone(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(BudgetSpent), tracing.span("clarify", {}):
        raise BudgetSpent("it quotes the question")
    (span,) = exporter.get_finished_spans()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert (attributes_of(span), span.events) == ({"error.type": "PC007"}, ())


async def chat(traceparent: str) -> Completion:
    """Make a call within a run."""
    with tracing.span("clarify", {}, traceparent=traceparent):
        async with openai_server.serve() as server, Endpoint(Address(server.base_url), "rules-1") as endpoint:
            return await endpoint.complete(CHAT)


async def test_a_call_has_the_attributes_of_the_conventions_and_no_text(exporter: InMemorySpanExporter) -> None:
    completion = await chat(TRACEPARENT)
    (span, run) = exporter.get_finished_spans()
    found = attributes_of(span)
    assert (span.name, span.kind.name, parent_of(span)) == ("chat rules-1", "CLIENT", f"{run.context.span_id:016x}")
    assert found.pop("server.port") > 0
    assert found == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "rules-1",
        "gen_ai.usage.input_tokens": completion.prompt_tokens,
        "gen_ai.usage.output_tokens": completion.completion_tokens,
        "pgclarify.purpose": "relaxation",
        "server.address": "127.0.0.1",
    }


async def test_texts_are_recorded_if_a_variable_asks_for_them(
    exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CAPTURE, "true")
    completion = await chat(TRACEPARENT)
    (span, _) = exporter.get_finished_spans()
    asked, replied = (json.loads(attributes_of(span)[f"gen_ai.{way}.messages"]) for way in ("input", "output"))
    assert [(message["role"], message["parts"][0]["content"]) for message in (*asked, *replied)] == [
        ("system", "Be brief."),
        ("user", "Question: what?"),
        ("assistant", completion.reply),
    ]


async def test_embeddings_and_rerankers_are_calls_of_models(exporter: InMemorySpanExporter) -> None:
    pair = CompletionRequest(
        purpose="reranking",
        model="rerank-1",
        parameters={},
        prompt_version="1",
        messages=(Message("query", "hail"), Message("text", "Hail is covered.")),
    )
    async with openai_server.serve() as server:
        with tracing.span("clarify", {}):
            async with EmbeddingEndpoint(Address(server.base_url)) as embeddings:
                await embeddings.ask({"model": "embed-1"}, ["one", "two"])
            async with RerankEndpoint(Address(server.base_url)) as rerankers:
                await rerankers.complete(pair)
    *calls, _ = exporter.get_finished_spans()
    asked = {call.name: attributes_of(call) for call in calls}
    assert asked.keys() == {"embeddings embed-1", "rerank rerank-1"}
    assert [each["pgclarify.texts"] for each in asked.values()] == [2, 1]
    assert all(each["gen_ai.operation.name"] in name for name, each in asked.items())


async def test_a_call_that_fails_has_a_code(exporter: InMemorySpanExporter) -> None:
    endpoint = Endpoint(Address("http://127.0.0.1:9/v1"), "rules-1", max_retries=0)
    with tracing.span("clarify", {}), pytest.raises(EndpointUnavailable) as failure:
        await endpoint.complete(CHAT)
    await endpoint.aclose()
    (span, _) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert attributes_of(span)["error.type"] == failure.value.sqlstate


async def test_nothing_is_recorded_of_a_trace_that_is_not_sampled(exporter: InMemorySpanExporter) -> None:
    await chat(TRACEPARENT[:-1] + "0")
    assert exporter.get_finished_spans() == ()


async def test_the_stages_of_a_run_are_spans_with_their_counts(exporter: InMemorySpanExporter) -> None:
    with tracing.span("clarify", {}):
        await carry_out(corpus(), scripts.verifier(script()))
    *stages, run = exporter.get_finished_spans()
    counts = {stage.name: attributes_of(stage) for stage in stages}
    assert {"retrieval", "judgement", "consolidation"} <= counts.keys()
    assert {parent_of(stage) for stage in stages} == {f"{run.context.span_id:016x}"}
    assert counts["retrieval"]["pgclarify.rows"] == counts["judgement"]["pgclarify.calls"] == len(corpus())


async def test_reused_replies_and_refusals_of_a_budget_are_events(exporter: InMemorySpanExporter) -> None:
    table = FakeLedgerTable(max_calls=2)
    with tracing.span("judgement", {}):
        await buy(FakeLedger(table), scripts.verifier(), [request("a"), request("b")])
    with tracing.span("judgement", {}):
        await buy(FakeLedger(table), scripts.verifier(), [request("a"), request("b"), request("c")])
    first, second = exporter.get_finished_spans()
    assert first.events == ()
    assert [(event.name, dict(event.attributes or {})) for event in second.events] == [
        ("replies reused", {"pgclarify.replies": 2}),
        ("budget refused", {"pgclarify.calls": 1, "error.type": "PC007"}),
    ]


def test_the_client_names_the_span_of_its_caller_in_each_call(exporter: InMemorySpanExporter) -> None:
    call = Call("search", {"question": "hail"})
    without, _ = statement_of(call)
    with tracing.span("request", {}, traceparent=TRACEPARENT):
        within, _ = statement_of(call)
        assert within == without + f" /*traceparent='{tracing.current_traceparent()}'*/".encode()


def test_a_collector_gets_spans_by_the_standard_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    with collect() as collector:
        for name, value in collector.variables.items():
            monkeypatch.setenv(name, value)
        with tracing.exporting(), tracing.span("clarify", {"pgclarify.run_id": 7}):
            pass
    (span,) = collector.spans
    assert (span.name, span.attributes) == ("clarify", {"pgclarify.run_id": 7})
    assert (span.resource["service.name"], span.resource["deployment.environment.name"]) == ("pgclarify", "test")


@pytest.mark.parametrize(("name", "value"), [("OTEL_TRACES_EXPORTER", "none"), ("OTEL_SDK_DISABLED", "true")])
def test_exporting_is_turned_off_by_the_standard_variables(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    with collect() as collector:
        for each, given in {**collector.variables, name: value}.items():
            monkeypatch.setenv(each, given)
        with tracing.exporting(), tracing.span("clarify", {}):
            pass
    assert collector.spans == []


def test_an_exporter_that_is_not_installed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "carrier-pigeon")
    with pytest.raises(ConfigurationError), tracing.exporting():
        pass


def test_a_worker_without_the_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with tracing.exporting(), tracing.span("clarify", {}):
        assert tracing.current_traceparent() is None
    assert "pgclarify[otel]" in caplog.text


def test_nothing_is_imported_while_nothing_is_exported() -> None:
    code = (
        "import sys; from pgclarify import tracing\n"
        "with tracing.exporting(), tracing.span('clarify', {}): tracing.note(tracing.current_ids() or {})\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_the_page_has_every_attribute() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(SPAN_ATTRIBUTES) > 20
    assert [name for name in SPAN_ATTRIBUTES if f"`{name}`" not in text] == []


def test_a_line_of_the_log_in_json_names_run_and_trace(exporter: InMemorySpanExporter) -> None:
    record = logging.LogRecord("pgclarify.worker", logging.WARNING, __file__, 1, "run %d\n is put back", (7,), None)
    with paid_by(Payer(run_id=7)), tracing.span("clarify", {}, traceparent=TRACEPARENT):
        said = json.loads(JsonFormatter().format(record))
        (_, span_id, _) = tracing.current_ids() or ("", "", "")
    (block,) = blocks(PAGE, "json")
    assert said.keys() == json.loads(block.code).keys()
    assert said.pop("time").endswith("+00:00")
    assert said == {
        "level": "WARNING",
        "logger": "pgclarify.worker",
        "message": "run 7\n is put back",
        "run_id": 7,
        "trace_id": TRACE_ID,
        "span_id": span_id,
    }
    alone = JsonFormatter().format(record)
    assert json.loads(alone).keys() == {"time", "level", "logger", "message"}
    assert "\n" not in alone
