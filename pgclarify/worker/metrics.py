"""The metrics of a worker, in the form of Prometheus: its runs, its model calls, and how much work waits.

No metric has a text of a user in it. Labels are names of our own, SQLSTATEs, and names of models. Only the first few
models that answered have a label of their own, because every user may name rerankers.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeVar

import psycopg
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from pgclarify.data.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.database.connections import with_keepalives
from pgclarify.database.errors import translated
from pgclarify.database.queries import call, queries
from pgclarify.errors import CompletionError, EndpointUnavailable, PgclarifyError, code_of, describe
from pgclarify.protocols import Completer, Sending
from pgclarify.worker.monitor import Monitor

_logger = logging.getLogger(__name__)

T = TypeVar("T")

_CALL_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_MOST_MODELS = 10
_LONGEST_MODEL = 100
_OTHER_MODELS = "other"
# Several servers may scrape one worker. The database is asked at most once in this time.
_FRESH_SECONDS = 5.0
# Prometheus gives up after ten seconds, and then has no metric at all.
_CONNECT_SECONDS, _STATEMENT_LIMIT = 4, "4s"
_KIND = "kind"
# Name; columns of work_counts by the value of the label "kind" (one column has no label); description of the metric.
_WORK: tuple[tuple[str, Mapping[str, str], str], ...] = (
    ("workers_alive", {"": "living_workers"}, "Workers that serve this database"),
    (
        "jobs_ready",
        {"waited_for": "jobs_waited_for", "background": "jobs_in_background"},
        "Runs that no worker has started: those that a call waits for, and all others",
    ),
    ("jobs_delayed", {"": "jobs_delayed"}, "Runs that were put back into the queue for some seconds"),
    ("jobs_running", {"": "jobs_running"}, "Runs that workers have taken"),
    (
        "oldest_job_seconds",
        {"waited_for": "oldest_waited_for_seconds", "background": "oldest_in_background_seconds"},
        "Age of the oldest run that waits in the queue; 0 if there is none",
    ),
    ("documents_pending", {"": "documents_pending"}, "Documents whose present content is not searchable yet"),
    ("passages_pending", {"": "passages_pending"}, "Passages of these documents, about"),
    ("documents_failed", {"": "documents_failed"}, "Documents that cannot be indexed"),
    ("ingest_lag_seconds", {"": "ingest_lag_seconds"}, "Age of the oldest change that is not searchable; 0 if none"),
    ("passages_unlinked", {"": "passages_unlinked"}, "Searchable passages that the neighborhood graph lacks"),
    ("sources_failed", {"": "sources_failed"}, "Attached tables that are no longer followed because of an error"),
)


class WorkCounts(Collector):
    """Counts of the whole database, read when they are scraped. Every worker reports the same ones.

    Args:
        read: Reads the row of `pgclarify_private.work_counts`. Called in a thread of the HTTP server.
    """

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._kept: tuple[float, Mapping[str, Any] | None] | None = None

    def collect(self) -> Iterator[Metric]:
        """Read the counts. Called in a thread of the HTTP server."""
        counts = self._fresh()
        up = "1 if this worker could read the counts of the database, which are missing otherwise"
        yield GaugeMetricFamily("pgclarify_database_up", up, value=0 if counts is None else 1)
        if counts is None:
            return
        for name, columns, text in _WORK:
            told = f"{text}. Of the whole database: take max, not sum, over workers."
            family = GaugeMetricFamily(f"pgclarify_{name}", told, labels=[] if "" in columns else [_KIND])
            for kind, column in columns.items():
                family.add_metric([kind] if kind else [], float(counts[column]))
            yield family

    def _fresh(self) -> Mapping[str, Any] | None:
        # One scrape at a time asks the database; other scrapes wait and use its answer.
        with self._lock:
            if self._kept is None or time.monotonic() - self._kept[0] > _FRESH_SECONDS:
                counts = self._ask()
                # The time after the ask: otherwise each scrape that waits for one that hangs would ask again.
                self._kept = (time.monotonic(), counts)
            return self._kept[1]

    def _ask(self) -> Mapping[str, Any] | None:
        try:
            return self._read()
        except PgclarifyError as error:
            _logger.warning("the metrics lack the counts of the database: %s", describe(error))
            return None


def read_work_counts(dsn: str) -> Mapping[str, Any]:
    """Count waiting work in the whole database, over a connection of its own: the event loop may be stuck.

    Raises:
        DatabaseError: If the server does not answer in some seconds, or refuses.
    """
    with (
        translated(),
        psycopg.connect(
            with_keepalives(make_conninfo(dsn, connect_timeout=_CONNECT_SECONDS)),
            row_factory=dict_row,
            application_name="pgclarify metrics",
        ) as connection,
    ):
        connection.execute(queries["pin_session"])
        connection.execute(queries["limit_statements"], {"limit": _STATEMENT_LIMIT})
        (row,) = connection.execute(call("work_counts", ())).fetchall()
    return row


class WorkerMetrics(Monitor):
    """The metrics of one worker process.

    Args:
        read_counts: Reads the row of `pgclarify_private.work_counts`. Called in a thread.
    """

    def __init__(self, read_counts: Callable[[], Mapping[str, Any]]) -> None:
        # The creation time of each counter would double the number of series.
        disable_created_metrics()
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(WorkCounts(read_counts))
        self._models: set[str] = set()
        self._info = Gauge(
            "pgclarify_worker_info", "1, with what this worker is", ["version", "provider", "model"], registry=registry
        )
        self._ready = Gauge("pgclarify_worker_ready", "1 while this worker takes runs", registry=registry)
        self._runs = Gauge("pgclarify_runs_running", "Runs that this worker is carrying out", registry=registry)
        self._ended = Counter(
            "pgclarify_runs_ended",
            "Runs that ended in this worker. code: budget, run.error_code or run.stop_code, the first that applies",
            ["operation", "status", "code"],
            registry=registry,
        )
        self._open_calls = Gauge(
            "pgclarify_model_calls_open",
            "Calls of this worker that wait for their turn or for a reply; each holds a lease in the ledger",
            registry=registry,
        )
        self._calls = self._counter("calls", "Calls that were answered", "model", "purpose")
        self._errors = self._counter(
            "call_errors", "Calls without a reply after all retries. code: a SQLSTATE", "model", "purpose", "code"
        )
        self._retries = self._counter("call_retries", "Tries of calls beyond the first one", "model", "purpose")
        self._tokens = self._counter(
            "tokens",
            "Tokens of answered calls, as the endpoint counts them. kind: prompt, completion, or cached, which is a"
            " part of prompt",
            "model",
            "purpose",
            "kind",
        )
        self._seconds = Histogram(
            "pgclarify_model_call_seconds",
            "Seconds from a request to its reply, retries included and the wait for its turn left out",
            ["model"],
            buckets=_CALL_SECONDS,
            registry=registry,
        )

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"pgclarify_model_{name}", f"{text}. Of this worker.", labels, registry=self._registry)

    def render(self) -> bytes:
        """Write all metrics in the text format of Prometheus. Asks the database; called in a thread."""
        return generate_latest(self._registry)

    def describe(self, *, version: str, provider: str, model: str) -> None:
        """See Monitor."""
        self._info.clear()
        self._info.labels(version, provider, self._model(model)).set(1)

    def metered(self, completer: Completer) -> Completer:
        """See Monitor."""
        return _Metered(completer, self)

    def note_ready(self, *, is_ready: bool) -> None:
        """See Monitor."""
        self._ready.set(is_ready)

    def note_end(self, operation: str, status: str, code: str) -> None:
        """See Monitor."""
        self._ended.labels(operation, status, code).inc()

    def follow(self, runs_running: Callable[[], int]) -> None:
        """See Monitor."""
        self._runs.set_function(runs_running)

    async def count(self, request: CompletionRequest, call: Callable[[], Awaitable[Completion]]) -> Completion:
        """Make a call, and count its result.

        Args:
            request: The request.
            call: Sends the request.

        Raises:
            EndpointUnavailable: If the call raises it.
        """
        try:
            with self._open_calls.track_inprogress():
                completion = await call()
        except CompletionError as error:
            # Users name rerankers: only a name that some model has answered to gets a label of its own.
            labels = (self._model(request.model, is_known=False), request.purpose)
            self._errors.labels(*labels, code_of(error)).inc()
            if isinstance(error, EndpointUnavailable):
                self._retries.labels(*labels).inc(error.tries - 1)
            raise
        labels = (self._model(request.model), request.purpose)
        self._calls.labels(*labels).inc()
        self._retries.labels(*labels).inc(completion.tries - 1)
        self._seconds.labels(labels[0]).observe(completion.latency_ms / 1000)
        for kind, tokens in (
            ("prompt", completion.prompt_tokens),
            ("completion", completion.completion_tokens),
            ("cached", completion.cached_tokens),
        ):
            if tokens:
                self._tokens.labels(*labels, kind).inc(tokens)
        return completion

    def _model(self, name: str, *, is_known: bool = True) -> str:
        """Return the label of a model: its name, if it is one of the first few known ones."""
        name = name[:_LONGEST_MODEL]
        if name not in self._models:
            if not is_known or len(self._models) >= _MOST_MODELS:
                return _OTHER_MODELS
            self._models.add(name)
        return name


class _Metered:
    """A completer whose calls are counted. Implements protocols.Completer."""

    def __init__(self, completer: Completer, metrics: WorkerMetrics) -> None:
        self._completer = completer
        self._metrics = metrics

    @property
    def provider(self) -> str:
        return self._completer.provider

    @property
    def model(self) -> str:
        return self._completer.model

    @property
    def turns_free(self) -> int | None:
        return self._completer.turns_free

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        return self._completer.adapt(call)

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        return self._completer.request(call)

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        return await self._metrics.count(request, lambda: self._completer.complete(request, sending))
