"""Any bytes, with any status, headers and shape, give a completion, or the endpoint is unavailable."""

import asyncio
import gzip
import json
from collections.abc import Callable, Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pgclarify.data.model_calls import Completion
from pgclarify.errors import EndpointUnavailable
from tests.unit.providers.asking import endpoint_of, request
from tests.unit.providers.raw_server import completion, http, serve_raw

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None))
    | st.sampled_from([10**400, "\0", "\ud800", "text", "refusal", -1, 2**31]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "type", "text", "refusal", "usage", "error", "param"]),
            inner,
        )
    ),
    max_leaves=8,
)
SHAPES = st.one_of(
    JSON,
    st.builds(lambda value: {"choices": value}, JSON),
    st.builds(lambda value: {"choices": [value]}, JSON),
    st.builds(lambda value: {"choices": [{"message": value}]}, JSON),
    st.builds(completion, JSON),
    st.builds(lambda value: completion([{"type": "text", "text": value}, value]), JSON),
    st.builds(lambda value: completion(usage=value), JSON),
    st.builds(lambda value: completion(usage={"prompt_tokens": value, "completion_tokens": value}), JSON),
    st.builds(lambda value: {"error": value}, JSON),
)


def written(shape: object) -> bytes:
    return json.dumps(shape).encode()


BODIES = st.one_of(
    st.binary(max_size=300),
    st.builds(written, SHAPES),
    st.builds(lambda shape, cut: written(shape)[:cut], SHAPES, st.integers(0, 60)),
    st.builds(lambda shape, more: more + written(shape) + more, SHAPES, st.sampled_from([b" ", b"\xef\xbb\xbf", b"x"])),
    st.builds(lambda shape: gzip.compress(written(shape)), SHAPES),
)
HEADERS = st.lists(
    st.sampled_from(
        [
            "Content-Encoding: gzip",
            "Content-Encoding: deflate",
            "Content-Encoding: zstd, br",
            "Transfer-Encoding: chunked",
            "Transfer-Encoding: gzip",
            "Content-Length: 5",
            "Content-Length: x",
            "Connection: close",
            "Connection: upgrade",
            "Upgrade: websocket",
            "Location: http://127.0.0.1:1/\xff",
            "Location: ///",
            "Retry-After: 0.001",
            "Retry-After: 1e9",
            "Retry-After: \xb2",
            "Retry-After-Ms: -1",
            "x-should-retry: true",
            "x-should-retry: \xe9",
            "Content-Type: text/html; charset=utf-7",
            "Set-Cookie: a=\xff; Max-Age=9999999999999999999",
            "no header at all",
            ": nameless",
            " folded",
            f"X: {'a' * 8200}",
        ]
    ),
    max_size=3,
)
STATUSES = st.one_of(
    st.just("200 OK"),
    st.integers(0, 1100).map(lambda status: f"{status:03d} X"),
    st.sampled_from(["200", "-1 X", "2e2 OK", "204 ", "101 Switching Protocols", "408 X", "301 X"]),
)
ANSWERS = st.one_of(
    st.binary(max_size=300),
    st.builds(http, BODIES),
    st.builds(
        lambda body, status, headers, length: http(body, status, *headers, length=length),
        BODIES,
        STATUSES,
        HEADERS,
        st.one_of(st.none(), st.integers(-1, 50)),
    ),
    st.builds(lambda first, body: first + http(body), st.sampled_from([b"\r\n", b"HTTP/1.1 103 X\r\n\r\n"]), BODIES),
)


@pytest.fixture(scope="module")
def outcome() -> Iterator[Callable[[bytes], object]]:
    """Calls a server that always answers with these bytes. All calls use one event loop."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        serving = serve_raw()
        server = loop.run_until_complete(serving.__aenter__())
        # This timeout is enough: the server closes each connection, and is silent only after a switch of protocols.
        endpoint = endpoint_of(server, timeout=2)

        async def asked(answer: bytes) -> object:
            server.answer, server.calls = answer, 0
            try:
                return await asyncio.wait_for(endpoint.complete(request()), 60)
            except EndpointUnavailable as error:
                return error

        yield lambda answer: loop.run_until_complete(asked(answer))
        loop.run_until_complete(endpoint.aclose())
        loop.run_until_complete(serving.__aexit__(None, None, None))


@pytest.mark.slow
@settings(max_examples=150)
@given(ANSWERS)
@example(http(completion()))
@example(http(completion("\0\ud800")))
@example(http(completion(usage={"prompt_tokens": 2**31, "completion_tokens": -1})))
@example(http(b"", "101 Switching Protocols", "Connection: upgrade", "Upgrade: websocket"))
def test_whatever_comes_is_a_completion_or_the_endpoint_is_unavailable(
    outcome: Callable[[bytes], object], answer: bytes
) -> None:
    said = outcome(answer)
    if isinstance(said, Completion):
        said.reply.encode()
        assert "\0" not in said.reply
        assert all(number is None or 0 <= number < 2**31 for number in (said.prompt_tokens, said.completion_tokens))
    else:
        assert isinstance(said, EndpointUnavailable)
