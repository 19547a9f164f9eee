"""The cross-encoders behind an endpoint that the runs of a worker may ask."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from pgclarify.config import Settings
from pgclarify.protocols import Completer, Rates

if TYPE_CHECKING:
    from pgclarify.providers.rerank_endpoint import RerankEndpoint


@asynccontextmanager
async def open_rerank_endpoint(
    settings: Settings, rates: Rates | None = None
) -> AsyncIterator[Callable[[str], Completer]]:
    """Open the rerank endpoint of the settings: its rerankers, and its models for natural language inference.

    The settings are read when a run names such a model, because most workers need none, and none has to be set.

    Args:
        settings: The settings of this process.
        rates: Through which workers share the limits of the endpoint; None for no limits.

    Yields:
        A function that returns the model of a name. It raises ConfigurationError if the settings define no endpoint,
        and ModelNotFound if the name is not valid.
    """
    async with AsyncExitStack() as stack:
        endpoints: list[RerankEndpoint] = []

        def at_endpoint(name: str) -> Completer:
            # Imported here, because it imports a library that needs some tenths of a second.
            from pgclarify.providers.rerank_endpoint import RerankEndpoint

            if not endpoints:
                endpoints.append(RerankEndpoint.from_settings(settings, rates))
                stack.push_async_callback(endpoints[0].aclose)
            return endpoints[0].model(name)

        yield at_endpoint
