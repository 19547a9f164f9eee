"""The metrics of a worker for Prometheus, and its answers to health checks."""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from pgclarify.data.model_calls import Completion, CompletionRequest, Message
from pgclarify.embedded import Address
from pgclarify.errors import ConfigurationError, EndpointFailed
from pgclarify.worker import metrics as metrics_module
from pgclarify.worker import metrics_server
from pgclarify.worker.metrics import WorkerMetrics, read_work_counts
from pgclarify.worker.metrics_server import WatchedWorker, watched
from tests.fakes.completer import ScriptedCompleter

COLUMNS = {column for _, columns, _ in metrics_module._WORK for column in columns.values()}
COUNTS: Mapping[str, Any] = {column: number for number, column in enumerate(sorted(COLUMNS))}
NOWHERE = "host=/nowhere"


def samples(text: bytes) -> dict[str, float]:
    """The values of all series, by name and labels."""
    lines = (line.rpartition(" ") for line in text.decode().splitlines() if line and not line.startswith("#"))
    return {series: float(value) for series, _, value in lines}


async def scraped(metrics: WorkerMetrics) -> dict[str, float]:
    return samples(await asyncio.to_thread(metrics.render))


def request(model: str = "fake", purpose: str = "verdict") -> CompletionRequest:
    return CompletionRequest(purpose, model, {}, "1", (Message("user", "a secret question"),))


@pytest.fixture
async def metrics() -> WorkerMetrics:
    return WorkerMetrics(lambda: COUNTS)


async def test_answered_calls_with_their_tokens_and_retries(metrics: WorkerMetrics) -> None:
    async def call() -> Completion:
        return Completion("secret", 100, 20, 400.0, cached_tokens=60, tries=3)

    for _ in range(2):
        await metrics.count(request(), call)

    told = await scraped(metrics)
    labels = 'model="fake",purpose="verdict"'
    assert told[f"pgclarify_model_calls_total{{{labels}}}"] == 2
    assert told[f"pgclarify_model_call_retries_total{{{labels}}}"] == 4
    tokens = {kind: told[f'pgclarify_model_tokens_total{{kind="{kind}",{labels}}}'] for kind in ("prompt", "cached")}
    assert tokens == {"prompt": 200, "cached": 120}
    assert told['pgclarify_model_call_seconds_bucket{le="0.25",model="fake"}'] == 0
    assert told['pgclarify_model_call_seconds_bucket{le="0.5",model="fake"}'] == 2
    assert told["pgclarify_model_calls_open"] == 0


async def test_a_call_that_failed_by_its_code(metrics: WorkerMetrics) -> None:
    async def call() -> Completion:
        assert (await scraped(metrics))["pgclarify_model_calls_open"] == 1
        error = EndpointFailed("it says secret things")
        error.tries = 4
        raise error

    metrics.describe(version="0.2.0", provider="openai", model="fake")
    with pytest.raises(EndpointFailed):
        await metrics.count(request(), call)

    told = await scraped(metrics)
    assert told['pgclarify_model_call_errors_total{code="PC017",model="fake",purpose="verdict"}'] == 1
    assert told['pgclarify_model_call_retries_total{model="fake",purpose="verdict"}'] == 3
    assert told["pgclarify_model_calls_open"] == 0


async def test_metrics_have_no_text_of_a_user_and_few_names_of_models(metrics: WorkerMetrics) -> None:
    async def call() -> Completion:
        return Completion("secret", 1, 1, 1.0)

    for number in range(50):
        await metrics.count(request(f"endpoint {number}" + "x" * 1000), call)

    text = (await asyncio.to_thread(metrics.render)).decode()
    assert "secret" not in text
    models = set(re.findall(r'model="([^"]*)"', text))
    assert len(models) == 11
    assert "other" in models
    assert max(map(len, models)) == 100


async def test_a_name_to_which_no_model_answers_is_no_label(metrics: WorkerMetrics) -> None:
    async def fail() -> Completion:
        raise EndpointFailed("no such model")

    with pytest.raises(EndpointFailed):
        await metrics.count(request("a text of a user"), fail)

    told = await scraped(metrics)
    assert told['pgclarify_model_call_errors_total{code="PC017",model="other",purpose="verdict"}'] == 1
    assert not any("a text of a user" in series for series in told)


def test_the_database_is_asked_once_in_some_seconds() -> None:
    asked = []

    def counts() -> Mapping[str, Any]:
        asked.append(1)
        return COUNTS

    metrics = WorkerMetrics(counts)
    for _ in range(5):
        told = samples(metrics.render())
    assert asked == [1]
    assert told["pgclarify_database_up"] == 1
    assert told['pgclarify_jobs_ready{kind="waited_for"}'] == COUNTS["jobs_waited_for"]
    assert told["pgclarify_ingest_lag_seconds"] == COUNTS["ingest_lag_seconds"]


