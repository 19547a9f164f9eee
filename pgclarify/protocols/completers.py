"""The one interface for calling language models and their substitutes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, TypeVar

from pgclarify.data.model_calls import Completion, CompletionRequest, ModelCall

T = TypeVar("T")

Begin: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited right before a call is made. If it raises, the call is not made."""


class Completer(Protocol):
    """A provider of completions; it keeps no state between calls.

    A call is a `ModelCall`, which `pgclarify.prompts` renders. A chat model answers every call. Other providers answer
    some calls in their own way; only `adapt` decides which.
    """

    @property
    def provider(self) -> str:
        """The kind of provider: openai or extractive."""

    @property
    def model(self) -> str:
        """Name of the model that answers."""

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Render a call for this provider.

        Returns:
            The call itself, or this provider's own version of it with its own way to read the reply; None if this
            provider cannot answer such calls.
        """

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Make the request of an adapted call for this provider's model. The ledger identifies the call by it."""

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Make the call, unless begin raises.

        Raises:
            EndpointUnavailable: If the endpoint does not answer, after all retries.
        """
