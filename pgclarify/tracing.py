"""Traces of runs, model calls and indexing, for OpenTelemetry. Nothing is recorded unless a worker exports it.

Spans have ids, counts, SQLSTATEs, and names of models and of our own. They have texts of users only if the variable
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for them.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias
from urllib.parse import urlsplit

from pgclarify.errors import ConfigurationError, code_of

if TYPE_CHECKING:
    from types import TracebackType

    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.trace import SpanContext

    from pgclarify.data.model_calls import Message

_logger = logging.getLogger(__name__)

Attributes: TypeAlias = Mapping[str, object]

# OTEL_TRACES_EXPORTER names exporters of several protocols by one word.
_PROTOCOLS: Final = {"otlp": "otlp_proto_http"}
_ADDRESSES: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_SCOPE: Final = "pgclarify"
_CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

# While it is None, no function here imports OpenTelemetry.
_recorder: _Recorder | None = None


@contextmanager
def exporting() -> Iterator[None]:
    """Export spans in the block if the standard variables of OpenTelemetry name an exporter, or an address for one.

    Raises:
        ConfigurationError: If there is no exporter of that name.
    """
    name = _exporter()
    if name is None:
        yield
        return
    try:
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        # No error, because the variables may be set for all programs of a machine.
        _logger.warning("no traces are exported, because a package is missing: pip install 'pgclarify[otel]'")
        yield
        return
    from importlib.metadata import entry_points, version

    found = [*entry_points(group="opentelemetry_traces_exporter", name=name)]
    if not found:
        raise ConfigurationError(
            f"no package has the exporter {name}",
            detail="OTEL_TRACES_EXPORTER names it.",
            hint="Set it to otlp, console or none, or install the package.",
        )
    ours = Resource({"service.name": "pgclarify", "service.version": version("pgclarify")})
    # The variables of the resource have precedence.
    with recording(BatchSpanProcessor(found[0].load()()), ours.merge(OTELResourceDetector().detect())):
        yield


def _exporter() -> str | None:
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    is_addressed = any(os.environ.get(address, "").strip() for address in _ADDRESSES)
    name = os.environ.get("OTEL_TRACES_EXPORTER", "").strip() or ("otlp" if is_addressed else "none")
    return None if name == "none" else _PROTOCOLS.get(name, name)


@contextmanager
def recording(processor: SpanProcessor, resource: Resource | None = None) -> Iterator[None]:
    """Record spans of this process in the block.

    Args:
        processor: Gets the spans, and is shut down at the end.
        resource: What the spans are about; None for what the SDK knows.
    """
    from opentelemetry.sdk.trace import TracerProvider

    global _recorder
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(processor)
    # Not for the whole process: libraries have spans of their own, which belong to the application.
    _recorder = _Recorder(provider, processor)
    try:
        yield
    finally:
        _recorder = None
        provider.shutdown()


class _Recorder:
    """Records spans."""

    def __init__(self, provider: TracerProvider, processor: SpanProcessor) -> None:
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        self.tracer = provider.get_tracer(_SCOPE)
        self._scope = InstrumentationScope(_SCOPE)
        self._provider = provider
        self._processor = processor

    def add_call(self, name: str, started: int, attributes: Attributes, *, is_error: bool) -> None:
        """Add a call that is over to the current span, if that is recorded.

        A live span costs five times as much CPU time, and a worker makes hundreds of calls a second.
        """
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, get_current_span

        parent = get_current_span().get_span_context()
        if parent.trace_flags.sampled:
            span_id = self._provider.id_generator.generate_span_id()
            self._processor.on_end(
                ReadableSpan(
                    name,
                    SpanContext(parent.trace_id, span_id, False, parent.trace_flags, parent.trace_state),
                    parent,
                    self._provider.resource,
                    _known(attributes),
                    kind=SpanKind.CLIENT,
                    status=Status(StatusCode.ERROR if is_error else StatusCode.UNSET),
                    start_time=started,
                    end_time=time.time_ns(),
                    instrumentation_scope=self._scope,
                )
            )


@contextmanager
def span(
    name: str, attributes: Attributes, *, kind: str = "INTERNAL", traceparent: str | None = None
) -> Iterator[None]:
    """Record the block as a span. Only the code of an error is recorded, because its text may quote a user.

    Args:
        name: One of few names.
        attributes: Those that are None are left out.
        kind: INTERNAL or CONSUMER.
        traceparent: The parent, in the form of W3C Trace Context; None for the current span. An invalid one is ignored.
    """
    if _recorder is None:
        yield
        return
    from opentelemetry.trace import SpanKind
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    with _recorder.tracer.start_as_current_span(
        name,
        None if traceparent is None else TraceContextTextMapPropagator().extract({"traceparent": traceparent}),
        SpanKind[kind],
        _known(attributes),
        record_exception=False,
        set_status_on_exception=False,
    ):
        try:
            yield
        except BaseException as error:
            note_error(_code(error))
            raise


class ModelCall:
    """A call of a model, which is recorded at the end of a `with` block, by OpenTelemetry's conventions.

    Args:
        operation: chat, embeddings or rerank.
        model: Its name at the endpoint.
        address: The base URL of the endpoint.
        attributes: More attributes; those that are None are left out.
        messages: The prompt, which is recorded only if a variable asks for it.
    """

    def __init__(
        self, operation: str, model: str, address: str, attributes: Attributes, *, messages: Sequence[Message] = ()
    ) -> None:
        self._attributes: dict[str, object] = {}
        if _recorder is None:
            return
        url = urlsplit(address)
        self._name = f"{operation} {model}"
        self._attributes = {
            "gen_ai.operation.name": operation,
            # The client's protocol. The address tells servers apart.
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": model,
            "server.address": url.hostname,
            "server.port": url.port or {"http": 80, "https": 443}.get(url.scheme),
            **attributes,
        }
        if messages and _is_content_asked_for():
            self._attributes["gen_ai.input.messages"] = _as_messages(
                [(message.role, message.content) for message in messages]
            )

    def __enter__(self) -> Self:
        self._started = time.time_ns()
        return self

    def note_reply(
        self,
        input_tokens: int | None,
        output_tokens: int | None = None,
        *,
        cached_tokens: int | None = None,
        finish_reason: str | None = None,
        tries: int = 1,
        text: str | None = None,
    ) -> None:
        """Note what is known of the reply. The text is recorded only if a variable asks for it."""
        if _recorder is None:
            return
        self._attributes |= {
            "gen_ai.usage.input_tokens": input_tokens,
            "gen_ai.usage.output_tokens": output_tokens,
            "gen_ai.usage.cache_read.input_tokens": cached_tokens,
            # Most calls end so, and each attribute costs CPU time.
            "gen_ai.response.finish_reasons": None if finish_reason in (None, "stop") else (finish_reason,),
            "pgclarify.tries": tries if tries > 1 else None,
        }
        if text is not None and _is_content_asked_for():
            self._attributes["gen_ai.output.messages"] = _as_messages([("assistant", text)])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if _recorder is not None and self._attributes:
            if error is not None:
                self._attributes["error.type"] = _code(error)
            _recorder.add_call(self._name, self._started, self._attributes, is_error=error is not None)


def note(attributes: Attributes) -> None:
    """Add attributes to the current span; those that are None are left out."""
    if _recorder is not None:
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes(_known(attributes))


def note_error(code: str) -> None:
    """Mark the current span as failed.

    Args:
        code: A SQLSTATE, or the name of an exception.
    """
    if _recorder is not None:
        from opentelemetry.trace import StatusCode, get_current_span

        get_current_span().set_attribute("error.type", code)
        get_current_span().set_status(StatusCode.ERROR)


def note_event(name: str, attributes: Attributes) -> None:
    """Add an event to the current span."""
    if _recorder is not None:
        from opentelemetry.trace import get_current_span

        get_current_span().add_event(name, _known(attributes))


def current_ids() -> tuple[str, str, str] | None:
    """Return the ids of the trace and of the current span, and its flags, in hexadecimal; None without a span.

    The span may belong to the application that called.
    """
    # An application that has not imported it has no span.
    library = sys.modules.get("opentelemetry.trace")
    if library is None:
        return None
    context: SpanContext = library.get_current_span().get_span_context()
    if not context.is_valid:
        return None
    return f"{context.trace_id:032x}", f"{context.span_id:016x}", f"{context.trace_flags:02x}"


def current_traceparent() -> str | None:
    """Return the current span in the form of W3C Trace Context; None without a span."""
    ids = current_ids()
    return None if ids is None else "-".join(("00", *ids))


def _code(error: BaseException) -> str:
    return code_of(error) if isinstance(error, Exception) else type(error).__name__


def _known(attributes: Attributes) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}


def _is_content_asked_for() -> bool:
    return os.environ.get(_CAPTURE, "").strip().lower() in ("true", "span_only", "span_and_event")


def _as_messages(said: Sequence[tuple[str, str]]) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in said])
