"""What fakes of those who ask a language model have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from pgclarify.errors import CompletionError
from pgclarify.model import Completion, CompletionRequest, Message
from pgclarify.protocols import Begin


class FakeCompleter:
    """Says what it was told to say, and counts what it is asked.

    Args:
        script: What is said to each request, by its payload's "key": a raw reply, an error to raise, or a list with one
            of those for each time it is asked (the second for `retry`).
        otherwise: What is said to all others.

    Attributes:
        calls: Every request that was paid for so far, in order.
        most_in_flight: The most calls that had begun and not ended.
    """

    def __init__(
        self, script: Mapping[str, str | CompletionError | list[str | CompletionError]], otherwise: str
    ) -> None:
        self.calls: list[CompletionRequest] = []
        self.most_in_flight = 0
        self._in_flight = 0
        self._script = dict(script)
        self._otherwise = otherwise

    @property
    def provider(self) -> str:
        """Always openai."""
        return "openai"

    @property
    def model(self) -> str:
        """The model's name."""
        return "fake"

    @property
    def prompt_version(self) -> str:
        """Always the same."""
        return "1"

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Say the line, unless begin raises.

        Raises:
            CompletionError: If the line is one.
        """
        if begin is not None:
            await begin()
        self.calls.append(request)
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        # A real call gives way to others here.
        await asyncio.sleep(0)
        self._in_flight -= 1
        line = self._script.get(str((request.payload or {}).get("key")), self._otherwise)
        if isinstance(line, list):
            line = line[request.sample]
        if isinstance(line, CompletionError):
            raise line
        words = sum(len(message.content.split()) for message in request.messages)
        return Completion(line, prompt_tokens=words, completion_tokens=len(line.split()), latency_ms=0.0)

    def _request(self, purpose: str, text: str, key: str, *, retry: bool) -> CompletionRequest:
        return CompletionRequest(
            purpose=purpose,
            model=self.model,
            parameters={"temperature": 0},
            prompt_version=self.prompt_version,
            messages=(Message("user", text),),
            sample=int(retry),
            payload={"key": key},
        )
