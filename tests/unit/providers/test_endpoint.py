"""The endpoint, with a real server over HTTP: requests, concurrency, and errors."""

import asyncio
import json
import logging
import socket
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from pgclarify.config import ReasoningEffort
from pgclarify.data.model_calls import CompletionRequest, Message
from pgclarify.errors import ConfigurationError, EndpointUnavailable, RequestRefused
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint
from tests import openai_server
from tests.fakes import FakeSending
from tests.openai_server import Behavior, Chat, Reply, Server, by_rules

KEY = "sk-very-secret-0123456789"
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


def request(text: str = "Question: what?", **changes: Any) -> CompletionRequest:
    settings: dict[str, Any] = {
        "purpose": "relaxation",
        "parameters": {"temperature": 0, "max_tokens": 64},
        "schema": SCHEMA,
        **changes,
    }
    return CompletionRequest(
        model="rules-1",
        prompt_version="1",
        messages=(Message("system", "Be brief."), Message("user", text)),
        **settings,
    )


def endpoint_of(
    server: Server, *, api_key: SecretStr | None = None, key_file: Path | None = None, **changes: Any
) -> Endpoint:
    address = Address(server.base_url, api_key, key_file=key_file)
    return Endpoint(address, **{"model": "rules-1", "max_retries": 0, **changes})


async def test_a_call_sends_the_request_and_counts_tokens(server):
    async with endpoint_of(server, api_key=SecretStr(KEY)) as endpoint:
        completion = await endpoint.complete(request())
    assert json.loads(completion.reply) == {"query": "what? overview"}
    assert completion.prompt_tokens
    assert completion.completion_tokens
    assert completion.latency_ms > 0
    assert server.keys == {KEY}
    assert server.bodies == [
        {
            "model": "rules-1",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Question: what?"}],
            "temperature": 0,
            "max_tokens": 64,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "relaxation", "strict": True, "schema": SCHEMA},
            },
            "stream": False,
        }
    ]


async def arrivals(server: Server, number: int) -> None:
    async with asyncio.timeout(30):
        for _ in range(number):
            await server.arrivals.get()


async def test_a_call_in_line_is_checked_when_its_turn_comes(server):
    class Refused(Exception):
        """This call must not be made."""

    begun = []

    def note() -> None:
        begun.append(server.calls)
        if len(begun) == 1:
            raise Refused

    server.script.append(openai_server.HANG)
    async with endpoint_of(server, concurrency=1) as endpoint:
        first = asyncio.create_task(endpoint.complete(request("Question: 0")))
        await arrivals(server, 1)
        others = [
            asyncio.create_task(endpoint.complete(request(f"Question: {place}"), FakeSending(note))) for place in (1, 2)
        ]
        await settled()
        assert not begun
        first.cancel()
        results = await asyncio.gather(*others, return_exceptions=True)
    assert isinstance(results[0], Refused)
    assert begun == [1, 1]
    assert [body["messages"][1]["content"] for body in server.bodies] == ["Question: 0", "Question: 2"]


async def settled() -> None:
    """Let all tasks run that can run, including a round trip."""
    for _ in range(200):
        await asyncio.sleep(0)


async def test_as_many_connections_as_calls_may_be_in_flight(server):
    # More than 100, the default of aiohttp.
    server.script.extend([openai_server.HANG] * 150)
    async with endpoint_of(server, concurrency=150) as endpoint:
        calls = [asyncio.create_task(endpoint.complete(request(f"Question: {number}"))) for number in range(150)]
        await arrivals(server, 150)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    assert server.most_in_flight == 150


