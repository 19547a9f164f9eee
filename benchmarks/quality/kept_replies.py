"""Replies of a real model, kept in a file of JSON lines, so that an interrupted benchmark can continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pgclarify.data.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.errors import InvalidReply
from pgclarify.protocols import Completer, Sending

T = TypeVar("T")


class KeptReplies:
    """Sends each request to a model only once, over all runs of the benchmark. Implements protocols.Completer.

    Args:
        completer: The model.
        path: The file; None to keep nothing.

    Attributes:
        failures: Requests whose first reply could not be parsed.
        lost: Requests without a reply that could be parsed.
    """

    def __init__(self, completer: Completer, path: Path | None) -> None:
        self.failures = 0
        self.lost = 0
        self._completer = completer
        self._path = path
        self._kept: dict[str, Completion] = {}
        if path is not None and path.exists():
            for line in path.read_text("utf-8").splitlines():
                row = json.loads(line)
                key = row.pop("key")
                self._kept[key] = Completion(**row)

    @property
    def provider(self) -> str:
        """The provider of the model."""
        return self._completer.provider

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._completer.model

    @property
    def turns_free(self) -> int | None:
        """As of the model."""
        return self._completer.turns_free

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Adapt the call to the model."""
        return self._completer.adapt(call)

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Turn a call into a request to the model."""
        return self._completer.request(call)

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        """Return the reply to a request. Its latency is that of the original call."""
        key = json.dumps([*request.key[:4], request.input_hash.hex(), request.sample])
        if key not in self._kept:
            completion = await self._completer.complete(request, sending)
            self._kept[key] = completion
            if self._path is not None:
                row = {
                    "key": key,
                    "reply": completion.reply,
                    "prompt_tokens": completion.prompt_tokens,
                    "completion_tokens": completion.completion_tokens,
                    "latency_ms": completion.latency_ms,
                    "cached_tokens": completion.cached_tokens,
                }
                with self._path.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(row) + "\n")
        return self._kept[key]

    async def ask(self, call: ModelCall[T]) -> tuple[T | None, list[Completion]]:
        """Call the model, and once more if the reply cannot be parsed.

        Returns:
            The parsed reply, None if no reply could be parsed; and the replies.
        """
        replies = []
        for one in (call, call.retry()):
            replies.append(await self.complete(self.request(one)))
            try:
                return one.read(replies[-1]), replies
            except InvalidReply:
                self.failures += one is call
        self.lost += 1
        return None, replies
