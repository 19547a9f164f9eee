"""What all who ask a chat model have in common: whom they ask, and what their requests look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgclarify.llm.endpoint import Endpoint
from pgclarify.llm.prompts import PROMPT_VERSION
from pgclarify.model import Completion, CompletionRequest, Message, Passage
from pgclarify.protocols import Begin


class EndpointCompleter:
    """Answers rendered requests with a chat model behind an OpenAI-compatible endpoint. Implements protocols.Completer.

    Args:
        endpoint: Shared by all runs of a worker; whoever made it closes it.
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

    @property
    def prompt_version(self) -> str:
        """The version of all prompts."""
        return PROMPT_VERSION

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Make the call, as soon as the endpoint's limit allows.

        Raises:
            EndpointUnavailable: If no completion came back, after all retries.
        """
        return await self._endpoint.complete(request, begin)

    def _request(
        self,
        purpose: str,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        *,
        max_tokens: int,
        sample: int = 0,
        temperature: float = 0,
        passages: Sequence[Passage] = (),
    ) -> CompletionRequest:
        """Render a request.

        Args:
            purpose: What it is for, as in the ledger.
            messages: The conversation.
            schema: Form of the reply.
            max_tokens: Most tokens a reply may take: several times what a good one needs, so that a small model that
                repeats itself is stopped before the call times out.
            sample: Which of several replies to the same input, from 0.
            temperature: At least 0.
            passages: Those that the messages show.
        """
        return CompletionRequest(
            purpose=purpose,
            model=self.model,
            parameters={"temperature": temperature, "max_tokens": max_tokens},
            prompt_version=self.prompt_version,
            messages=messages,
            schema=schema,
            sample=sample,
            max_output_tokens=self._endpoint.most_output_tokens(max_tokens),
            document_ids=tuple(dict.fromkeys(passage.document_id for passage in passages)),
        )