FAULTS = {
    "401": (Reply.error(401, f"Incorrect API key provided: {KEY}"), "OPENAI_API_KEY"),
    "404": (Reply.error(404, "The model does not exist"), "PGCLARIFY_LLM_MODEL"),
    "429": (Reply.error(429, f"Rate limit of {KEY}"), "_PER_MINUTE"),
    "413": (Reply.error(413, f"Too long {KEY}"), "PGCLARIFY_LLM_MODEL"),
    "no choices": (Reply(body='{"object": "chat.completion", "choices": []}'), "/v1"),
    "an error as a success": (Reply(body='{"error": {"message": "provider down"}}'), "/v1"),
    "not JSON": (Reply(body="<html>Welcome</html>"), "/v1"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_failure_says_what_to_do_and_never_the_key(server, caplog, fault):
    reply, hint = FAULTS[fault]
    server.behavior = lambda chat: reply
    with caplog.at_level(logging.DEBUG):
        async with endpoint_of(server, api_key=SecretStr(KEY)) as endpoint:
            with pytest.raises(EndpointUnavailable) as caught:
                await endpoint.complete(request())
            assert KEY not in repr(endpoint)
    assert hint in str(caught.value.hint)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
    assert KEY not in shown
    assert all(KEY not in repr(record.__dict__) for record in caplog.records)


async def test_nobody_listens():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        async with Endpoint(Address(address), "m", max_retries=0) as endpoint:
            with pytest.raises(EndpointUnavailable) as caught:
                await endpoint.complete(request())
    assert caught.value.message == "the endpoint cannot be reached"
    assert address in str(caught.value.detail)


async def test_a_server_that_hangs(server):
    server.script.append(openai_server.HANG)
    async with endpoint_of(server, timeout=0.05) as endpoint:
        with pytest.raises(EndpointUnavailable) as caught:
            await endpoint.complete(request())
    assert "PGCLARIFY_LLM_TIMEOUT" in str(caught.value.hint)


async def test_a_call_ends_within_its_longest_time(server, monkeypatch):
    monkeypatch.setattr("pgclarify.providers.client._FIRST_PAUSE", 0.5)
    server.script.append(Reply.error(429, retry_after=60))
    async with endpoint_of(server, timeout=0.05, max_retries=1) as endpoint:
        assert endpoint.longest_call == pytest.approx(0.2)
        with pytest.raises(EndpointUnavailable):
            await asyncio.wait_for(endpoint.complete(request()), timeout=30)


def refusing(*refused: str) -> Behavior:
    """A server that does not take these parameters, or these forms of structured output."""

    def behavior(chat: Chat) -> Reply:
        form = chat.body.get("response_format", {}).get("type")
        for name in refused:
            if name in chat.body or name == form:
                # Some servers have no field that says which parameter it is.
                return Reply.error(400, f"Unsupported: {name}", code="unsupported_parameter")
        return by_rules(chat)

    return behavior


@pytest.mark.parametrize(
    ("refused", "tries"),
    [
        (["json_schema"], ["tools"]),
        (["json_schema", "tools"], ["tools", "json_object"]),
        (["json_schema", "tools", "json_object"], ["tools", "json_object", None]),
    ],
)
async def test_a_server_without_structured_output_is_asked_in_a_simpler_form_from_then_on(server, refused, tries):
    server.behavior = refusing(*refused)
    async with endpoint_of(server) as endpoint:
        await endpoint.complete(request())
        await endpoint.complete(request("Question: more?"))
    forms = ["tools" if "tools" in body else body.get("response_format", {}).get("type") for body in server.bodies]
    assert forms == ["json_schema", *tries, tries[-1]]


async def test_a_server_that_takes_no_limit_is_reckoned_with_a_large_one_and_that_is_said_once(server, caplog):
    server.behavior = refusing("max_tokens", "max_completion_tokens")
    async with endpoint_of(server) as endpoint:
        await endpoint.complete(request())
        await endpoint.complete(request("Question: more?"))
        assert endpoint.most_output_tokens(64) > 10_000
    assert server.calls == 4
    assert not {"max_tokens", "max_completion_tokens"} & server.bodies[-1].keys()
    assert sum("takes neither" in record.message for record in caplog.records) == 1


LIMITS = {"max_tokens", "max_completion_tokens"}


def as_vllm(chat: Chat) -> Reply:
    """vLLM's answer if the limit does not fit into the context beside a long prompt. The code is a number."""
    if "long" in chat.user and LIMITS & chat.body.keys():
        message = (
            "'max_tokens' or 'max_completion_tokens' is too large: 64. This model's maximum context length is 4096"
            " tokens and your request has 4060 input tokens (64 > 4096 - 4060)."
        )
        error = {"message": message, "type": "BadRequestError", "param": None, "code": 400}
        return Reply(status=400, body=json.dumps({"error": error}))
    return by_rules(chat)


@pytest.mark.parametrize("effort", [None, ReasoningEffort.LOW])
async def test_long_prompts_do_not_remove_the_limit_of_other_requests(server, effort, caplog):
    server.behavior = as_vllm
    async with endpoint_of(server, reasoning_effort=effort) as endpoint:
        for number in range(4):
            await endpoint.complete(request(f"Question: long {number}"))
            assert not LIMITS & server.bodies[-1].keys()
        await endpoint.complete(request("Question: short?"))
        most = endpoint.most_output_tokens(64)
    assert server.bodies[-1]["max_tokens"] == most == (64 if effort is None else 64 + 4096)
    assert caplog.records == []


async def test_a_limit_that_is_refused_for_no_known_reason_stays_for_other_requests(server):
    def behavior(chat: Chat) -> Reply:
        named = LIMITS & chat.body.keys()
        return Reply.error(400, param=named.pop()) if named and "short" not in chat.user else by_rules(chat)

    server.behavior = behavior
    async with endpoint_of(server) as endpoint:
        for question in ("a", "b", "c", "d"):
            await endpoint.complete(request(f"Question: {question}"))
        assert endpoint.most_output_tokens(64) < 10_000


@pytest.mark.parametrize(
    ("status", "is_its_own_fault"),
    [
        *((status, True) for status in (400, 413, 422)),
        *((status, False) for status in (401, 402, 403, 404, 409, 429, 500, 503)),
    ],
)
async def test_refused_requests_are_told_apart_from_an_unavailable_endpoint(server, status, is_its_own_fault):
    server.script.extend([Reply.error(status, "no")] * 4)
    async with endpoint_of(server) as endpoint:
        with pytest.raises(EndpointUnavailable) as caught:
            await endpoint.complete(request())
    assert isinstance(caught.value, RequestRefused) is is_its_own_fault
    # Simpler forms are only tried after statuses that may be about the form.
    assert len(server.bodies) == (4 if status in (400, 422) else 1)


async def test_a_request_refused_for_its_own_sake_changes_nothing_for_the_next(server):
    server.script.extend([Reply.error(400, "the context is full")] * 4)
    async with endpoint_of(server) as endpoint:
        with pytest.raises(RequestRefused):
            await endpoint.complete(request())
        await endpoint.complete(request("Question: short?"))
    assert server.bodies[-1]["response_format"]["type"] == "json_schema"


async def test_the_arguments_of_a_tool_are_the_reply(server):
    call = {"id": "1", "type": "function", "function": {"name": "relaxation", "arguments": '{"query": "x"}'}}
    server.script.extend([Reply.error(400, "no json_schema"), Reply(None, message={"tool_calls": [call]})])
    async with endpoint_of(server) as endpoint:
        assert (await endpoint.complete(request())).reply == '{"query": "x"}'
    body = server.bodies[-1]
    assert body["tools"] == [{"type": "function", "function": {"name": "relaxation", "parameters": SCHEMA}}]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "relaxation"}}


