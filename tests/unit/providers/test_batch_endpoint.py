"""A batch API that is broken, or hostile, cannot exhaust a worker."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from time import time
from typing import Any

import pytest
from aiohttp import web

from pgclarify.errors import EndpointUnavailable
from pgclarify.providers import batch_endpoint
from pgclarify.providers.batch_endpoint import BatchEndpoint, RemoteBatch
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint

GOOD = {"id": "batch_1", "status": "completed", "input_file_id": "in", "output_file_id": "out", "created_at": 1}
OVER = RemoteBatch("batch_1", True, False, "completed", 0, "out", None, "in")


class Api:
    """A batch API that answers what a test says.

    Attributes:
        batch: A batch, as it answers about any.
        pages: How many pages of its list were read.
        after: The batch after which each of them began.
        output: The file with replies.
    """

    def __init__(self) -> None:
        self.batch: Any = GOOD
        self.pages = 0
        self.after: list[str | None] = []
        self.output = b""

    async def one(self, _: web.Request) -> web.Response:
        return web.json_response(self.batch)

    async def page(self, request: web.Request) -> web.Response:
        self.pages += 1
        self.after.append(request.query.get("after"))
        other = {**GOOD, "id": f"batch_{self.pages}", "created_at": time(), "metadata": {"pgclarify_batch": "other"}}
        return web.json_response({"object": "list", "data": [other], "has_more": True})

    async def file(self, _: web.Request) -> web.Response:
        return web.Response(body=self.output)

    async def upload(self, _: web.Request) -> web.Response:
        return web.json_response({"id": "in", "object": "file"})


@pytest.fixture
async def api() -> Api:
    return Api()


@pytest.fixture
async def endpoint(api: Api) -> AsyncIterator[BatchEndpoint]:
    application = web.Application()
    application.router.add_post("/v1/files", api.upload)
    application.router.add_get("/v1/files/{id}/content", api.file)
    application.router.add_post("/v1/batches", api.one)
    application.router.add_get("/v1/batches", api.page)
    application.router.add_get("/v1/batches/{id}", api.one)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    batches = BatchEndpoint(Endpoint(Address(f"http://{host}:{port}/v1"), "m", concurrency=1, timeout=20))
    yield batches
    await batches.aclose()
    await runner.cleanup()


def line(number: object, said: str = "yes") -> bytes:
    body = {"choices": [{"message": {"content": said}}]}
    answered = {"custom_id": str(number), "response": {"status_code": 200, "body": body}}
    return json.dumps(answered).encode() + b"\n"


async def test_a_call_that_a_filter_refused_has_an_empty_reply(api: Api, endpoint: BatchEndpoint) -> None:
    refusals = [(1, "content_filter"), (2, "invalid_value")]
    api.output = b"".join(
        json.dumps(
            {"custom_id": str(number), "response": {"status_code": 400, "body": {"error": {"code": code}}}}
        ).encode()
        + b"\n"
        for number, code in refusals
    )
    ((number, completion),) = await endpoint.read(replace(OVER, output_file_id=None, error_file_id="errors"))
    assert (number, completion.reply, completion.finish_reason) == (1, "", "content_filter")


async def test_a_call_that_a_filter_refused_within_a_success_has_an_empty_reply(
    api: Api, endpoint: BatchEndpoint
) -> None:
    errors = enumerate(({"code": "content_filter", "message": "no"}, {"code": 502, "message": "gone"}), start=1)
    bodies = {number: {"choices": [{"error": error, "message": {"content": ""}}]} for number, error in errors}
    api.output = b"".join(
        json.dumps({"custom_id": str(number), "response": {"status_code": 200, "body": body}}).encode() + b"\n"
        for number, body in bodies.items()
    )
    ((number, completion),) = await endpoint.read(OVER)
    assert (number, completion.reply, completion.finish_reason) == (1, "", "content_filter")


async def test_a_list_without_an_end_is_given_up(
    api: Api, endpoint: BatchEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_endpoint, "_MOST_LISTED", 5)

    with pytest.raises(EndpointUnavailable):
        await endpoint.find("ours", timedelta(0))

    assert api.after == [None, "batch_1", "batch_2", "batch_3", "batch_4"]


@pytest.mark.parametrize(
    "changes",
    [
        {"id": None},
        {"id": "../files/in"},
        {"id": "x" * 10_000},
        {"status": ["completed"]},
        {"input_file_id": {}},
    ],
    ids=str,
)
async def test_a_batch_that_cannot_be_read_is_an_error_of_the_endpoint(
    api: Api, endpoint: BatchEndpoint, changes: dict[str, Any]
) -> None:
    api.batch = {**GOOD, **changes}

    with pytest.raises(EndpointUnavailable):
        await endpoint.look("batch_1")
    with pytest.raises(EndpointUnavailable):
        await endpoint.create("ours", [(1, "{}")])


@pytest.mark.parametrize(
    "changes",
    [{"errors": "text"}, {"errors": []}, {"errors": {"data": ["text"]}}, {"request_counts": "many"}],
    ids=str,
)
async def test_errors_and_counts_of_a_batch_may_have_any_form(
    api: Api, endpoint: BatchEndpoint, changes: dict[str, Any]
) -> None:
    api.batch = {**GOOD, **changes}

    assert await endpoint.look("batch_1") == OVER


async def test_lines_that_are_no_replies_are_told_once(
    api: Api, endpoint: BatchEndpoint, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    api.output = b"\n" * 5000 + line(1) + b"{}\n" * 5000 + line(2)

    replies = await endpoint.read(OVER)

    assert [number for number, _ in replies] == [1, 2]
    assert len(caplog.records) == 1


@pytest.mark.parametrize("custom_id", [2.9, 2, True, " 2", "2_0", "+2", "02", "-2", "two", None, [2]])
async def test_a_reply_to_what_was_not_sent_is_no_reply_to_another_call(
    api: Api, endpoint: BatchEndpoint, custom_id: object
) -> None:
    answered = json.loads(line(2)) | {"custom_id": custom_id}
    api.output = json.dumps(answered).encode() + b"\n" + line(3)

    assert [number for number, _ in await endpoint.read(OVER)] == [3]


async def test_replies_are_limited_in_number_and_size(
    api: Api, endpoint: BatchEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_endpoint, "_MOST_LINE_BYTES", 1000)
    monkeypatch.setattr(batch_endpoint, "_MOST_LINES", 5)
    long = line(2, "x" * 2000)
    api.output = line(1, "first") + long + line(1, "again") + b"{}\n" + line(3) + line(4)

    replies = await endpoint.read(OVER)

    assert [(number, completion.reply) for number, completion in replies] == [(1, "first"), (3, "yes")]
