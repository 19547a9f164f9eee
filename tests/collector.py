"""A collector of traces on 127.0.0.1, which takes OTLP over HTTP and keeps the spans."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status


@dataclass(frozen=True)
class CollectedSpan:
    """A span as it arrived: ids in hexadecimal, times in nanoseconds, the attributes of each event by its name."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    start: int
    end: int
    is_error: bool
    attributes: Mapping[str, Any]
    events: Mapping[str, Mapping[str, Any]]
    resource: Mapping[str, Any]


@dataclass
class Collector:
    """The collector. A worker exports to it with these variables."""

    variables: Mapping[str, str]
    spans: list[CollectedSpan] = field(default_factory=list)

    def named(self, name: str) -> list[CollectedSpan]:
        """The spans of a name, in the order in which they began."""
        return sorted((span for span in self.spans if span.name == name), key=lambda span: span.start)

    def within(self, span: CollectedSpan) -> list[CollectedSpan]:
        """The spans whose parent is this span, in the order in which they began."""
        return sorted((each for each in self.spans if each.parent_id == span.span_id), key=lambda each: each.start)


@contextmanager
def collect() -> Iterator[Collector]:
    """Run a collector in a thread."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
            for of_resource in sent.resource_spans:
                resource = _values(of_resource.resource.attributes)
                for of_scope in of_resource.scope_spans:
                    collector.spans.extend(_collected(span, resource) for span in of_scope.spans)
            self.send_response(200 if self.path == "/v1/traces" else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        # Short delays, so that a test need not stop the worker before it looks.
        collector = Collector(
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
                "OTEL_BSP_SCHEDULE_DELAY": "50",
            }
        )
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


def _collected(span: Span, resource: Mapping[str, Any]) -> CollectedSpan:
    return CollectedSpan(
        name=span.name,
        kind=Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        is_error=span.status.code == Status.STATUS_CODE_ERROR,
        attributes=_values(span.attributes),
        events={event.name: _values(event.attributes) for event in span.events},
        resource=resource,
    )


def _values(attributes: Any) -> dict[str, Any]:
    pairs: list[KeyValue] = list(attributes)
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return None if kind is None else getattr(value, kind)
