"""An endpoint that calls a RawServer, without the usual pauses between its tries."""

from collections.abc import Iterator
from typing import Any

import pytest

from pgclarify.model_calls import CompletionRequest, Message
from pgclarify.providers.endpoint import Endpoint
from tests.raw_server import RawServer


@pytest.fixture(autouse=True, scope="module")
def short_pauses() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pgclarify.providers.bounded_client._FIRST_PAUSE", 0.001)
        yield


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
    return Endpoint(
        **{"model": "m", "base_url": server.base_url, "max_retries": 1, "concurrency": 1, "timeout": 20, **changes}
    )
