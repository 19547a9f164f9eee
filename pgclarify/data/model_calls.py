"""Calls of models: their inputs, how to read the reply, and their keys in the ledger."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

from pgclarify.errors import NotAllowed

CALL_LEASE: Final = timedelta(hours=1)
"""How long the lease of a model call lasts in the ledger.

It is longer than a call of a language model takes with all its retries, because PGCLARIFY_LLM_TIMEOUT has an upper
limit. Leases of a dead worker are taken over at once, so this limit is only for a worker that hangs.
"""

# A reply that was cut off is asked for once more with so many times the tokens.
_MORE: Final = 4

CUT: Final = "length"
"""The finish_reason of a reply that was cut off at its limit of tokens."""

FILTERED: Final = "content_filter"
"""The finish_reason of a reply that a filter of the endpoint removed, and the code of a request that it refused."""

T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")

CompletionKey: TypeAlias = tuple[str, str, str, str, bytes, int]
"""Identifies a request in the ledger: purpose, model, parameters as JSON, prompt version, input hash, sample."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat. role is system, user or assistant; inputs of cross-encoders have other roles."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ModelCall(Generic[T_co]):
    """A prompt rendered for its input, and the function that reads the reply. It does not name the model.

    Attributes:
        purpose: The purpose of the reply: relaxation, verdict, ...
        version: Version of this prompt; `pgclarify.prompts.versions` has all of them.
        messages: The rendered input.
        schema: JSON schema that the reply must fit.
        read: Reads the reply, or raises InvalidReply.
        max_tokens: Most tokens of a reply: several times the length of a good reply, so that a small model that repeats
            itself is stopped before the call times out.
        reminder: Text at the end of the second try; None if the second try is only another sample of the same input.
        temperature: At least 0.
        sample: Number of the reply among several to the same input, from 0.
        document_ids: The documents whose passages the messages show, each once.
        payload: The source of the messages, for a provider that is no chat model; None if there is none.
    """

    purpose: str
    version: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    read: Callable[[Completion], T_co]
    max_tokens: int
    reminder: str | None = None
    temperature: float = 0
    sample: int = 0
    document_ids: tuple[str, ...] = ()
    payload: Mapping[str, Any] | None = None

    def with_more_tokens(self) -> ModelCall[T_co]:
        """Return the same call with room for a longer reply."""
        return replace(self, max_tokens=_MORE * self.max_tokens)

    def retry(self) -> ModelCall[T_co]:
        """Render the next try after an unreadable reply: the next sample, with a reminder of the form."""
        if self.reminder is None:
            return replace(self, sample=self.sample + 1)
        *before, last = self.messages
        return replace(
            self, sample=1, messages=(*before, Message(last.role, f"{last.content}\n{self.reminder}")), reminder=None
        )

    def then(self, use: Callable[[T_co], U]) -> ModelCall[U]:
        """Return the same call with another step after its reply is read.

        Args:
            use: Converts the result of `read`; raises InvalidReply if the result cannot be used.
        """
        read = self.read
        return cast("ModelCall[U]", replace(cast("ModelCall[Any]", self), read=lambda reply: use(read(reply))))


@dataclass(frozen=True)
class CompletionRequest:
    """One rendered input for one model: the key of the ledger `completion`.

    Attributes:
        purpose: The purpose of the reply: relaxation, verdict.
        model: Name of the model.
        parameters: Decoding parameters (temperature, ...); a JSON object.
        prompt_version: Version of the prompt that rendered the messages.
        messages: The rendered input.
        schema: JSON schema that the reply must fit; None for free text.
        sample: 0 for the first reply to this input, 1 for the next, ..., less than 1000.
        payload: The input of a provider that is no chat model (the extractive one); part of the input.
        max_output_tokens: Most output tokens that may be paid for, if known; 0 for a provider that is no chat model.
            Not part of the key.
        document_ids: The documents whose passages the input shows, each once. The reply is erased together with any of
            them. Not part of the key.
    """

    purpose: str
    model: str
    parameters: Mapping[str, Any]
    prompt_version: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    sample: int = 0
    payload: Mapping[str, Any] | None = None
    max_output_tokens: int = 0
    document_ids: tuple[str, ...] = ()

    @cached_property
    def rendered(self) -> bytes:
        """Return the rendered input in the form that is hashed: JSON in UTF-8."""
        rendered = json.dumps(
            {
                "messages": [[message.role, message.content] for message in self.messages],
                "schema": self.schema,
                "payload": self.payload,
            },
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
        )
        return rendered.encode("utf-8", "surrogatepass")

    @property
    def input_hash(self) -> bytes:
        """Return the SHA-256 of the rendered input, 32 bytes."""
        return hashlib.sha256(self.rendered).digest()

    @cached_property
    def key(self) -> CompletionKey:
        """Return the unique ledger key."""
        parameters = json.dumps(self.parameters, sort_keys=True, separators=(",", ":"))
        return (self.purpose, self.model, parameters, self.prompt_version, self.input_hash, self.sample)


@dataclass(frozen=True, slots=True)
class Completion:
    """The reply of a model; latency in milliseconds. Tokens are None if the endpoint did not count them.

    Attributes:
        cached_tokens: The part of prompt_tokens that the endpoint had cached. It is not read back from the ledger.
        tries: Number of requests of the call. It is in no table.
        waited_ms: How long the endpoint's requests and tokens a minute made the call wait, before latency_ms began.
        finish_reason: Why the model stopped, as the endpoint says: stop, length, content_filter, ...; None if it does
            not say.
        mends: The kinds of mends that gave the reply its form, as `lenient_json` names them. The ledger has the reply
            without those that `lenient_json` makes.
    """

    reply: str
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: float
    cached_tokens: int | None = None
    tries: int = 1
    waited_ms: float = 0.0
    finish_reason: str | None = None
    mends: tuple[str, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Tell whether the reply was cut off at its limit of tokens."""
        return self.finish_reason == CUT

    @property
    def is_filtered(self) -> bool:
        """Tell whether a filter of the endpoint removed the reply, or a part of it, or refused the request."""
        return self.finish_reason == FILTERED


@dataclass(frozen=True, slots=True)
class Claim:
    """The state of one request in the ledger.

    Attributes:
        completion_id: The row of the ledger; None if there is none, because a budget does not allow the call.
        completion: The reply, if it was already paid for.
        is_ours: True if this worker has the lease and must make the call. If it is False, without completion and
            refusal, the request is pending: another worker is making the call, current calls may use less of a budget
            than reserved, or another session has locked the budgets.
        refusal: Why a budget does not allow the call, even if all current calls cost nothing; None if no budget forbids
            it.
        is_sent: True if the call is noted as sent already, because there was a free turn for it.
        is_own: True if this run has paid for the completion before this attempt, for example in a batch.
    """

    completion_id: int | None
    completion: Completion | None
    is_ours: bool
    refusal: NotAllowed | None = None
    is_sent: bool = False
    is_own: bool = False
