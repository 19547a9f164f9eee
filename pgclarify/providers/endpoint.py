"""An OpenAI-compatible endpoint: the limit on calls in flight, what the server can do, and what its failures mean."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

from pydantic import SecretStr

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError, EndpointFailed, EndpointUnavailable, RequestRefused
from pgclarify.model_calls import Completion, CompletionRequest
from pgclarify.protocols import Begin
from pgclarify.providers.bounded_client import BoundedClient, Call, Fault, Problem
from pgclarify.providers.chat_reply import ChatReply, read_reply, storable

OPENAI_BASE_URL: Final = "https://api.openai.com/v1"

# Some servers insist on a key; those that need none ignore it.
_NO_KEY: Final = "no-key-set"

_LONGEST_SERVER_TEXT: Final = 300

# What models that think before they answer take in the place of max_tokens. It bounds their thoughts, too, which so
# many tokens are left for.
_LIMIT_WITH_THOUGHTS: Final = "max_completion_tokens"
_THINKING_TOKENS: Final = 4096

# What a reply is reckoned as by a server that takes neither.
_UNLIMITED_TOKENS: Final = 16384

# Most bytes of an answer. A token is four bytes of text on average; escaped in JSON it is six for each character, a
# token of line breaks is some two hundred, and servers tell the thoughts twice or add a probability to each token. What
# stands around the text is a few hundred bytes; servers that add figures of their own are left room for.
_BYTES_PER_TOKEN: Final = 128
_BYTES_AROUND: Final = 64 * 1024

_logger = logging.getLogger(__name__)

# What is wrong with the request itself: bad, too large, or not to be processed.
_REFUSING: Final = frozenset({400, 413, 422})

# What may be wrong with the form of the request, so that a simpler one is tried.
_REFUSING_FORM: Final = frozenset({400, 422})

# What a run asks many times over. It stands in a line of its own, of which no more than the limit come to the counter
# at once: what a run begins with, and all else in it waits for, does not stand behind the mass of all other runs.
_MASS_PURPOSES: Final = frozenset({"verdict", "relevance", "entailment", "sample"})


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How a request is put to this server: the best form of structured output and the parameters that it takes.

    Attributes:
        response_format: json_schema, json_object or none.
        dropped: Decoding parameters that the server refuses (reasoning models: temperature).
        limit: What it calls the parameter max_tokens; None if it takes no limit at all.
    """

    response_format: str = "json_schema"
    dropped: frozenset[str] = frozenset()
    limit: str | None = "max_tokens"

    def render(self, request: CompletionRequest) -> dict[str, Any]:
        """The request's body, without the model."""
        body: dict[str, Any] = {}
        for parameter, value in request.parameters.items():
            name = self._name(parameter)
            if name is not None:
                body[name] = self.most_output_tokens(value) if name == _LIMIT_WITH_THOUGHTS else value
        body["messages"] = [{"role": message.role, "content": message.content} for message in request.messages]
        if request.schema is not None and self.response_format == "json_schema":
            schema = {"name": request.purpose, "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.schema is not None and self.response_format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def simpler(self, request: CompletionRequest, refusal: Fault) -> _Dialect | None:
        """The next form to try after a refusal; None if nothing is left to leave out."""
        named = f"{refusal.parameter} {refusal.said}"
        for parameter in request.parameters:
            name = self._name(parameter)
            if name is None or not re.search(rf"\b{re.escape(name)}\b", named):
                continue
            if parameter != "max_tokens":
                return replace(self, dropped=self.dropped | {parameter})
            return replace(self, limit=_LIMIT_WITH_THOUGHTS if name == parameter else None)
        if request.schema is None or self.response_format == "none":
            return None
        return replace(self, response_format="json_object" if self.response_format == "json_schema" else "none")

    def most_output_tokens(self, max_tokens: int) -> int:
        """Most tokens that a reply of at most max_tokens is paid as: those that a model thinks with count as output."""
        if self.limit is None:
            return _UNLIMITED_TOKENS
        return max_tokens + (_THINKING_TOKENS if self.limit == _LIMIT_WITH_THOUGHTS else 0)

    def _name(self, parameter: str) -> str | None:
        """What the server calls a parameter; None if it does not take it."""
        return self.limit if parameter == "max_tokens" else None if parameter in self.dropped else parameter


class Endpoint:
    """One OpenAI-compatible endpoint, shared by all runs of a worker.

    Args:
        model: Name of the model there.
        base_url: http(s) address up to and including the version; None means OpenAI's own.
        api_key: None for servers that need none; it then needs a base_url.
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
        api_key: SecretStr | None = None,
        concurrency: int = 16,
        timeout: float = 60.0,
        max_retries: int = 3,
    ) -> None:
        self._key = api_key.get_secret_value().strip() if api_key else ""
        self._base_url = (base_url or "").strip() or OPENAI_BASE_URL
        self._model = (model or "").strip()
        self._check(has_address=bool(base_url and base_url.strip()))
        self._limit = asyncio.Semaphore(concurrency)
        self._mass_limit = asyncio.Semaphore(concurrency)
        self._timeout = timeout
        self._max_retries = max_retries
        self._dialect = _Dialect()
        self._client = self.client(silence=timeout, connections=concurrency, max_retries=max_retries)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Make the endpoint that the settings describe.

        Raises:
            ConfigurationError: If they do not make an endpoint.
        """
        return cls(
            model=settings.llm_model,
            base_url=settings.openai_base_url,
            api_key=settings.openai_api_key,
            concurrency=settings.llm_concurrency,
            timeout=settings.llm_timeout,
        )

    def client(self, *, silence: float, connections: int, max_retries: int) -> BoundedClient:
        """Make another HTTP client for this address and key; arguments as of `BoundedClient`."""
        return BoundedClient(
            self._base_url,
            self._key or _NO_KEY,
            silence=silence,
            connections=connections,
            max_retries=max_retries,
        )

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._model

    @property
    def base_url(self) -> str:
        """Its address."""
        return self._base_url

    @property
    def longest_call(self) -> float:
        """Seconds after which a call has ended for certain, its retries included: what a lease has to cover."""
        return self._timeout * (self._max_retries + 1)

    def most_output_tokens(self, max_tokens: int) -> int:
        """Tell what a reply is reckoned as before it is there.

        Args:
            max_tokens: Most tokens that it is asked to take.

        Returns:
            As many; those that the model may think with on top, if it takes max_completion_tokens instead; and a large
            number if it takes no limit. It is known once a call has succeeded.
        """
        return self._dialect.most_output_tokens(max_tokens)

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Make one call, as soon as the limit allows and unless begin raises.

        A reply that is empty, cut off or a refusal is returned as it is: it was paid for, it is kept, and reading it
        says what is wrong with it.

        Raises:
            RequestRefused: If the endpoint refuses this very request.
            EndpointUnavailable: If no completion came back, after all retries.
        """
        async with self._mass_limit if request.purpose in _MASS_PURPOSES else nullcontext(), self._limit:
            if begin is not None:
                await begin()
            started = time.perf_counter()
            reply = await self._complete(request)
            latency_ms = (time.perf_counter() - started) * 1000
        return Completion(
            reply=reply.text,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            latency_ms=latency_ms,
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

    async def _complete(self, request: CompletionRequest) -> ChatReply:
        """Ask in the richest form known to work, and in simpler ones if the server refuses it.

        A simpler form is remembered only once it has succeeded: a request can be refused for reasons of its own, such
        as its length.
        """
        known = dialect = self._dialect
        ends_at = asyncio.get_running_loop().time() + self.longest_call
        while True:
            most_tokens = dialect.most_output_tokens(request.parameters.get("max_tokens", _UNLIMITED_TOKENS))
            # A model may think where that is not asked for, too.
            most_bytes = (most_tokens + _THINKING_TOKENS) * _BYTES_PER_TOKEN + _BYTES_AROUND
            call = Call(read_reply, most_bytes, ends_at)
            await self._client.post("/chat/completions", {"model": self._model, **dialect.render(request)}, call)
            if call.reply is not None:
                break
            refusal = call.fault if call.fault is not None and call.fault.status in _REFUSING_FORM else None
            simpler = dialect.simpler(request, refusal) if refusal is not None else None
            if simpler is None:
                raise self._unavailable(call)
            dialect = simpler
        if dialect is not known:
            if dialect.limit is None and self._dialect.limit is not None:
                _logger.warning(
                    "%s takes neither max_tokens nor %s: its replies may be of any length, and budgets in"
                    " dollars reckon with %d tokens for each",
                    self._base_url,
                    _LIMIT_WITH_THOUGHTS,
                    _UNLIMITED_TOKENS,
                )
            self._dialect = dialect
        return call.reply

    def _check(self, *, has_address: bool) -> None:
        if not has_address and not self._key:
            raise ConfigurationError(
                "no language model endpoint is set",
                detail="Neither OPENAI_BASE_URL nor OPENAI_API_KEY is set.",
                hint="Set OPENAI_API_KEY for OpenAI, or OPENAI_BASE_URL for another server,"
                " or PGCLARIFY_LLM_PROVIDER=extractive to work without a model.",
            )
        if not self._model:
            raise ConfigurationError(
                "no language model is set",
                detail=f"{self._base_url_shown()} needs to be told which model to use.",
                hint="Set PGCLARIFY_LLM_MODEL to the name that the endpoint lists under /models.",
            )
        url = urlsplit(self._base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ConfigurationError(
                "OPENAI_BASE_URL is not a web address",
                detail="It has to begin with http:// or https:// and a host.",
                hint="Set it to an address such as http://127.0.0.1:8000/v1.",
            )
        # What is in the address ends up in log lines and errors.
        if url.username or url.password or url.query:
            raise ConfigurationError(
                "OPENAI_BASE_URL carries more than an address",
                detail="A user name, a password or parameters are part of it.",
                hint="Leave the bare address there and put the key into OPENAI_API_KEY.",
            )

    def _base_url_shown(self) -> str:
        """The endpoint's host; the address may not have been checked for secrets yet."""
        return urlsplit(self._base_url).hostname or "The endpoint"

    def _unavailable(self, call: Call[ChatReply]) -> EndpointUnavailable:
        """Say why a call brought no reply, and what to do about it."""
        fault = call.fault or Fault(Problem.SILENT)
        tries = "once" if call.tries == 1 else f"{call.tries} times"
        match fault.problem:
            case Problem.REFUSED:
                return self._refused(fault)
            case Problem.SILENT:
                return EndpointFailed(
                    "the endpoint did not answer in time",
                    detail=f"{self._base_url} was asked {tries}. A try may take {self._timeout:g} seconds without a"
                    f" sign of life, all tries together {self.longest_call:g} seconds.",
                    hint="Raise PGCLARIFY_LLM_TIMEOUT, or lower PGCLARIFY_LLM_CONCURRENCY if the server is overloaded.",
                )
            case Problem.BROKEN:
                return EndpointUnavailable(
                    "the endpoint cannot be reached",
                    detail=f"{self._base_url} was asked {tries}: there was no connection, or it broke.",
                    hint="Check that the server runs and that OPENAI_BASE_URL is its address.",
                )
            case Problem.TOO_LARGE:
                return EndpointFailed(
                    "the endpoint's answer is too large",
                    detail=f"{self._base_url} was asked {tries}. It sent more than {call.most_bytes} bytes, which is"
                    " more than a reply of max_tokens can need.",
                    hint="Check that OPENAI_BASE_URL is a chat model's address, and that its server obeys max_tokens.",
                )
            case Problem.UNREADABLE:
                said = f" ({self._scrubbed(fault.said)})" if fault.said else ""
                return EndpointUnavailable(
                    "the endpoint's answer is not a chat completion",
                    detail=f"{self._base_url} was asked {tries}. What it sent could not be read as one{said}.",
                    hint="Check OPENAI_BASE_URL: it usually ends in /v1.",
                )

    def _refused(self, fault: Fault) -> EndpointUnavailable:
        status = fault.status
        answered = f"{self._base_url} answered with status {status}"
        said = f"{answered}: {self._scrubbed(fault.said)}" if fault.said else f"{answered}."
        if fault.wait is not None and fault.wait > 0:
            said += f" It asks to wait {fault.wait:.0f} seconds."
        if status in (401, 403):
            # Servers like to repeat a part of the key in this message, so it is not shown.
            return EndpointUnavailable(
                "the endpoint refused the key",
                detail=f"{answered}.",
                hint="Check OPENAI_API_KEY, and that it may use this model."
                if self._key
                else "This endpoint wants a key: set OPENAI_API_KEY.",
            )
        if 300 <= status < 400:
            return EndpointUnavailable(
                "the endpoint is at another address",
                detail=said,
                hint="Set OPENAI_BASE_URL to that address. Passages are sent nowhere else.",
            )
        if status == 404:
            return EndpointUnavailable(
                f'the endpoint does not know the model "{self._model}", or the address is wrong',
                detail=said,
                hint="Check PGCLARIFY_LLM_MODEL, and OPENAI_BASE_URL, which usually ends in /v1.",
            )
        if status == 429:
            return EndpointUnavailable(
                "the endpoint's rate limit or quota is used up",
                detail=said,
                hint="Lower PGCLARIFY_LLM_CONCURRENCY, or raise the limit with the provider.",
            )
        if status >= 500:
            return EndpointFailed(
                "the endpoint failed",
                detail=said,
                hint="See the server's own log; the run can be asked again and pays only for what is missing.",
            )
        return (RequestRefused if status in _REFUSING else EndpointUnavailable)(
            "the endpoint refused the request",
            detail=said,
            hint="The model may not have room for this passage, or PGCLARIFY_LLM_MODEL may not be a chat model.",
        )

    def _scrubbed(self, text: str) -> str:
        """A server's message on one line, short, and without the key."""
        if self._key:
            text = text.replace(self._key, "***")
        text = " ".join(storable(text).split())
        return text if len(text) <= _LONGEST_SERVER_TEXT else f"{text[:_LONGEST_SERVER_TEXT]}…"
