"""An endpoint that calls a RawServer, and a request for it."""

from typing import Any

from pgclarify.data.model_calls import CompletionRequest, Message
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint
from tests.unit.providers.raw_server import RawServer


def request(max_tokens: int = 64) -> CompletionRequest:
    return CompletionRequest(
        purpose="verdict",
        model="m",
        parameters={"temperature": 0, "max_tokens": max_tokens},
        prompt_version="1",
        messages=(Message("user", "Question: what?"),),
    )


def endpoint_of(server: RawServer, **changes: Any) -> Endpoint:
    # Only one connection. So if a fault does not release it, the next try is blocked.
    limits = {"max_retries": 1, "concurrency": 1, "timeout": 20, **changes}
    return Endpoint(Address(server.base_url), "m", **limits)