def test_a_database_that_does_not_answer_costs_its_own_metrics_alone() -> None:
    metrics = WorkerMetrics(partial(read_work_counts, NOWHERE))
    metrics.follow(lambda: 3)
    told = samples(metrics.render())
    assert (told["pgclarify_database_up"], told["pgclarify_runs_running"]) == (0, 3)
    assert "pgclarify_ingest_lag_seconds" not in told


async def test_a_stuck_loop_is_told_from_a_living_one() -> None:
    worker = WatchedWorker(lambda: COUNTS, patience=0.2)
    worker.note_ready(is_ready=True)
    beating = asyncio.create_task(worker.keep_beating())
    await asyncio.sleep(0)
    for path in ("/healthz", "/readyz"):
        assert worker.answer(path)[0] is HTTPStatus.OK
    assert samples(worker.render())["pgclarify_worker_ready"] == 1
    time.sleep(0.3)  # noqa: ASYNC251 - this is the stuck loop
    for path in ("/healthz", "/readyz"):
        assert worker.answer(path)[0] is HTTPStatus.SERVICE_UNAVAILABLE
    assert samples(worker.render())["pgclarify_worker_ready"] == 0
    beating.cancel()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def get(address: Address, path: str) -> tuple[int, str, bytes]:
    """Send a request over HTTP. Returns status, content type and content."""
    try:
        with urlopen(f"http://{address}{path}", timeout=60) as response:
            return response.status, response.headers["Content-Type"], response.read()
    except HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read()


def get_again(address: Address, path: str) -> tuple[int, str, bytes]:
    """Send a request over HTTP, and repeat it while the thread of an earlier request has not ended."""
    for _ in range(1000):
        try:
            return get(address, path)
        except OSError:
            time.sleep(0.01)
    return get(address, path)


async def test_a_worker_answers_over_http_until_it_ends() -> None:
    address = Address("127.0.0.1", free_port())
    async with watched(address, NOWHERE) as worker:
        worker.note_ready(is_ready=True)
        paths = ("/metrics", "/healthz", "/readyz", "/")
        answers = {path: await asyncio.to_thread(get, address, path) for path in paths}
        assert {path: status for path, (status, _, _) in answers.items()} == {
            "/metrics": 200,
            "/healthz": 200,
            "/readyz": 200,
            "/": 404,
        }
        assert answers["/metrics"][1].startswith("text/plain; version=")
        assert samples(answers["/metrics"][2])["pgclarify_worker_ready"] == 1
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(get, address, "/healthz")


async def closed_in_time(client: socket.socket) -> bool:
    """Tell whether the server closes a connection without an answer."""
    client.settimeout(60)
    try:
        return await asyncio.to_thread(client.recv, 1) == b""
    except ConnectionError:
        return True


async def test_connections_beyond_the_limit_are_closed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_server, "_MOST_CONNECTIONS", 2)
    address = Address("127.0.0.1", free_port())
    async with watched(address, NOWHERE):
        with socket.create_connection((address.host, address.port)):
            # A connection frees its place when it ends.
            for _ in range(5):
                assert (await asyncio.to_thread(get_again, address, "/healthz"))[0] == 200
            with (
                socket.create_connection((address.host, address.port)),
                socket.create_connection((address.host, address.port)) as one_too_many,
            ):
                assert await closed_in_time(one_too_many)


async def test_a_client_that_sends_slowly_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_server, "_REQUEST_SECONDS", 0.3)
    address = Address("127.0.0.1", free_port())
    async with watched(address, NOWHERE):
        with socket.create_connection((address.host, address.port)) as client, pytest.raises(ConnectionError):
            async with asyncio.timeout(60):
                while True:
                    client.send(b"G")
                    await asyncio.sleep(0.05)


async def test_an_address_in_use_is_an_error_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = Address("127.0.0.1", listener.getsockname()[1])
        with pytest.raises(ConfigurationError) as caught:
            async with watched(address, NOWHERE):
                pass
    assert str(address) in caught.value.message
    assert caught.value.hint


async def test_a_completer_that_is_metered_answers_as_before(metrics: WorkerMetrics) -> None:
    completer = metrics.metered(ScriptedCompleter({"verdict": lambda _: "a reply"}, model="small"))
    assert (completer.provider, completer.model) == ("openai", "small")
    assert (await completer.complete(request("small"))).reply == "a reply"
    assert 'pgclarify_model_calls_total{model="small",purpose="verdict"}' in await scraped(metrics)
