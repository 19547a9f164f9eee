"""What tests of embedding endpoints share: clients of a server, and its replies."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr

from pgclarify.providers.client import Address
from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint
from pgclarify.providers.endpoint_embedder import EndpointEmbedder
from tests.openai_server import EmbeddingBehavior, Reply, Server, bags_of_words

KEY = "sk-very-secret-0123456789"
MODEL = "endpoint:words-1"


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
    """An opened model, without a record of the requests that opened it."""
    async with endpoint_of(server, **changes) as endpoint:
        embedder = await EndpointEmbedder.open(endpoint, model)
        server.embedding_bodies.clear()
        while not server.arrivals.empty():
            server.arrivals.get_nowait()
        yield embedder
        embedder.close()


def raw(change: Mapping[str, Any], *, of: str = "") -> EmbeddingBehavior:
    """Change the reply to a single text: the whole reply, or its only item."""

    def embed(body: Mapping[str, Any]) -> Reply:
        reply = json.loads(bags_of_words(body).body or "")
        (reply["data"][0] if of == "item" else reply).update(change)
        return Reply(body=json.dumps(reply))

    return embed
