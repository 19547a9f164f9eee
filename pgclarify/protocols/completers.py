"""The one way in which language models, and what stands in for them, are asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, TypeVar

from pgclarify.model_calls import Completion, CompletionRequest, ModelCall

T = TypeVar("T")

Begin: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited when the turn of a call has come, right before it is made; what it raises ends the call unmade."""


class Completer(Protocol):
    """A provider of completions; it keeps no state between them.

    What is asked is a `ModelCall`, which `pgclarify.prompts` renders. A chat model answers every call. A provider that
    is no chat model answers some calls in its own way: `adapt` says which, and is the one place where that is decided.
    """

    @property
    def provider(self) -> str:
        """The kind of provider: openai or extractive."""

    @property
    def model(self) -> str:
        """Name of the model that answers."""

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Render a call as this provider answers it.

        Returns:
            The call itself, or this provider's own version of it, with its own way to read the reply; None if this
            provider cannot answer calls of this purpose.
        """

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Address a call, adapted before, to this provider's model: this is what the ledger knows it by."""

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Make the call, unless begin raises.

        Raises:
            EndpointUnavailable: If the endpoint does not answer, after all retries.
        """
