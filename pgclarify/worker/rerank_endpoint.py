"""The cross-encoders behind an endpoint that the runs of a worker may ask."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from pgclarify.config import Settings
from pgclarify.protocols import Completer

if TYPE_CHECKING:
    from pgclarify.providers.rerank_endpoint import RerankEndpoint


@asynccontextmanager
async def open_rerank_endpoint(settings: Settings) -> AsyncIterator[Callable[[str], Completer]]:
    """Open the rerank endpoint that the settings lead to: its rerankers, and models for natural language inference.

    It is looked for when a run names a model of it: most workers need none, and none has to be set.

    Yields:
        Gives the model of a name; raises ConfigurationError if the settings make no endpoint, ModelNotFound if that is
        no name.
    """
    async with AsyncExitStack() as stack:
        endpoints: list[RerankEndpoint] = []

        def at_endpoint(name: str) -> Completer:
            # Here, since it imports a library that takes some tenths of a second.
            from pgclarify.providers.rerank_endpoint import RerankEndpoint

            if not endpoints:
                endpoints.append(RerankEndpoint.from_settings(settings))
                stack.push_async_callback(endpoints[0].aclose)
            return endpoints[0].model(name)

        yield at_endpoint
