"""Replies of a real model, kept in a file of JSON lines: a benchmark that was cut off goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pgclarify.errors import InvalidReply
from pgclarify.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.protocols import Begin, Completer

T = TypeVar("T")


class KeptReplies:
    """Asks a model once for each request, ever. Implements protocols.Completer.

    Args:
        completer: Who is asked.
        path: The file; None to keep nothing.

    Attributes:
        failures: Replies that could not be read, the first of each request only.
        lost: Requests of which no reply could be read.
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
        """That of the model."""
        return self._completer.provider

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._completer.model

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Give the call as the model answers it."""
        return self._completer.adapt(call)

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Address a call to the model."""
        return self._completer.request(call)

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Give the reply to a request; its latency is what it was when the call was made."""
        key = json.dumps([*request.key[:4], request.input_hash.hex(), request.sample])
        if key not in self._kept:
            completion = await self._completer.complete(request, begin)
            self._kept[key] = completion
            if self._path is not None:
                row = {
                    "key": key,
                    "reply": completion.reply,
                    "prompt_tokens": completion.prompt_tokens,
                    "completion_tokens": completion.completion_tokens,
                    "latency_ms": completion.latency_ms,
                }
                with self._path.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(row) + "\n")
        return self._kept[key]

    async def ask(self, call: ModelCall[T]) -> tuple[T | None, list[Completion]]:
        """Ask, and once more if the reply cannot be read.

        Returns:
            What was read, None if nothing could be; and the replies.
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
