"""Chat completions in the forms that servers send them: where the text is, why it ends, and streams."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from pgclarify.data.model_calls import Completion
from pgclarify.errors import EndpointFailed, EndpointUnavailable, RequestRefused
from pgclarify.language.lenient_json import Mend
from tests.fakes import FakeSending
from tests.unit.providers.asking import endpoint_of, request
from tests.unit.providers.raw_server import RawServer, http, serve_raw

FORM = '{"interpretation": "a", "answer": "35 dollars", "quote": "It costs 35 dollars."}'


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with serve_raw() as running:
        yield running


async def ask(server: RawServer) -> Completion:
    async with endpoint_of(server) as endpoint:
        return await endpoint.complete(request(), FakeSending())


def with_message(message: dict[str, object], finish_reason: object = "stop") -> bytes:
    usage = {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140}
    return http({"choices": [{"message": message, "finish_reason": finish_reason}], "usage": usage})


def tool_call(arguments: object) -> dict[str, object]:
    return {"content": None, "tool_calls": [{"function": {"name": "verdict", "arguments": arguments}}]}


@pytest.mark.parametrize(
    ("message", "mends"),
    [
        ({"content": FORM}, ()),
        ({"content": [{"type": "text", "text": FORM}]}, ()),
        (tool_call(FORM), ()),
        ({"content": "", "function_call": {"name": "verdict", "arguments": FORM}}, ()),
        (tool_call(json.loads(FORM)), (Mend.ARGUMENTS,)),
        ({"content": "", "reasoning_content": FORM}, (Mend.REASONING,)),
        ({"content": None, "reasoning": FORM}, (Mend.REASONING,)),
    ],
    ids=repr,
)
async def test_the_answer_is_found_where_a_server_puts_it(
    server: RawServer, message: dict[str, object], mends: tuple[Mend, ...]
) -> None:
    server.answer = with_message(message)
    said = await ask(server)
    assert said.reply == FORM
    assert said.mends == mends
    assert (said.prompt_tokens, said.completion_tokens) == (100, 40)
    assert server.calls == 1


@pytest.mark.parametrize("finish_reason", ["length", "content_filter"])
async def test_thoughts_that_were_cut_off_are_no_answer(server: RawServer, finish_reason: str) -> None:
    server.answer = with_message({"content": "", "reasoning_content": f"I think {FORM}, but"}, finish_reason)
    said = await ask(server)
    assert (said.reply, said.finish_reason) == ("", finish_reason)


async def test_thoughts_without_an_object_are_no_answer(server: RawServer) -> None:
    server.answer = with_message({"content": "", "reasoning_content": "It has a price."})
    assert (await ask(server)).reply == ""


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("content_filter", "content_filter"),
        ("content-filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("tool_calls", "tool_calls"),
    ],
)
async def test_the_reason_of_an_end_has_one_name(server: RawServer, said: str, reason: str) -> None:
    server.answer = with_message({"content": FORM}, said)
    assert (await ask(server)).finish_reason == reason


@pytest.mark.parametrize("said", [None, 3, ["stop"], "", "x" * 50, "a\0b"], ids=repr)
async def test_a_reason_that_is_no_word_is_not_kept(server: RawServer, said: object) -> None:
    server.answer = with_message({"content": FORM}, said)
    assert (await ask(server)).finish_reason is None


def events(*sent: object, end: str = "data: [DONE]\n\n", begin: str = "") -> bytes:
    body = begin + "".join(f"data: {json.dumps(event)}\n\n" for event in sent) + end
    return http(body.encode(), "200 OK", "Content-Type: text/event-stream")


def pieces(*texts: str, key: str = "content", finish_reason: str = "stop") -> list[dict[str, object]]:
    deltas = [{"role": "assistant"}, *({key: text} for text in texts)]
    sent: list[dict[str, object]] = [{"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*sent, {"choices": [{"delta": {}, "finish_reason": finish_reason}]}]


USAGE = {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 40}}


@pytest.mark.parametrize(
    "answer",
    [
        events(*pieces(FORM[:9], FORM[9:30], FORM[30:]), USAGE),
        events(*pieces(FORM[:9], FORM[9:]), USAGE, begin=": keep-alive\n\n"),
        events(*pieces(FORM[:9], FORM[9:]), USAGE, begin="event: message\nid: 1\n"),
        events(*pieces(FORM[:9], FORM[9:]), USAGE, end=""),
        events({"choices": [{"message": {"content": FORM}, "finish_reason": "stop"}]}, USAGE),
        events(
            *({"choices": [{"delta": tool_call(part), "finish_reason": None}]} for part in (FORM[:20], FORM[20:])),
            {"choices": [{"delta": {}, "finish_reason": "stop"}]},
            USAGE,
        ),
    ],
    ids=["pieces", "a comment first", "names of events", "no end", "one piece", "arguments of a tool"],
)
async def test_a_server_that_streams_unasked_is_understood(server: RawServer, answer: bytes) -> None:
    server.answer = answer
    said = await ask(server)
    assert said.reply == FORM
    assert said.mends == (Mend.STREAM,)
    assert (said.prompt_tokens, said.completion_tokens, said.finish_reason) == (100, 40, "stop")
    assert server.calls == 1


async def test_an_error_in_a_stream_is_shown(server: RawServer) -> None:
    server.answer = events({"error": {"message": "out of memory"}})
    with pytest.raises(EndpointUnavailable) as caught:
        await ask(server)
    assert "out of memory" in str(caught.value.detail)


@pytest.mark.parametrize("body", [b"data: [DONE]\n\n", b"data: nonsense\n\n", b": ping\n\n", b"data: []\n\n"])
async def test_a_stream_without_a_message_cannot_be_read(server: RawServer, body: bytes) -> None:
    server.answer = http(body)
    with pytest.raises(EndpointUnavailable):
        await ask(server)


def failed(error: object, **choice: object) -> dict[str, object]:
    """A completion whose choice has an error, as gateways send it after they have begun a success."""
    return {"choices": [{"index": 0, "finish_reason": "error", "message": {"content": ""}, "error": error, **choice}]}


DISCONNECTED = {"code": 502, "message": "Provider disconnected"}
FAILED = {
    "in a choice": failed(DISCONNECTED),
    "in a choice with a half reply": failed(DISCONNECTED, message={"content": FORM[:30]}),
    "in a choice with a whole reply": failed(DISCONNECTED, message={"content": FORM}, finish_reason="stop"),
    "in a choice without a message": {"choices": [{"error": DISCONNECTED}]},
    "with a code in quotation marks": failed({"code": "502", "message": "Provider disconnected"}),
    "without a code": failed({"message": "Provider disconnected"}),
    "with a code that is a word": failed({"code": "server_error", "message": "Provider disconnected"}),
    "as a text": failed("Provider disconnected"),
    "beside a choice": {**failed(None), "error": DISCONNECTED},
    "instead of choices": {"error": DISCONNECTED},
    "instead of choices, with a status": {"error": {"status": 502, "message": "Provider disconnected"}},
}


@pytest.mark.parametrize("name", FAILED)
@pytest.mark.parametrize("in_a_stream", [False, True], ids=["whole", "stream"])
async def test_an_error_within_a_success_is_shown_and_tried_again_like_its_status(
    server: RawServer, name: str, in_a_stream: bool
) -> None:
    server.script += [events(FAILED[name]) if in_a_stream else http(FAILED[name])] * 2
    with pytest.raises(EndpointFailed) as caught:
        await ask(server)
    assert "502: Provider disconnected" in str(caught.value.detail)
    assert server.calls == 2
    assert caught.value.may_pass
    assert (await ask(server)).reply == "yes"


async def test_a_choice_that_ends_with_an_error_without_words_is_no_reply(server: RawServer) -> None:
    server.answer = with_message({"content": FORM[:30]}, "error")
    with pytest.raises(EndpointFailed):
        await ask(server)


@pytest.mark.parametrize(
    ("code", "kind", "calls"),
    [
        (400, RequestRefused, 1),
        (401, EndpointUnavailable, 1),
        (404, EndpointUnavailable, 1),
        (408, EndpointUnavailable, 2),
        (429, EndpointUnavailable, 2),
        (500, EndpointFailed, 2),
        (503, EndpointFailed, 2),
        (7, EndpointFailed, 2),
    ],
)
async def test_the_code_of_an_error_within_a_success_decides_like_a_status(
    server: RawServer, code: int, kind: type[EndpointUnavailable], calls: int
) -> None:
    server.answer = http(failed({"code": code, "message": "no"}))
    sending = FakeSending()
    async with endpoint_of(server) as endpoint:
        with pytest.raises(EndpointUnavailable) as caught:
            await endpoint.complete(request(), sending)
    assert type(caught.value) is kind
    assert server.calls == calls
    # The gateway had sent a success, so it may charge for the try.
    assert sending.may_be_charged


@pytest.mark.parametrize("error", [None, "", {}, {"code": 0, "message": ""}], ids=repr)
async def test_an_error_that_says_nothing_is_none(server: RawServer, error: object) -> None:
    choice = {"message": {"content": FORM}, "finish_reason": "stop", "error": error}
    server.answer = http({"choices": [choice], "error": error})
    assert (await ask(server)).reply == FORM


FILTERS = {
    "of Azure": {"message": "The response was filtered …", "code": "content_filter", "param": "prompt"},
    "of Azure, in words": {"message": "… triggering Azure OpenAI's content management policy."},
    "of OpenAI": {"message": "Rejected by the safety system.", "code": "content_policy_violation"},
    "of Alibaba": {"message": "Input data may contain inappropriate content.", "code": "data_inspection_failed"},
    "as a kind": {"message": "filtered", "code": 400, "type": "content_filter"},
    "in an inner error": {"message": "no", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
}


@pytest.mark.parametrize("name", FILTERS)
async def test_a_request_that_a_filter_refuses_is_asked_once_and_kept(server: RawServer, name: str) -> None:
    server.answer = http({"error": FILTERS[name]}, "400 Bad Request")
    said = await ask(server)
    assert (said.reply, said.finish_reason, said.prompt_tokens) == ("", "content_filter", None)
    assert server.calls == 1


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("form", ["whole", "stream", "without choices"])
async def test_an_error_of_a_filter_within_a_success_is_asked_once_and_kept(
    server: RawServer, name: str, form: str
) -> None:
    found = {"error": FILTERS[name]} if form == "without choices" else failed(FILTERS[name])
    server.answer = events(found) if form == "stream" else http(found)
    said = await ask(server)
    assert (said.reply, said.finish_reason, server.calls) == ("", "content_filter", 1)
