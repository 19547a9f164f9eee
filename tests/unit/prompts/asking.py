"""Shared by tests of prompts."""

import json
from typing import TypeVar

from pgclarify.data.model_calls import Completion, ModelCall
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint
from tests.openai_server import Server

T = TypeVar("T")


def said(reply: object) -> Completion:
    """A reply: a text unchanged, other values as JSON."""
    return Completion(reply if isinstance(reply, str) else json.dumps(reply), 1, 1, 1.0)


def asked(call: ModelCall[T]) -> list[str]:
    """The lines of the user message."""
    return call.messages[1].content.splitlines()


async def over_http(server: Server, call: ModelCall[T]) -> T:
    """Send a call to a real endpoint, and read its reply."""
    async with Endpoint(Address(server.base_url), "rules-1") as endpoint:
        return call.read(await endpoint.complete(endpoint.request(call)))
