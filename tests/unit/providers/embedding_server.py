"""What tests of embedding endpoints share: a server, and clients of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from pgclarify.providers.address import Address
from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint
from pgclarify.providers.endpoint_embedder import EndpointEmbedder
from tests.openai_server import EmbeddingBehavior, Reply, Server, bags_of_words, serve

KEY = "sk-very-secret-0123456789"
MODEL = "endpoint:words-1"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.providers.bounded_client._FIRST_PAUSE", 0.001)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serve() as running:
        yield running


@asynccontextmanager
async def endpoint_of(server: Server, **changes: Any) -> AsyncIterator[EmbeddingEndpoint]:
    address = Address(server.base_url, SecretStr(KEY))
    endpoint = EmbeddingEndpoint(address, **{"max_retries": 1, "timeout": 20, **changes})
    try:
        yield endpoint
    finally:
        await endpoint.aclose()


@asynccontextmanager
async def opened(server: Server, model: str = MODEL, **changes: Any) -> AsyncIterator[EndpointEmbedder]:
    """An opened model, without a record of the request that opened it."""
    async with endpoint_of(server, **changes) as endpoint:
        embedder = await EndpointEmbedder.open(endpoint, model)
        server.embedding_bodies.clear()
        yield embedder
        embedder.close()


def raw(change: Mapping[str, Any], *, of: str = "") -> EmbeddingBehavior:
    """Change the reply to a single text: the whole reply, or its only item."""

    def embed(body: Mapping[str, Any]) -> Reply:
        reply = json.loads(bags_of_words(body).body or "")
        (reply["data"][0] if of == "item" else reply).update(change)
        return Reply(body=json.dumps(reply))

    return embed
