"""Models that think before they answer: their requests, the cost of their thoughts, and the room for these."""

import asyncio
from typing import Any

import pytest

from pgclarify.config import ReasoningEffort
from pgclarify.data.model_calls import Message, ModelCall
from pgclarify.errors import EndpointUnavailable, RequestRefused
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.unit.providers.test_endpoint import SCHEMA, endpoint_of, request

CALL: ModelCall[str] = ModelCall(
    "relaxation", "1", (Message("user", "Question: what?"),), SCHEMA, lambda completion: completion.reply, 64
)


def as_openai(chat: Chat) -> Reply:
    """OpenAI's answer to the request of a reasoning model, field by field as documented."""
    if "max_tokens" in chat.body:
        return Reply.error(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'"
            " instead.",
            param="max_tokens",
            code="unsupported_parameter",
        )
    if chat.body.get("temperature", 1) != 1:
        return Reply.error(
            400,
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is"
            " supported.",
            param="temperature",
            code="unsupported_value",
        )
    if chat.body.get("reasoning_effort") == "max":
        return Reply.error(
            400,
            "Unsupported value: 'reasoning_effort' does not support 'max' with this model. Supported values are: 'low',"
            " 'medium', and 'high'.",
            param="reasoning_effort",
            code="unsupported_value",
        )
    return by_rules(chat)


async def test_the_effort_is_sent_and_another_one_is_another_key_of_the_ledger(server):
    server.behavior = as_openai
    keys = set()
    for effort in (None, ReasoningEffort.LOW, ReasoningEffort.HIGH):
        async with endpoint_of(server, reasoning_effort=effort) as endpoint:
            asked = endpoint.request(CALL)
            await endpoint.complete(asked)
            keys.add(asked.key)
        assert server.bodies[-1].get("reasoning_effort") == (effort and effort.value)
    assert len(keys) == 3


async def test_parameters_that_openai_refuses_are_left_out_later(server):
    server.behavior = as_openai
    async with endpoint_of(server, reasoning_effort=ReasoningEffort.LOW) as endpoint:
        for _ in range(2):
            await endpoint.complete(endpoint.request(CALL))
    assert server.calls == 4
    last = server.bodies[-1]
    assert {"max_tokens", "temperature"}.isdisjoint(last)
    assert last["max_completion_tokens"] == 64 + 4096
    assert last["reasoning_effort"] == "low"
    assert last["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    "refusal",
    [None, Reply.error(400, "Unrecognized request argument supplied: reasoning_effort")],
    ids=["a value", "the parameter"],
)
async def test_an_effort_that_is_refused_is_not_left_out(server, refusal):
    server.behavior = (lambda chat: refusal) if refusal else as_openai
    async with endpoint_of(server, reasoning_effort=ReasoningEffort.MAX) as endpoint:
        with pytest.raises(EndpointUnavailable) as caught:
            await endpoint.complete(endpoint.request(CALL))
    # All passages would fail in the same way, so the error is not about one of them.
    assert not isinstance(caught.value, RequestRefused)
    assert "PGCLARIFY_LLM_REASONING_EFFORT" in str(caught.value.hint)


async def test_more_effort_has_more_room(server):
    rooms = []
    for effort in ReasoningEffort:
        async with endpoint_of(server, reasoning_effort=effort) as endpoint:
            rooms.append(endpoint.most_output_tokens(64))
            await endpoint.complete(request())
            assert server.bodies[-1]["max_tokens"] == rooms[-1]
    assert rooms == sorted(rooms)
    assert rooms[0] == 64
    assert rooms[1] < rooms[-1]


THINKING: dict[str, dict[str, Any]] = {
    "counted": {"usage": {"completion_tokens_details": {"reasoning_tokens": 12}}},
    "beside the answer": {"message": {"reasoning_content": "Let me see."}},
    "beside the answer, too": {"message": {"reasoning": "Let me see."}},
    "before the answer": {"content": "<think>Let me see.</think>{}"},
}


@pytest.mark.parametrize("thinking", THINKING)
async def test_room_is_left_once_a_model_has_shown_that_it_thinks(server, thinking):
    server.script.append(Reply(**{"content": "{}", **THINKING[thinking]}))
    async with endpoint_of(server) as endpoint:
        completion = await endpoint.complete(request())
        assert completion.reply.endswith("{}")
        assert "Let me see" not in completion.reply or thinking == "before the answer"
        assert endpoint.most_output_tokens(64) > 64
        await endpoint.complete(request())
    assert [body["max_tokens"] for body in server.bodies] == [64, 64 + 4096]


