"""A verifier that says what it was told to say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from typing import TypeAlias

from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.model import Completion, CompletionRequest, Message, Passage, Reading, StopCode
from pgclarify.protocols import Begin

Line: TypeAlias = Reading | str | CompletionError | None
"""What is said to one request: a reading, a raw reply, an error to raise, or None for an abstention."""


class FakeVerifier:
    """Judges passages by a script, and counts what it is asked.

    Args:
        verdicts: What is said about a passage, by its content; a list has one line for each time it is asked (the
            second for `retry`). What is not in it is an abstention.
        relaxation: The relaxed question, or a list with one for each time it is asked; an empty one does not fit.
            Without it, questions are not relaxed.
        model: The model's name.
        provider: openai or extractive.
        concurrency: Most calls in flight at once; None for no limit.
        gate: If given, no call ends before it is set.
        gated: The contents of the passages that the gate is for; None for every call.

    Attributes:
        calls: Every request that was paid for so far, in order.
        in_flight: Calls that have begun and not ended.
    """

    def __init__(
        self,
        verdicts: Mapping[str, Line | list[Line]] | None = None,
        *,
        relaxation: str | CompletionError | list[Line] | None = None,
        model: str = "fake",
        provider: str = "openai",
        concurrency: int | None = None,
        gate: asyncio.Event | None = None,
        gated: Collection[str] | None = None,
    ) -> None:
        self.calls: list[CompletionRequest] = []
        self.in_flight = 0
        self._verdicts = dict(verdicts or {})
        self._relaxation = relaxation
        self._model = model
        self._provider = provider
        self._slots = asyncio.Semaphore(concurrency) if concurrency is not None else None
        self._gate = gate
        self._gated = gated

    @property
    def provider(self) -> str:
        """What it passes for."""
        return self._provider

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model

    @property
    def prompt_version(self) -> str:
        """Always the same."""
        return "1"

    def relaxation_request(self, question: str) -> CompletionRequest | None:
        """Render the question, if there is a relaxation in the script."""
        return None if self._relaxation is None else self._request("relaxation", question, "", sample=0)

    def verdict_request(self, question: str, passage: Passage, *, retry: bool = False) -> CompletionRequest:
        """Render the question and the passage, with its title and heading."""
        text = "\n".join(part for part in (passage.title, passage.heading, passage.content) if part)
        return self._request("verdict", question, text, sample=int(retry), content=passage.content)

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Say the line, unless begin raises.

        Raises:
            CompletionError: If the line is one.
        """
        async with self._slots or nullcontext():
            if begin is not None:
                await begin()
            return await self._say(request)

    def read_relaxation(self, completion: Completion) -> str:
        """Read the relaxed question.

        Raises:
            InvalidReply: If the reply is empty.
        """
        relaxed = str(json.loads(completion.reply))
        if not relaxed:
            raise InvalidReply("a relaxation is empty")
        return relaxed

    def read_verdict(self, completion: Completion) -> Reading | StopCode:
        """Read the reading, or not_answered for an abstention.

        Raises:
            InvalidReply: If the reply is neither.
        """
        try:
            reading = json.loads(completion.reply)
            return StopCode.NOT_ANSWERED if reading is None else Reading(**reading)
        except (ValueError, TypeError):
            raise InvalidReply("a verdict has the wrong form") from None

    def _request(self, purpose: str, question: str, text: str, *, sample: int, content: str = "") -> CompletionRequest:
        return CompletionRequest(
            purpose=purpose,
            model=self._model,
            parameters={"temperature": 0},
            prompt_version=self.prompt_version,
            messages=(Message("user", f"{question}\n{text}"),),
            sample=sample,
            payload={"content": content},
        )

    async def _say(self, request: CompletionRequest) -> Completion:
        self.calls.append(request)
        self.in_flight += 1
        try:
            # A real call gives way to others here.
            await asyncio.sleep(0)
            if self._gate is not None and (self._gated is None or _content(request) in self._gated):
                await self._gate.wait()
            line = self._line(request)
            if isinstance(line, CompletionError):
                raise line
        finally:
            self.in_flight -= 1
        reply = _render(request.purpose, line)
        words = sum(len(message.content.split()) for message in request.messages)
        return Completion(reply, prompt_tokens=words, completion_tokens=len(reply.split()), latency_ms=0.0)

    def _line(self, request: CompletionRequest) -> Line:
        lines = self._relaxation if request.purpose == "relaxation" else self._verdicts.get(_content(request))
        return lines[request.sample] if isinstance(lines, list) else lines


def _render(purpose: str, line: Reading | str | None) -> str:
    if isinstance(line, Reading):
        return json.dumps(asdict(line))
    # A string in place of a verdict is the raw reply, which need not be JSON.
    return line if isinstance(line, str) and purpose == "verdict" else json.dumps(line)


def _content(request: CompletionRequest) -> str:
    return str((request.payload or {}).get("content"))
