"""A chat model behind an endpoint: the limit on calls in flight, the server's abilities, and its failures."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import Any, Final, Self, TypeVar, Unpack

from pgclarify import tracing
from pgclarify.config import ReasoningEffort, Settings
from pgclarify.data.model_calls import FILTERED, Completion, CompletionRequest, ModelCall
from pgclarify.errors import ConfigurationError, EndpointFailed, EndpointUnavailable, RequestRefused
from pgclarify.protocols import Rates, Sending
from pgclarify.providers.client import Address, Client, Limits, limits_of
from pgclarify.providers.dialect import (
    EFFORT,
    LIMIT_WITH_THOUGHTS,
    THINKING_TOKENS,
    UNLIMITED_TOKENS,
    UNSUPPORTED,
    Dialect,
    names,
)
from pgclarify.providers.failures import REFUSING
from pgclarify.providers.faults import Fault, NoReply, Problem
from pgclarify.providers.reply import ChatReply, read_reply
from pgclarify.providers.reserved_names import check_name

# Timeouts that one try may take: one until the answer begins, two while white space is sent, one for the answer.
_TIMEOUTS_PER_TRY: Final = 4

# Most bytes of an answer, per token. A token is four bytes of text on average. Escaped in JSON it is six bytes per
# character, and a token of line breaks is about two hundred bytes. Servers may also send thoughts twice, or a
# probability for each token. The rest of the answer is a few hundred bytes, with room for a server's own fields.
_BYTES_PER_TOKEN: Final = 128
_BYTES_AROUND: Final = 64 * 1024

_logger = logging.getLogger(__name__)
T = TypeVar("T")

# Statuses for a request whose form the server may not support; a simpler form is tried.
_REFUSING_FORM: Final = frozenset({400, 422})


class Endpoint(Client):
    """A chat model behind an OpenAI-compatible endpoint. All runs of a worker share it. Implements protocols.Completer.

    Args:
        address: Where it is.
        model: The model's name at the endpoint.
        reasoning_effort: How much the model thinks before it answers; None lets the model decide.
        limits: As of `Client`.

    Attributes:
        provider: Always openai.
        model: Name of the model.
        reasoning_effort: As given.

    Raises:
        ConfigurationError: If model, address and key do not describe an endpoint.
    """

    provider = "openai"

    def __init__(
        self,
        address: Address,
        model: str | None,
        reasoning_effort: ReasoningEffort | None = None,
        **limits: Unpack[Limits],
    ) -> None:
        self.model = (model or "").strip()
        self._check(address)
        super().__init__(address, **limits)
        self.reasoning_effort = reasoning_effort
        self._dialect = Dialect(
            THINKING_TOKENS[reasoning_effort],
            True if reasoning_effort not in (None, ReasoningEffort.NONE) else None,
        )

    @classmethod
    def from_settings(cls, settings: Settings, rates: Rates | None = None) -> Self:
        """Make the endpoint that the settings describe.

        Args:
            settings: The settings of this process.
            rates: Through which workers share its limits; None for no limits.

        Raises:
            ConfigurationError: If they do not describe an endpoint.
        """
        address, model = Address.of_chat(settings), settings.llm_model
        limits = limits_of(settings, "llm", f"{address.base_url} {model}", rates)
        return cls(address, model, settings.llm_reasoning_effort, **limits)

    @property
    def longest_call(self) -> float:
        """Seconds after which a call has surely ended, with all retries. A lease must be at least this long."""
        return self.timeout * max(_TIMEOUTS_PER_TRY, self.max_retries + 1)

    def most_output_tokens(self, max_tokens: int) -> int:
        """Return the tokens to reserve for a reply.

        Args:
            max_tokens: Most tokens that the reply is asked to have.

        Returns:
            max_tokens; plus the room for thoughts if the model thinks; or a large number if the server takes no limit.
            It is exact once a call has succeeded.
        """
        return self._dialect.most_output_tokens(max_tokens)

    def adapt(self, call: ModelCall[T]) -> ModelCall[T]:
        """Return the call unchanged: a chat model can answer any call."""
        return call

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Make the request of a call to this model."""
        effort = self.reasoning_effort
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
            max_output_tokens=self.most_output_tokens(call.max_tokens),
            document_ids=call.document_ids,
        )

    def body(self, request: CompletionRequest, dialect: Dialect | None = None) -> dict[str, Any]:
        """Return the body of a request, in the richest form that is known to work unless another one is given."""
        return {"model": self.model, **(dialect or self._dialect).render(request)}

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        """Make one call, as soon as the limits allow.

        A reply that is empty, cut off or a refusal is returned unchanged: it is paid for and is kept, and reading it
        shows what is wrong. So is an empty reply if a filter of the endpoint refuses the request.

        Args:
            request: The request.
            sending: Notes each request; its errors are passed on.

        Raises:
            RequestRefused: If the endpoint refuses this very request.
            EndpointUnavailable: If no completion was received, after all retries.
        """
        async with self.line.turn(request.purpose, len(request.rendered), sending) as turn:
            started = time.perf_counter()
            facts = {"pgclarify.purpose": request.purpose}
            with tracing.ModelCall("chat", self.model, self.address.base_url, facts, messages=request.messages) as call:
                reply, tries = await self._complete(request, sending)
                call.note_reply(
                    reply.prompt_tokens,
                    reply.completion_tokens,
                    cached_tokens=reply.cached_tokens,
                    finish_reason=reply.finish_reason,
                    tries=tries,
                    text=reply.text,
                )
            latency_ms = (time.perf_counter() - started) * 1000
            turn.tokens, turn.tries = reply.tokens, tries
        return Completion(
            reply=reply.text,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            latency_ms=latency_ms,
            cached_tokens=reply.cached_tokens,
            tries=tries,
            waited_ms=1000 * turn.waited_seconds,
            finish_reason=reply.finish_reason,
            mends=reply.mends,
        )

    async def _complete(self, request: CompletionRequest, sending: Sending | None) -> tuple[ChatReply, int]:
        """Send the request in the richest form that is known to work, and in simpler forms if that is refused.

        A simpler form is remembered only after it succeeded, because a request may be refused for other reasons, such
        as its length.

        Returns:
            The reply, and how many requests it took.
        """
        tries = 0
        known = dialect = self._dialect
        # The refusal after which the limit was dropped.
        limit_refusal: Fault | None = None
        ends_at = asyncio.get_running_loop().time() + self.longest_call
        while True:
            most_tokens = dialect.most_output_tokens(request.parameters.get("max_tokens", UNLIMITED_TOKENS))
            # A model may also think without being asked to.
            most_bytes = (most_tokens + dialect.room) * _BYTES_PER_TOKEN + _BYTES_AROUND
            # Some servers stream unless they are told not to.
            body = self.body(request, dialect) | {"stream": False}
            try:
                reply, more = await self.call(
                    "/chat/completions", body, read_reply, most_bytes=most_bytes, ends_at=ends_at, sending=sending
                )
            except NoReply as failure:
                tries += failure.tries
                refusal = failure.fault
                if refusal.is_filtered:
                    # Azure may charge for it. So it is kept like a reply, and never asked again.
                    return ChatReply("", None, None, None, has_thoughts=False, finish_reason=FILTERED), tries
                simpler = dialect.simpler(request, refusal) if refusal.status in _REFUSING_FORM else None
                if simpler is None:
                    raise self._unavailable(failure, tries) from None
                if simpler.limit is None and dialect.limit is not None:
                    limit_refusal = refusal
                dialect = simpler
            else:
                self._remember(known, dialect.after(reply), limit_refusal)
                return reply, tries + more

    def _remember(self, known: Dialect, learnt: Dialect, limit_refusal: Fault | None) -> None:
        """Remember the form that succeeded, for later requests.

        Long prompts leave less room for a reply. So without room for thoughts, or without a limit that the server does
        take, only this request is sent: other replies could be cut off, or be of any length.

        Args:
            known: The form that the request began with.
            learnt: The form that it succeeded with.
            limit_refusal: The refusal after which the request was sent without a limit; None if it was not.
        """
        if limit_refusal is not None and limit_refusal.code != UNSUPPORTED:
            learnt = replace(learnt, limit=known.limit)
        if learnt.has_room is False:
            learnt = replace(learnt, has_room=known.has_room)
        if learnt == known:
            return
        if learnt.limit is None and self._dialect.limit is not None:
            _logger.warning(
                "%s takes neither max_tokens nor %s: its replies may be of any length, and budgets in"
                " dollars reckon with %d tokens for each",
                self.address.base_url,
                LIMIT_WITH_THOUGHTS,
                UNLIMITED_TOKENS,
            )
        self._dialect = self._dialect.merge(known, learnt)

    def _check(self, address: Address) -> None:
        if not address.has_own and not address.has_key:
            raise ConfigurationError(
                "no language model endpoint is set",
                detail="Neither OPENAI_BASE_URL nor OPENAI_API_KEY is set.",
                hint="Set OPENAI_API_KEY for OpenAI, or OPENAI_BASE_URL for another server,"
                " or PGCLARIFY_LLM_PROVIDER=extractive to work without a model.",
            )
        if not self.model:
            raise ConfigurationError(
                "no language model is set",
                detail=f"{address.host} requires the name of a model.",
                hint="Set PGCLARIFY_LLM_MODEL to the name that the endpoint lists under /models.",
            )
        check_name(
            self.model, ConfigurationError, "Rename the model at its endpoint, and set PGCLARIFY_LLM_MODEL to it."
        )

    def _unavailable(self, failure: NoReply, tries: int) -> EndpointUnavailable:
        """Explain why a call got no reply after so many requests, and what to do."""
        fault = failure.fault
        error = self.address.explain(
            failure,
            kind_of(fault),
            endpoint="the endpoint",
            reply="a chat completion",
            model=self.model,
            model_hint="Check PGCLARIFY_LLM_MODEL.",
            refused_hint="The model may not have room for this passage,"
            " or PGCLARIFY_LLM_MODEL may not be a chat model.",
        )
        if self.reasoning_effort is not None and fault.status in _REFUSING_FORM and names(fault, EFFORT):
            # Every request has this parameter, so the run cannot continue.
            return EndpointUnavailable(
                f'the endpoint refused the reasoning effort "{self.reasoning_effort}"',
                detail=error.detail,
                hint="Set PGCLARIFY_LLM_REASONING_EFFORT to one that the model takes, or unset it.",
            )
        error.tries, error.retry_after, error.may_pass = tries, fault.wait, not fault.is_final
        return error


def kind_of(fault: Fault) -> type[EndpointUnavailable]:
    """Tell from a call's fault whether only this request is refused, or the endpoint is unavailable."""
    if fault.problem in (Problem.SILENT, Problem.TOO_LARGE) or fault.status >= 500:
        return EndpointFailed
    return RequestRefused if fault.status in REFUSING else EndpointUnavailable
