"""The completer of our tests: it gets the real prompts, and replies what a script says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from typing import Any, TypeAlias, TypeVar

from pgclarify.data.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.errors import CompletionError
from pgclarify.protocols import Sending

T = TypeVar("T")

Line: TypeAlias = str | CompletionError
"""The reply to one request: raw text, or an error to raise."""

_FENCED = re.compile(r"<(passage-[0-9a-f]{16})>\n(.*)\n</\1>", re.DOTALL)
_NUMBERED = re.compile(r"<passage-\d+-[0-9a-f]{8}>\n(.*?)(?=\n<(?:/passage-|passage-\d+-))", re.DOTALL)
_HEADER = re.compile(r"\A(?:(?:Title|Section): .*\n)+\n?")


class Prompt:
    """A request, parsed into its parts.

    Args:
        request: The request to a completer.
    """

    def __init__(self, request: CompletionRequest) -> None:
        self.purpose = request.purpose
        self.sample = request.sample
        self.text = request.messages[-1].content

    @property
    def passages(self) -> list[str]:
        """The contents of the passages in the prompt."""
        shown = [match[2] for match in _FENCED.finditer(self.text)] or _NUMBERED.findall(self.text)
        return [_HEADER.sub("", one) for one in shown]

    @property
    def passage(self) -> str:
        """The content of its first passage; empty if it has none."""
        return next(iter(self.passages), "")

    @property
    def question(self) -> str:
        """The question."""
        return self.line("Question")

    def line(self, label: str) -> str:
        """Return the text of the last line with this label; empty if there is none."""
        return next(iter(reversed(self.lines(label))), "")

    def lines(self, label: str) -> list[str]:
        """Return the texts of the lines with a label, also if it has a number."""
        found = re.findall(rf"^{label}(?: \d+)?: (.*)$", self.text, re.MULTILINE)
        return [str(one) for one in found]


Script: TypeAlias = Callable[[Prompt], Line | list[Line]]
"""The replies to a prompt. A list has one reply for each call (the second one for a retry)."""


class ScriptedCompleter:
    """Replies from scripts, and counts calls.

    Args:
        scripts: Replies by purpose. It cannot answer prompts of other purposes.
        model: The model's name.
        provider: openai or extractive.
        concurrency: Most calls in flight at the same time; None for no limit.
        gate: If given, a gated call ends only after it is set.
        gated: Which calls wait for the gate; None for all calls.

    Attributes:
        calls: Each request that was paid for so far, in order.
        in_flight: Calls that have started and not ended.
        most_in_flight: The highest value of in_flight so far.
        before: If set, it is awaited with the prompt before each call. The call raises its errors.
    """

    def __init__(
        self,
        scripts: Mapping[str, Script],
        *,
        model: str = "fake",
        provider: str = "openai",
        concurrency: int | None = None,
        gate: asyncio.Event | None = None,
        gated: Callable[[Prompt], bool] | None = None,
    ) -> None:
        self.calls: list[CompletionRequest] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.before: Callable[[Prompt], Awaitable[None]] | None = None
        self._scripts = dict(scripts)
        self._model = model
        self._provider = provider
        self._slots = asyncio.Semaphore(concurrency) if concurrency is not None else None
        self._gate = gate
        self._gated = gated

    @property
    def provider(self) -> str:
        """The name of its provider."""
        return self._provider

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model

    @property
    def turns_free(self) -> int:
        """0, so that each call is noted as sent when it begins."""
        return 0

    def asked(self, purpose: str) -> list[Prompt]:
        """The prompts of a purpose so far, in order."""
        return [Prompt(call) for call in self.calls if call.purpose == purpose]

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Return the call unchanged, if there is a script for it."""
        return call if call.purpose in self._scripts else None

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Turn a call into a request."""
        return CompletionRequest(
            purpose=call.purpose,
            model=self._model,
            parameters={"temperature": call.temperature},
            prompt_version=call.version,
            messages=call.messages,
            schema=call.schema,
            sample=call.sample,
            document_ids=call.document_ids,
        )

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        """Return the reply, unless sending raises.

        Raises:
            CompletionError: If the script has one.
        """
        if self.before is not None:
            await self.before(Prompt(request))
        async with self._slots or nullcontext():
            if sending is not None:
                await sending.begin()
            self.calls.append(request)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            try:
                return await self._say(Prompt(request), request)
            finally:
                self.in_flight -= 1

    async def _say(self, prompt: Prompt, request: CompletionRequest) -> Completion:
        # A real call lets other tasks run here.
        await asyncio.sleep(0)
        if self._gate is not None and (self._gated is None or self._gated(prompt)):
            await self._gate.wait()
        line = self._scripts[request.purpose](prompt)
        if isinstance(line, list):
            line = line[request.sample]
        if isinstance(line, CompletionError):
            raise line
        words = sum(len(message.content.split()) for message in request.messages)
        return Completion(line, prompt_tokens=words, completion_tokens=len(line.split()), latency_ms=0.0)
