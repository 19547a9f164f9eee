"""Each response is a completion, a retry or EndpointUnavailable, and only the needed part is read."""

import asyncio
import contextlib
import gzip
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from email.utils import formatdate
from time import time
from typing import Any

import pytest
from pydantic import SecretStr

from pgclarify.data.model_calls import Completion
from pgclarify.errors import EndpointUnavailable, RequestRefused
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint
from tests.fakes import FakeSending
from tests.unit.providers.asking import endpoint_of, request
from tests.unit.providers.raw_server import Answer, RawServer, completion, http, serve_raw


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with serve_raw() as running:
        yield running


async def ask(server: RawServer, **changes: Any) -> Completion:
    async with endpoint_of(server, **changes) as endpoint:
        return await endpoint.complete(request())


def message(**fields: object) -> bytes:
    return http({"choices": [{"message": fields}]})


def encoded(body: bytes, encoding: str) -> bytes:
    return http(body, "200 OK", f"Content-Encoding: {encoding}")


OK = json.dumps(completion()).encode()

READ = {
    "parts": (message(content=[{"type": "text", "text": "ye"}, {"type": "output_text", "text": "s"}]), "yes"),
    "parts without types": (message(content=["y", {"text": "es"}]), "yes"),
    "a thought and a text": (
        message(content=[{"type": "thinking", "thinking": [1]}, {"type": "text", "text": "yes"}]),
        "yes",
    ),
    "a part that refuses": (message(content=[{"type": "refusal", "refusal": "no"}]), "no"),
    "parts without text": (message(content=[{"type": [], "text": "x"}, {"type": "text", "text": None}]), ""),
    "a message without content": (message(role="assistant", tool_calls=[]), ""),
    "NUL and half a pair": (message(content="a\0\ud800"), "a\ufffd?"),
    "a byte that is no UTF-8": (http(OK.replace(b"yes", b"y\xffs")), "y\ufffds"),
    "NaN elsewhere": (http(b'{"logprobs": [NaN, -Infinity], ' + OK[1:]), "yes"),
    "an interim answer first": (b"HTTP/1.1 102 Processing\r\n\r\n" + http(OK), "yes"),
    "chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"".join(b"1\r\n%c\r\n" % byte for byte in OK)
        + b"0\r\n\r\n",
        "yes",
    ),
}


@pytest.mark.parametrize("shape", READ)
async def test_responses_of_real_servers_are_read(server: RawServer, shape: str) -> None:
    server.answer, reply = READ[shape]
    assert (await ask(server)).reply == reply
    assert server.calls == 1


TRIED_AGAIN: dict[str, bytes] = {
    "nothing": b"",
    "a byte too few": http(OK, length=len(OK) + 1),
    "a bad chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + OK + b"\r\n0\r\n\r\n",
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "no message": http({"choices": [{}]}),
    "a number of many digits": http(b'{"choices": ' + b"9" * 10_000 + b"}"),
    "another encoding": encoded(OK, "br"),
    "gzip that was not asked for": encoded(gzip.compress(OK), "gzip"),
    "too large": http(b'{"x": "' + b"a" * 2**20 + b'"}'),
    "429": http({"error": {"message": "slow down"}}, "429 Too Many Requests"),
    "503 with a page": http(b"<html>", "503 Service Unavailable"),
    "500, cut off": http(b"<html>", "500 Oh", length=100),
}


@pytest.mark.parametrize("fault", TRIED_AGAIN)
async def test_an_answer_that_is_no_completion_is_asked_for_again(server: RawServer, fault: str) -> None:
    server.script += [TRIED_AGAIN[fault]] * 4
    async with endpoint_of(server, max_retries=2) as endpoint:
        with pytest.raises(EndpointUnavailable) as caught:
            await endpoint.complete(request())
        assert server.calls == 3
        assert not isinstance(caught.value, RequestRefused)
        assert (await endpoint.complete(request())).reply == "yes"
    assert server.calls == 5