@pytest.mark.parametrize(
    ("address", "model", "named"),
    [
        (None, "m", "OPENAI_BASE_URL"),
        (" ", "m", "OPENAI_API_KEY"),
        ("http://127.0.0.1:1/v1", None, "PGCLARIFY_LLM_MODEL"),
        # The ledger would treat its calls as those of the extractive provider, which no budget limits.
        ("http://127.0.0.1:1/v1", "extractive-1", "PGCLARIFY_LLM_MODEL"),
        ("127.0.0.1:8000/v1", "m", "http://"),
        ("http://127.0.0.1:port/v1", "m", "http://"),
        ("http://127.0.0.1:80000/v1", "m", "http://"),
        (f"http://me:{KEY}@host/v1", "m", "OPENAI_API_KEY"),
        (f"http://host/v1?key={KEY}", "m", "OPENAI_API_KEY"),
    ],
)
def test_settings_that_make_no_endpoint_are_refused(address, model, named):
    with pytest.raises(ConfigurationError) as caught:
        Endpoint(Address(address), model)
    assert named in str(caught.value.hint)
    assert KEY not in str(caught.value)


async def test_openai_itself_needs_no_address(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    async with Endpoint(Address(None, SecretStr(KEY)), "m") as endpoint:
        # Settings decide, and not the environment of the client library.
        assert endpoint.address.base_url == "https://api.openai.com/v1"
