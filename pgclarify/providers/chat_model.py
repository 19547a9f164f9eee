"""The provider that calls a chat model."""

from __future__ import annotations

from typing import Any, TypeVar

from pgclarify.data.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.protocols import Begin
from pgclarify.providers.dialect import EFFORT
from pgclarify.providers.endpoint import Endpoint

T = TypeVar("T")


class ChatModel:
    """Answers calls with a chat model behind an OpenAI-compatible endpoint. Implements protocols.Completer.

    Args:
        endpoint: All runs of a worker share it; its creator closes it.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    @property
    def provider(self) -> str:
        """Always openai."""
        return "openai"

    @property
    def model(self) -> str:
        """Name of the model behind the endpoint."""
        return self._endpoint.model

    def adapt(self, call: ModelCall[T]) -> ModelCall[T]:
        """Return the call unchanged: a chat model can answer any call."""
        return call

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Make the request of a call to this model."""
        effort = self._endpoint.reasoning_effort
        return CompletionRequest(
            purpose=call.purpose,
            model=self.model,
            parameters={
                "temperature": call.temperature,
                "max_tokens": call.max_tokens,
                **({} if effort is None else {EFFORT: effort.value}),
            },
            prompt_version=call.version,
            messages=call.messages,
            schema=call.schema,
            sample=call.sample,
            max_output_tokens=self._endpoint.most_output_tokens(call.max_tokens),
            document_ids=call.document_ids,
        )

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Make the call, as soon as the endpoint's limit allows.

        Raises:
            EndpointUnavailable: If no completion came back, after all retries.
        """
        return await self._endpoint.complete(request, begin)
