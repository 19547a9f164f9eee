"""What the tests of prompts have in common."""

import json
from typing import Any, TypeVar

from pgclarify.model_calls import Completion, ModelCall
from pgclarify.providers.chat_model import ChatModel
from pgclarify.providers.endpoint import Endpoint
from tests.openai_server import Server, serve

T = TypeVar("T")


def said(reply: object) -> Completion:
    """A reply: as it is, or as JSON."""
    return Completion(reply if isinstance(reply, str) else json.dumps(reply), 1, 1, 1.0)


def asked(call: ModelCall[T]) -> list[str]:
    """The lines of the user message."""
    return call.messages[1].content.splitlines()


async def body_over_http(call: ModelCall[T]) -> dict[str, Any]:
    """Ask a real endpoint, and say what it got."""
    async with serve() as server, Endpoint(model="rules-1", base_url=server.base_url) as endpoint:
        chat = ChatModel(endpoint)
        await chat.complete(chat.request(call))
        (body,) = server.bodies
    return body


async def over_http(server: Server, call: ModelCall[T]) -> T:
    """Ask a real endpoint, and read what it replies."""
    async with Endpoint(model="rules-1", base_url=server.base_url) as endpoint:
        chat = ChatModel(endpoint)
        return call.read(await chat.complete(chat.request(call)))