REFUSED = {
    "deep": b'{"error": ' + b"[" * 100_000,
    "FastAPI's": b'{"detail": [{"loc": ["body", "messages"], "msg": "no"}]}',
    "a message that is an object": b'{"error": {"message": {"a": 1}, "param": [2]}}',
    "half a pair": b'{"error": {"message": "\\ud800\\u0000", "param": "\\ud800"}}',
    "a body that is a list": b'[{"error": {"message": "no"}}]',
    "NaN": b"NaN",
    "text": b"no",
    "much": b'{"error": "' + b"a" * 2**20,
}


@pytest.mark.parametrize("shape", REFUSED)
async def test_refusals_of_any_shape_are_refusals(server: RawServer, shape: str) -> None:
    server.answer = http(REFUSED[shape], "400 Bad Request")
    with pytest.raises(RequestRefused):
        await ask(server)
    assert server.calls == 1


async def test_a_redirect_is_not_followed(server: RawServer) -> None:
    server.answer = http(b"", "307 Temporary Redirect", "Location: /v1/elsewhere")
    with pytest.raises(EndpointUnavailable) as caught:
        await ask(server)
    assert server.calls == 1
    assert "/v1/elsewhere" in str(caught.value.detail)


async def test_no_cookie_is_kept_and_no_compression_asked_for(server: RawServer) -> None:
    server.answer = http(OK, "200 OK", "Set-Cookie: a=b; Path=/")
    async with endpoint_of(server) as endpoint:
        await endpoint.complete(request())
        await endpoint.complete(request())
    heads = [head.lower() for head in server.requests]
    assert not any(b"cookie" in head for head in heads)
    assert all(b"accept-encoding: identity\r\n" in head for head in heads)


@pytest.mark.parametrize(
    "usage",
    [
        [1],
        {"prompt_tokens": -1, "completion_tokens": 2**31},
        {"prompt_tokens": [1], "completion_tokens": 10**400},
    ],
    ids=repr,
)
async def test_tokens_that_are_no_numbers_are_not_known(server: RawServer, usage: object) -> None:
    server.answer = http(completion(usage=usage))
    said = await ask(server)
    assert (said.reply, said.prompt_tokens, said.completion_tokens) == ("yes", None, None)


