"""An OpenAI-compatible endpoint: the limit on calls in flight, what the server can do, and what its failures mean."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from pydantic import SecretStr

from pgclarify.config import ReasoningEffort, Settings
from pgclarify.errors import ConfigurationError, EndpointFailed, EndpointUnavailable, RequestRefused
from pgclarify.model_calls import Completion, CompletionRequest
from pgclarify.protocols import Begin
from pgclarify.providers.address import REFUSING, Address, Asked
from pgclarify.providers.bounded_client import Call, Fault, Problem
from pgclarify.providers.call_line import CallLine
from pgclarify.providers.chat_reply import ChatReply, read_reply
from pgclarify.providers.reserved_names import is_reserved

MAX_RETRIES: Final = 3
"""Further tries of a call, if nothing else is said."""

# Time-outs that one try may take: one until the answer begins, two while it sends white space, one for the answer.
_TIMEOUTS_PER_TRY: Final = 4

EFFORT: Final = "reasoning_effort"
"""The parameter that says how much a model thinks before it answers."""

# What models that think before they answer take in the place of max_tokens. It bounds their thoughts, too.
_LIMIT_WITH_THOUGHTS: Final = "max_completion_tokens"
# How many tokens are left for thoughts, by the effort.
_THINKING_TOKENS: Final[Mapping[ReasoningEffort | None, int]] = {
    None: 4096,
    ReasoningEffort.NONE: 4096,
    ReasoningEffort.MINIMAL: 4096,
    ReasoningEffort.LOW: 4096,
    ReasoningEffort.MEDIUM: 16384,
    ReasoningEffort.HIGH: 32768,
    ReasoningEffort.XHIGH: 65536,
    ReasoningEffort.MAX: 65536,
}

# What a reply is reckoned as by a server that takes neither.
_UNLIMITED_TOKENS: Final = 16384

# Most bytes of an answer. A token is four bytes of text on average; escaped in JSON it is six for each character, a
# token of line breaks is some two hundred, and servers tell the thoughts twice or add a probability to each token. What
# stands around the text is a few hundred bytes; servers that add figures of their own are left room for.
_BYTES_PER_TOKEN: Final = 128
_BYTES_AROUND: Final = 64 * 1024

# The room for thoughts is given up for all requests once so many different ones in a row were refused for it. A single
# one may be refused because its passage is long.
_ROOM_REFUSALS: Final = 3

_logger = logging.getLogger(__name__)

# What may be wrong with the form of the request, so that a simpler one is tried.
_REFUSING_FORM: Final = frozenset({400, 422})
# Codes of OpenAI's: no simpler form helps, and the parameter itself is refused, whatever its value.
_TOO_LONG: Final = "context_length_exceeded"
_UNSUPPORTED: Final = "unsupported_parameter"


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How a request is put to this server: the best form of structured output and the parameters that it takes.

    Attributes:
        response_format: json_schema, json_object or none.
        dropped: Decoding parameters that the server refuses (reasoning models: temperature).
        limit: What it calls the parameter max_tokens; None if it takes no limit at all.
        room: Tokens that are left for thoughts where the limit bounds them, too.
        has_room: Whether the limit has that room; None while it is not known whether the model thinks.
    """

    room: int
    has_room: bool | None
    response_format: str = "json_schema"
    dropped: frozenset[str] = frozenset()
    limit: str | None = "max_tokens"

    def render(self, request: CompletionRequest) -> dict[str, Any]:
        """The request's body, without the model."""
        body: dict[str, Any] = {}
        for parameter, value in request.parameters.items():
            name = self._name(parameter)
            if name is not None:
                body[name] = self.limit_of(request) if parameter == "max_tokens" else value
        body["messages"] = [{"role": message.role, "content": message.content} for message in request.messages]
        if request.schema is not None and self.response_format == "json_schema":
            schema = {"name": request.purpose, "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.schema is not None and self.response_format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def simpler(self, request: CompletionRequest, refusal: Fault) -> _Dialect | None:
        """The next form to try after a refusal; None if nothing is left to leave out."""
        if refusal.code == _TOO_LONG:
            return None
        for parameter in request.parameters:
            name = self._name(parameter)
            if name is None or not _names(refusal, name):
                continue
            if parameter == EFFORT:
                # Somebody chose it, and replies are kept under it.
                return None
            if parameter != "max_tokens":
                return replace(self, dropped=self.dropped | {parameter})
            if name == parameter:
                return replace(self, limit=_LIMIT_WITH_THOUGHTS)
            if self.limit_of(request) > request.parameters["max_tokens"] and refusal.code != _UNSUPPORTED:
                return replace(self, has_room=False)
            return replace(self, limit=None)
        if request.schema is None or self.response_format == "none":
            return None
        return replace(self, response_format="json_object" if self.response_format == "json_schema" else "none")

    def most_output_tokens(self, max_tokens: int) -> int:
        """Most tokens that a reply of at most max_tokens is paid as: those that a model thinks with count as output."""
        if self.limit is None:
            return _UNLIMITED_TOKENS
        return max_tokens + (self.room if self._leaves_room else 0)

    def limit_of(self, request: CompletionRequest) -> int:
        """The limit to send: no more than was reserved for the request, perhaps before room was learnt."""
        most: int = self.most_output_tokens(request.parameters["max_tokens"])
        return min(most, request.max_output_tokens) if request.max_output_tokens else most

    def after(self, reply: ChatReply) -> _Dialect:
        """The same, once a reply has shown whether the model thinks."""
        return replace(self, has_room=True) if reply.has_thoughts and self.has_room is None else self

    def merge(self, known: _Dialect, learnt: _Dialect) -> _Dialect:
        """Add what one request learnt. Of two requests that learnt different values at once, the first one counts.

        Args:
            known: What the request began with.
            learnt: What it succeeded with.
        """
        changes = {
            name: getattr(learnt, name)
            for name in ("has_room", "response_format", "limit")
            if getattr(self, name) == getattr(known, name)
        }
        return replace(self, dropped=self.dropped | learnt.dropped, **changes)

    @property
    def _leaves_room(self) -> bool:
        """Whether the limit has room for thoughts. Models that take it by its newer name think as a rule."""
        return self.limit == _LIMIT_WITH_THOUGHTS if self.has_room is None else self.has_room

    def _name(self, parameter: str) -> str | None:
        """What the server calls a parameter; None if it does not take it."""
        return self.limit if parameter == "max_tokens" else None if parameter in self.dropped else parameter


class Endpoint:
    """One OpenAI-compatible endpoint, shared by all runs of a worker.

    Args:
        model: Name of the model there.
        base_url: http(s) address up to and including the version; None means OpenAI's own.
        url_variable: The variable of the environment that the address is set by, for errors.
        api_key: None for servers that need none; it then needs a base_url.
        api_key_file: A file that holds the key, in the place of api_key. It is read again for each try of a call.
        reasoning_effort: How much the model thinks before it answers; None to leave it to the model.
        concurrency: Most calls in flight at once; further ones wait in order of arrival, masses behind all else.
        timeout: Seconds that the server may be silent within one try, or take for an answer that it has begun.
        max_retries: Further tries after a lost connection, a time-out, an answer that is no chat completion or too
            large, 408, 409, 429 or 5xx. Retry-After is obeyed up to a minute.

    Raises:
        ConfigurationError: If model, address and key do not make an endpoint.
    """

    def __init__(
        self,
        *,
        model: str | None,
        base_url: str | None = None,
        url_variable: str = "OPENAI_BASE_URL",
        api_key: SecretStr | None = None,
        api_key_file: Path | None = None,
        reasoning_effort: ReasoningEffort | None = None,
        concurrency: int = 16,
        timeout: float = 60.0,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        self._address = Address(base_url, api_key, url_variable=url_variable, key_file=api_key_file)
        self._model = (model or "").strip()
        self._check()
        self._line = CallLine(concurrency)
        self._timeout = timeout
        self._max_retries = max_retries
        self._effort = reasoning_effort
        self._dialect = _Dialect(
            _THINKING_TOKENS[reasoning_effort],
            True if reasoning_effort not in (None, ReasoningEffort.NONE) else None,
        )
        # Requests in a row that were refused with room for thoughts and answered without.
        self._refused_room: set[bytes] = set()
        self._client = self._address.client(silence=timeout, connections=concurrency, max_retries=max_retries)

    @classmethod
    def from_settings(cls, settings: Settings, address: str | None = None) -> Self:
        """Make the endpoint that the settings describe.

        Args:
            settings: The settings.
            address: One of llm_addresses, in the place of openai_base_url; it has to be given where there are any.
                Where there are several of them, the endpoint makes one try of a call.

        Raises:
            ConfigurationError: If they do not make an endpoint.
        """
        if address is None and settings.llm_addresses:
            # Without one of them, passages and the key would go to OpenAI's own address.
            raise ValueError("which of llm_addresses")
        if address is not None and settings.openai_base_url is not None:
            raise ConfigurationError(
                "OPENAI_BASE_URL and PGCLARIFY_LLM_ENDPOINTS are both set",
                detail="The language model has one address or several, and not both.",
                hint="Unset one of them.",
            )
        return cls(
            model=settings.llm_model,
            base_url=settings.openai_base_url if address is None else address,
            url_variable="OPENAI_BASE_URL" if address is None else "PGCLARIFY_LLM_ENDPOINTS",
            max_retries=0 if len(settings.llm_addresses) > 1 else MAX_RETRIES,
            api_key=settings.openai_api_key,
            api_key_file=settings.openai_api_key_file,
            reasoning_effort=settings.llm_reasoning_effort,
            concurrency=settings.llm_concurrency,
            timeout=settings.llm_timeout,
        )

    @property
    def address(self) -> Address:
        """Where it is."""
        return self._address

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._model

    @property
    def reasoning_effort(self) -> ReasoningEffort | None:
        """How much the model thinks before it answers; None if that is left to the model."""
        return self._effort

    @property
    def base_url(self) -> str:
        """Its address."""
        return self._address.base_url

    @property
    def longest_call(self) -> float:
        """Seconds after which a call has ended for certain, its retries included: what a lease has to cover."""
        return self._timeout * max(_TIMEOUTS_PER_TRY, self._max_retries + 1)

    def most_output_tokens(self, max_tokens: int) -> int:
        """Tell what a reply is reckoned as before it is there.

        Args:
            max_tokens: Most tokens that it is asked to take.

        Returns:
            As many; those that the model may think with on top, if it thinks; and a large number if it takes no limit.
            It is known once a call has succeeded.
        """
        return self._dialect.most_output_tokens(max_tokens)

    async def complete(
        self, request: CompletionRequest, begin: Begin | None = None, *, ends_at: float = inf
    ) -> Completion:
        """Make one call, as soon as the limit allows and unless begin raises.

        A reply that is empty, cut off or a refusal is returned as it is: it was paid for, it is kept, and reading it
        says what is wrong with it.

        Args:
            request: What is asked.
            begin: Called before the call is made.
            ends_at: When the call is given up at the latest, by the clock of the event loop.

        Raises:
            RequestRefused: If the endpoint refuses this very request.
            EndpointUnavailable: If no completion came back, after all retries.
        """
        async with self._line.turn(request.purpose):
            if begin is not None:
                await begin()
            started = time.perf_counter()
            reply, tries = await self._complete(request, ends_at)
            latency_ms = (time.perf_counter() - started) * 1000
        return Completion(
            reply=reply.text,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            latency_ms=latency_ms,
            cached_tokens=reply.cached_tokens,
            tries=tries,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _complete(self, request: CompletionRequest, ends_at: float) -> tuple[ChatReply, int]:
        """Ask in the richest form known to work, and in simpler ones if the server refuses it.

        A simpler form is remembered only once it has succeeded: a request can be refused for reasons of its own, such
        as its length.

        Returns:
            The reply, and how many requests it took.
        """
        tries = 0
        known = dialect = self._dialect
        ends_at = min(ends_at, asyncio.get_running_loop().time() + self.longest_call)
        while True:
            most_tokens = dialect.most_output_tokens(request.parameters.get("max_tokens", _UNLIMITED_TOKENS))
            # A model may think where that is not asked for, too.
            most_bytes = (most_tokens + dialect.room) * _BYTES_PER_TOKEN + _BYTES_AROUND
            call = Call(read_reply, most_bytes, ends_at)
            await self._client.post("/chat/completions", {"model": self._model, **dialect.render(request)}, call)
            tries += call.tries
            if call.reply is not None:
                break
            refusal = call.fault if call.fault is not None and call.fault.status in _REFUSING_FORM else None
            simpler = dialect.simpler(request, refusal) if refusal is not None else None
            if simpler is None:
                raise self._unavailable(call, tries)
            dialect = simpler
        self._learn(request, known, dialect.after(call.reply))
        return call.reply, tries

    def _learn(self, request: CompletionRequest, known: _Dialect, learnt: _Dialect) -> None:
        """Remember the form that a request succeeded with, for the requests after it."""
        if learnt.has_room is False and known.has_room is not False:
            self._refused_room.add(request.input_hash)
            if len(self._refused_room) < _ROOM_REFUSALS:
                learnt = replace(learnt, has_room=known.has_room)
        elif "max_tokens" in request.parameters and learnt.limit_of(request) > request.parameters["max_tokens"]:
            self._refused_room.clear()
        if learnt == known:
            return
        if learnt.limit is None and self._dialect.limit is not None:
            _logger.warning(
                "%s takes neither max_tokens nor %s: its replies may be of any length, and budgets in"
                " dollars reckon with %d tokens for each",
                self.base_url,
                _LIMIT_WITH_THOUGHTS,
                _UNLIMITED_TOKENS,
            )
        self._dialect = self._dialect.merge(known, learnt)

    def _check(self) -> None:
        if not self._address.has_own and not self._address.has_key:
            raise ConfigurationError(
                "no language model endpoint is set",
                detail="Neither OPENAI_BASE_URL nor OPENAI_API_KEY is set.",
                hint="Set OPENAI_API_KEY for OpenAI, or OPENAI_BASE_URL for another server,"
                " or PGCLARIFY_LLM_PROVIDER=extractive to work without a model.",
            )
        if not self._model:
            raise ConfigurationError(
                "no language model is set",
                detail=f"{self._address.host} needs to be told which model to use.",
                hint="Set PGCLARIFY_LLM_MODEL to the name that the endpoint lists under /models.",
            )
        if is_reserved(self._model):
            raise ConfigurationError(
                f"no model behind an endpoint may be called {self._model}",
                detail="This name belongs to the extractive provider, which costs nothing.",
                hint="Give the model another name at its endpoint, and set PGCLARIFY_LLM_MODEL to it.",
            )
        self._address.check()

    def _unavailable(self, call: Call[ChatReply], tries: int) -> EndpointUnavailable:
        """Say why a call brought no reply after so many requests, and what to do about it."""
        asked = Asked(
            endpoint="the endpoint",
            reply="a chat completion",
            model=self._model,
            model_hint="Check PGCLARIFY_LLM_MODEL.",
            refused_hint="The model may not have room for this passage,"
            " or PGCLARIFY_LLM_MODEL may not be a chat model.",
            timeout=self._timeout,
            longest_call=self.longest_call,
        )
        why = self._address.explain(call, asked)
        if self._effort is not None and call.fault is not None and _refuses(call.fault, EFFORT):
            # Every request has it, so the run cannot go on.
            return EndpointUnavailable(
                f'the endpoint refused the reasoning effort "{self._effort}"',
                detail=why.detail,
                hint="Set PGCLARIFY_LLM_REASONING_EFFORT to one that the model takes, or unset it.",
            )
        error = kind_of(call.fault)(why.message, detail=why.detail, hint=why.hint)
        error.tries = max(tries, 1)
        if call.fault is not None:
            error.retry_after, error.may_pass = call.fault.wait, not call.fault.is_final
        return error


def _refuses(fault: Fault, parameter: str) -> bool:
    """Tell whether the form of a request is refused because of a parameter."""
    return fault.status in _REFUSING_FORM and _names(fault, parameter)


def _names(refusal: Fault, parameter: str) -> bool:
    """Tell whether a refusal is about a parameter: by its field, or in its text where the server leaves that out."""
    return re.search(rf"\b{re.escape(parameter)}\b", refusal.parameter or refusal.said) is not None


def kind_of(fault: Fault | None) -> type[EndpointUnavailable]:
    """Tell by the fault of a call whether another request may do better, or this one is at fault."""
    if fault is None or fault.problem in (Problem.SILENT, Problem.TOO_LARGE) or fault.status >= 500:
        return EndpointFailed
    return RequestRefused if fault.status in REFUSING else EndpointUnavailable