async def test_a_request_goes_without_room_if_the_server_has_none(server):
    def behavior(chat: Chat) -> Reply:
        most = chat.body.get("max_tokens", chat.body.get("max_completion_tokens"))
        if most > 1000:
            name = "max_tokens" if "max_tokens" in chat.body else "max_completion_tokens"
            return Reply.error(400, f"{name} is too large: {most}", param=name)
        return Reply("{}", message={"reasoning_content": "Let me see."})

    server.behavior = behavior
    async with endpoint_of(server) as endpoint:
        for number in range(3):
            await endpoint.complete(request(f"Question: {number}"))
    assert limits(server) == [64, 64 + 4096, 64, 64 + 4096, 64]


def limits(server: Server) -> list[int]:
    return [body["max_tokens" if "max_tokens" in body else "max_completion_tokens"] for body in server.bodies]


def refusing_room_for_long_ones(chat: Chat) -> Reply:
    name = "max_tokens" if "max_tokens" in chat.body else "max_completion_tokens"
    if chat.body[name] > 1000 and "long" in chat.user:
        return Reply.error(400, f"{name} is too large: {chat.body[name]}", param=name)
    return Reply("{}")


@pytest.mark.parametrize(
    "questions",
    [["long"], ["long"] * 4, ["long 1", "long 2", "short", "long 3", "long 4"]],
    ids=["one", "the same again", "others between them"],
)
async def test_room_is_kept_for_all_others_if_it_is_refused_for_a_long_passage(server, questions):
    server.behavior = refusing_room_for_long_ones
    async with endpoint_of(server, reasoning_effort=ReasoningEffort.LOW) as endpoint:
        for question in questions:
            await endpoint.complete(request(question))
        await endpoint.complete(request("short"))
    assert limits(server)[-1] == 64 + 4096


async def test_requests_that_learn_at_once_lose_nothing_of_each_other(server):
    def behavior(chat: Chat) -> Reply:
        if chat.user == "first" and "temperature" in chat.body:
            return Reply.error(400, param="temperature")
        if chat.user == "second" and chat.schema and "tools" not in chat.body:
            return Reply.error(400, param="response_format")
        return Reply("{}")

    server.behavior = behavior
    async with endpoint_of(server) as endpoint:
        await asyncio.gather(*(endpoint.complete(request(question)) for question in ("first", "second")))
        await endpoint.complete(request("third"))
    assert server.calls == 5
    assert "temperature" not in server.bodies[-1]
    assert "tools" in server.bodies[-1]


@pytest.mark.parametrize("behavior", [lambda chat: Reply("{}", message={"reasoning": "Let me see."}), as_openai])
async def test_a_request_is_sent_with_no_more_than_was_reserved_for_it(server, behavior):
    server.behavior = behavior
    async with endpoint_of(server) as endpoint:
        reserved_before = [endpoint.request(CALL) for _ in range(2)]
        for asked in reserved_before:
            await endpoint.complete(asked)
            assert limits(server)[-1] == asked.max_output_tokens == 64
        await endpoint.complete(endpoint.request(CALL))
    assert limits(server)[-1] == 64 + 4096


@pytest.mark.parametrize(
    ("usage", "paid"),
    [
        # OpenAI: among them.
        ({"prompt_tokens": 20, "completion_tokens": 100, "total_tokens": 120}, 100),
        # xAI: beside them.
        ({"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 32 + 9 + 94}, 9 + 94),
        ({"prompt_tokens": 20, "completion_tokens": 100, "total_tokens": None}, 100),
    ],
    ids=["among them", "beside them", "no total"],
)
async def test_thoughts_are_paid_as_output(server, usage, paid):
    server.script.append(Reply("{}", usage={**usage, "completion_tokens_details": {"reasoning_tokens": 94}}))
    async with endpoint_of(server) as endpoint:
        assert (await endpoint.complete(request())).completion_tokens == paid


async def test_a_field_goes_before_names_in_the_text(server):
    # The text names a parameter that is not at fault.
    server.script.append(Reply.error(400, "lower max_tokens", param="messages", code="context_length_exceeded"))
    async with endpoint_of(server) as endpoint:
        with pytest.raises(RequestRefused):
            await endpoint.complete(request())
        await endpoint.complete(request())
    assert server.calls == 2
    assert server.bodies[-1]["max_tokens"] == 64
