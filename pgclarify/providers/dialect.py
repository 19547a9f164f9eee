"""The form of requests that a chat server takes, and the simpler forms to try when it refuses one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pgclarify.config import ReasoningEffort
from pgclarify.data.model_calls import CompletionRequest
from pgclarify.providers.faults import Fault
from pgclarify.providers.reply import ChatReply

EFFORT: Final = "reasoning_effort"
"""The parameter for how much a model thinks before it answers."""

# Models that think before they answer take this parameter instead of max_tokens. It also limits the thoughts.
LIMIT_WITH_THOUGHTS: Final = "max_completion_tokens"
# Tokens that are added for thoughts, by reasoning effort.
THINKING_TOKENS: Final[Mapping[ReasoningEffort | None, int]] = {
    None: 4096,
    ReasoningEffort.NONE: 4096,
    ReasoningEffort.MINIMAL: 4096,
    ReasoningEffort.LOW: 4096,
    ReasoningEffort.MEDIUM: 16384,
    ReasoningEffort.HIGH: 32768,
    ReasoningEffort.XHIGH: 65536,
    ReasoningEffort.MAX: 65536,
}

# Assumed tokens of a reply if the server takes neither parameter.
UNLIMITED_TOKENS: Final = 16384

# OpenAI's codes. After the first, no simpler form helps. The second refuses the parameter itself, for any value.
_TOO_LONG: Final = "context_length_exceeded"
UNSUPPORTED: Final = "unsupported_parameter"
# Servers without these codes say in words that a limit does not fit beside a long prompt. vLLM: "'max_tokens' or
# 'max_completion_tokens' is too large: 1024. This model's maximum context length is 4096 tokens and …".
_TOO_HIGH: Final = re.compile(r"\btoo (large|long|high)\b|\bcontext (length|window)\b", re.IGNORECASE)


def _by_schema(request: CompletionRequest) -> dict[str, Any]:
    schema = {"name": request.purpose, "strict": True, "schema": dict(request.schema or {})}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _by_tools(request: CompletionRequest) -> dict[str, Any]:
    function = {"name": request.purpose, "parameters": dict(request.schema or {})}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": request.purpose}},
    }


# Forms of structured output, the best first: the fields of a request with a schema. After a refusal, the next form is
# tried.
FORMS: Final[Mapping[str, Callable[[CompletionRequest], dict[str, Any]]]] = {
    "json_schema": _by_schema,
    "tools": _by_tools,
    "json_object": lambda _: {"response_format": {"type": "json_object"}},
    "none": lambda _: {},
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of requests for this server: the best structured output and the parameters that it takes.

    Attributes:
        form: One of FORMS.
        dropped: Decoding parameters that the server refuses (reasoning models: temperature).
        limit: Its name for the parameter max_tokens; None if it takes no limit.
        room: Tokens that are added for thoughts if the limit includes them.
        has_room: Whether the limit has that room; None while it is unknown whether the model thinks.
    """

    room: int
    has_room: bool | None
    form: str = "json_schema"
    dropped: frozenset[str] = frozenset()
    limit: str | None = "max_tokens"

    def render(self, request: CompletionRequest) -> dict[str, Any]:
        """Return the request's body, without the model."""
        body: dict[str, Any] = {}
        for parameter, value in request.parameters.items():
            name = self._name(parameter)
            if name is not None:
                body[name] = self.limit_of(request) if parameter == "max_tokens" else value
        body["messages"] = [{"role": message.role, "content": message.content} for message in request.messages]
        if request.schema is not None:
            body |= FORMS[self.form](request)
        return body

    def simpler(self, request: CompletionRequest, refusal: Fault) -> Dialect | None:
        """Return the next form to try after a refusal; None if there is no simpler one."""
        if refusal.code == _TOO_LONG:
            return None
        for parameter in request.parameters:
            name = self._name(parameter)
            if name is None or not names(refusal, name):
                continue
            if parameter == EFFORT:
                # The user chose the effort, and replies are stored under it.
                return None
            if parameter != "max_tokens":
                return replace(self, dropped=self.dropped | {parameter})
            if name == parameter and not is_too_high(refusal):
                return replace(self, limit=LIMIT_WITH_THOUGHTS)
            if self.limit_of(request) > request.parameters["max_tokens"] and refusal.code != UNSUPPORTED:
                return replace(self, has_room=False)
            return replace(self, limit=None)
        simpler = [*FORMS][[*FORMS].index(self.form) + 1 :]
        return replace(self, form=simpler[0]) if request.schema is not None and simpler else None

    def most_output_tokens(self, max_tokens: int) -> int:
        """Return the most tokens that a reply of max_tokens may be paid as, including thoughts."""
        if self.limit is None:
            return UNLIMITED_TOKENS
        return max_tokens + (self.room if self._leaves_room else 0)

    def limit_of(self, request: CompletionRequest) -> int:
        """Return the limit to send. It is at most what was reserved, which may be from before room was learnt."""
        most: int = self.most_output_tokens(request.parameters["max_tokens"])
        return min(most, request.max_output_tokens) if request.max_output_tokens else most

    def after(self, reply: ChatReply) -> Dialect:
        """Return the form to use after a reply showed whether the model thinks."""
        return replace(self, has_room=True) if reply.has_thoughts and self.has_room is None else self

    def merge(self, known: Dialect, learnt: Dialect) -> Dialect:
        """Add what one request learnt. If two requests learn different values at once, the first one wins.

        Args:
            known: The form that the request began with.
            learnt: The form that it succeeded with.
        """
        changes = {
            name: getattr(learnt, name)
            for name in ("has_room", "form", "limit")
            if getattr(self, name) == getattr(known, name)
        }
        return replace(self, dropped=self.dropped | learnt.dropped, **changes)

    @property
    def _leaves_room(self) -> bool:
        """Whether the limit has room for thoughts. Models that take the newer parameter name usually think."""
        return self.limit == LIMIT_WITH_THOUGHTS if self.has_room is None else self.has_room

    def _name(self, parameter: str) -> str | None:
        """Return the server's name of a parameter; None if it does not take it."""
        if parameter == "max_tokens":
            return self.limit
        return None if parameter in self.dropped else parameter


def is_too_high(refusal: Fault) -> bool:
    """Tell whether a refusal of a limit is about its value: the server takes the parameter, but not so many tokens."""
    return refusal.code != UNSUPPORTED and _TOO_HIGH.search(refusal.said) is not None


def names(refusal: Fault, parameter: str) -> bool:
    """Tell whether a refusal is about a parameter, by its field or, without that, by its text."""
    return re.search(rf"\b{re.escape(parameter)}\b", refusal.parameter or refusal.said) is not None
