"""The embedding models of a process, on this machine or behind an endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from pgclarify.config import Settings
from pgclarify.embedding.registry import ClosableEmbedder, Embedders
from pgclarify.protocols import Rates

if TYPE_CHECKING:
    from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint


@asynccontextmanager
async def open_embedders(settings: Settings, rates: Rates | None = None) -> AsyncIterator[Embedders]:
    """Open the embedding models that the settings describe: those of this machine, and those of the endpoint.

    The endpoint's settings are read when one of its models is needed, because most processes need none.

    Args:
        settings: The settings of this process.
        rates: Through which workers share the limits of the endpoint; None for no limits.
    """
    async with AsyncExitStack() as stack:
        endpoints: list[EmbeddingEndpoint] = []

        async def open_at_endpoint(model: str) -> ClosableEmbedder:
            # Imported here, because it imports a library that needs some tenths of a second.
            from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint
            from pgclarify.providers.endpoint_embedder import EndpointEmbedder

            if not endpoints:
                endpoints.append(EmbeddingEndpoint.from_settings(settings, tally=embedders.tally, rates=rates))
                stack.push_async_callback(endpoints[0].aclose)
            return await EndpointEmbedder.open(endpoints[0], model, partial(embedders.forget, model))

        embedders = Embedders(open_at_endpoint, device=settings.device)
        try:
            yield embedders
        finally:
            embedders.close()