HOUR = 3600
LONG_WAITS = {
    "an hour": f"Retry-After: {HOUR}",
    "a day": "Retry-After: 86400",
    "a day in milliseconds": "Retry-After-Ms: 86400000",
    "a date in an hour": f"Retry-After: {formatdate(time() + HOUR, usegmt=True)}",
    "a date in the year 9999": "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT",
}
SHORT_WAITS = {
    "zero": "Retry-After: 0",
    "negative": "Retry-After: -5",
    "a date in the past": "Retry-After: Mon, 01 Jan 2024 00:00:00 GMT",
    "infinity": "Retry-After: inf",
    "no number": "Retry-After: soon",
}


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 No"])
@pytest.mark.parametrize("wait", LONG_WAITS)
async def test_a_server_that_asks_for_a_long_wait_is_not_asked_again(server: RawServer, wait: str, status: str) -> None:
    server.script.append(http({"error": {"message": "no"}}, status, LONG_WAITS[wait]))
    with pytest.raises(EndpointUnavailable) as caught:
        await ask(server, max_retries=7)
    assert server.calls == 1
    assert caught.value.may_pass


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between the tries of calls, which take no time. The first one is usually half a second."""
    taken: list[float] = []
    a_moment = asyncio.sleep

    async def sleep(seconds: float) -> None:
        taken.append(seconds)
        # The end of a connection is noticed meanwhile.
        await a_moment(0.01)

    monkeypatch.setattr("pgclarify.providers.client._FIRST_PAUSE", 0.5)
    monkeypatch.setattr("pgclarify.providers.client.asyncio.sleep", sleep)
    return taken


@pytest.mark.parametrize("wait", SHORT_WAITS)
async def test_after_a_wait_that_is_over_or_unclear_a_call_pauses_as_usual(
    server: RawServer, pauses: list[float], wait: str
) -> None:
    server.script.append(http({"error": {"message": "no"}}, "429 Too Many Requests", SHORT_WAITS[wait]))
    assert (await ask(server)).reply == "yes"
    assert server.calls == 2
    assert [0.5 * 0.75 < pause <= 0.5 for pause in pauses] == [True]


async def test_how_long_a_server_asks_to_wait_is_said(server: RawServer) -> None:
    server.answer = http({"error": {"message": "no"}}, "429 Too Many Requests", f"Retry-After: {HOUR}")
    with pytest.raises(EndpointUnavailable) as caught:
        await ask(server)
    assert str(HOUR) in str(caught.value.detail)


@pytest.mark.parametrize(
    ("status", "said", "calls"),
    [
        *((status, "X: y", 1) for status in (401, 403, 404, 410)),
        *((status, "X: y", 2) for status in (408, 409, 429, 500, 502, 503, 504)),
        (404, "x-should-retry: true", 2),
        (503, "x-should-retry: false", 1),
    ],
)
async def test_a_refusal_that_may_pass_is_asked_again(server: RawServer, status: int, said: str, calls: int) -> None:
    server.answer = http({"error": {"message": "no"}}, f"{status} No", said)
    with pytest.raises(EndpointUnavailable):
        await ask(server)
    assert server.calls == calls


async def test_pauses_grow_and_the_servers_own_count(server: RawServer, pauses: list[float]) -> None:
    server.answer = http({}, "503 No")
    server.script.append(http({}, "503 No", "Retry-After: 7"))
    with pytest.raises(EndpointUnavailable):
        await ask(server, max_retries=7, timeout=60)
    assert pauses[0] == 7
    for pause, usual in zip(pauses[1:], (1, 2, 4, 8, 8, 8), strict=True):
        assert 0.75 * usual < pause <= usual


async def test_variables_for_proxies_and_organizations_are_obeyed(
    server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", server.base_url.removesuffix("/v1"))
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: data\nAuthorization: Bearer another\nno header")
    async with Endpoint(Address("http://127.0.0.2:1/v1", SecretStr("sk-own")), "m", max_retries=0) as endpoint:
        assert (await endpoint.complete(request())).reply == "yes"
    (head,) = server.requests
    assert head.startswith(b"POST http://127.0.0.2:1/v1/chat/completions ")
    assert b"openai-organization: org-1\r\n" in head.lower()
    assert b"openai-project: proj-1\r\n" in head.lower()
    assert b"x-team: data\r\n" in head.lower()
    assert b"authorization: bearer sk-own\r\n" in head.lower()
    assert b"another" not in head
    monkeypatch.setenv("no_proxy", "127.0.0.2")
    async with Endpoint(Address("http://127.0.0.2:1/v1"), "m", max_retries=0) as endpoint:
        with pytest.raises(EndpointUnavailable):
            await endpoint.complete(request())
    assert len(server.requests) == 1


def dripping(data: bytes, *, before: bytes = b"") -> Callable[[asyncio.StreamWriter], Awaitable[None]]:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(before)
        for byte in data:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.02)

    return drip


HEAD = f"HTTP/1.1 200 OK\r\nContent-Length: {len(OK)}\r\n\r\n".encode()


@pytest.mark.parametrize(
    "drip",
    [dripping(OK, before=HEAD), dripping(http(OK)), dripping(b"HTTP/1.1 102 Processing\r\n\r\n" * 99)],
    ids=["the body", "the head", "interim answers"],
)
async def test_an_answer_that_drips_is_asked_for_again(server: RawServer, drip: Answer) -> None:
    server.script.append(drip)
    # Enough tries for a slow machine.
    assert (await ask(server, timeout=0.5, max_retries=20)).reply == "yes"
    assert server.calls > 1


@pytest.mark.slow
async def test_white_space_keeps_a_try_alive_but_not_for_the_whole_call(server: RawServer) -> None:
    async def alive(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(OK) + 13}\r\n\r\n".encode())
        for _ in range(13):
            writer.write(b" ")
            await asyncio.sleep(0.2)
        writer.write(OK)

    server.script.append(alive)
    assert (await ask(server, timeout=2)).reply == "yes"
    assert server.calls == 1
    server.script.append(dripping(b" " * 999, before=b"HTTP/1.1 200 OK\r\n\r\n"))
    assert (await ask(server, timeout=1, max_retries=5)).reply == "yes"
    assert server.calls == 3


async def test_as_much_as_max_tokens_can_need_is_read(server: RawServer) -> None:
    server.answer = http(completion("\n" * 100 * 2000))
    async with endpoint_of(server) as endpoint:
        assert len((await endpoint.complete(request(max_tokens=2000))).reply) == 200_000


async def test_large_replies_that_are_none_too_large_wait_for_each_other(server: RawServer) -> None:
    server.answer = http(completion("a" * 300_000))
    async with endpoint_of(server, concurrency=8) as endpoint:
        said = await asyncio.gather(*(endpoint.complete(request()) for _ in range(8)))
    assert {len(one.reply) for one in said} == {300_000}


STATUSES = {status: http({"error": {"message": "no"}}, f"{status} No") for status in (429, 500, 502, 503, 504, 529)}
# Whether the endpoint may charge for a try that ends so.
CHARGED = {
    "a rate limit": (STATUSES[429], False),
    "an overloaded server": (STATUSES[503], False),
    "another overloaded server": (STATUSES[529], False),
    "a failed server": (STATUSES[500], True),
    "a failed gateway": (STATUSES[502], True),
    "a gateway without patience": (STATUSES[504], True),
    "an answer that cannot be read": (http(b"no JSON"), True),
    "a connection that breaks": (b"", True),
}


@pytest.mark.parametrize(("first", "is_charged"), CHARGED.values(), ids=CHARGED)
async def test_a_try_after_one_that_may_be_charged_is_another_call(
    server: RawServer, first: Answer, is_charged: bool
) -> None:
    server.script.extend([first, http(OK)])
    sending = FakeSending()
    async with endpoint_of(server) as endpoint:
        await endpoint.complete(request(), sending)
    assert sending.begun == [False, is_charged]


@pytest.mark.parametrize(("answer", "is_charged"), CHARGED.values(), ids=CHARGED)
async def test_what_the_last_try_of_a_failed_call_may_cost_is_known(
    server: RawServer, answer: Answer, is_charged: bool
) -> None:
    server.script.append(answer)
    sending = FakeSending()
    async with endpoint_of(server, max_retries=0) as endpoint:
        with pytest.raises(EndpointUnavailable):
            await endpoint.complete(request(), sending)
    assert sending.may_be_charged is is_charged


async def test_a_free_try_is_known_to_be_free_before_the_next(server: RawServer) -> None:
    server.script.append(STATUSES[503])
    sending = FakeSending()
    async with endpoint_of(server) as endpoint:
        asking = asyncio.create_task(endpoint.complete(request(), sending))
        async with asyncio.timeout(30):
            while not sending.begun or sending.may_be_charged:  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    assert sending.begun == [False]


async def test_a_call_that_finds_no_server_costs_nothing() -> None:
    sending = FakeSending()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = Address(f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
        async with Endpoint(address, "m", max_retries=0) as endpoint:
            with pytest.raises(EndpointUnavailable):
                await endpoint.complete(request(), sending)
    assert sending.may_be_charged is False


async def test_a_call_that_waits_for_a_connection_costs_nothing() -> None:
    sending = FakeSending()
    with socket.socket() as full, contextlib.ExitStack() as others:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            other = others.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        address = Address(f"http://127.0.0.1:{full.getsockname()[1]}/v1")
        async with Endpoint(address, "m", max_retries=0, timeout=0.5) as endpoint:
            with pytest.raises(EndpointUnavailable):
                await endpoint.complete(request(), sending)
    assert sending.may_be_charged is False
