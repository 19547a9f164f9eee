"""What a model is asked, how the reply is read, and how the ledger knows it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final, Generic, TypeVar, cast

from pgclarify.errors import NotAllowed

CALL_LEASE: Final = timedelta(hours=1)
"""How long the lease of a model call lasts in the ledger.

It is longer than a call takes with all its retries. Leases of a dead worker are taken over at once, so this limit is
only for a worker that hangs.
"""

T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat: role is system, user or assistant. Inputs of cross-encoders have roles of their own."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ModelCall(Generic[T_co]):
    """A prompt, rendered for its input, and how to read the reply. It does not name the model that will be asked.

    Attributes:
        purpose: What the reply is for: relaxation, verdict, ...
        version: Version of this prompt; `pgclarify.prompts.versions` has all of them.
        messages: The rendered input.
        schema: JSON schema that the reply must fit.
        read: Reads the reply, or raises InvalidReply.
        max_tokens: Most tokens a reply may take: several times what a good one needs, so that a small model that
            repeats itself is stopped before the call times out.
        reminder: What the second try ends with; None if it only is another sample of the same input.
        temperature: At least 0.
        sample: Which of several replies to the same input, from 0.
        document_ids: The documents whose passages the messages show, each once.
        payload: What the messages are rendered from, for a provider that is no chat model; None where there is none.
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

    def retry(self) -> ModelCall[T_co]:
        """Render the second try, after a reply that could not be read: sample 1, which reminds of the form."""
        if self.reminder is None:
            return replace(self, sample=1)
        *before, last = self.messages
        return replace(
            self, sample=1, messages=(*before, Message(last.role, f"{last.content}\n{self.reminder}")), reminder=None
        )

    def then(self, use: Callable[[T_co], U]) -> ModelCall[U]:
        """Render the same call, whose reply is used further once it is read.

        Args:
            use: Takes what was read; raises InvalidReply if that cannot be used.
        """
        read = self.read
        return cast("ModelCall[U]", replace(cast("ModelCall[Any]", self), read=lambda reply: use(read(reply))))


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One rendered input for one model: what the ledger `completion` is keyed by.

    Attributes:
        purpose: What the reply is for: relaxation, verdict.
        model: Name of the model that is asked.
        parameters: Decoding parameters (temperature, ...); a JSON object.
        prompt_version: Version of the prompt that rendered the messages.
        messages: The rendered input.
        schema: JSON schema that the reply must fit; None for free text.
        sample: 0 for the first reply to this input, 1 for the next, ..., less than 1000.
        payload: What a provider that is no chat model works on (the extractive one); part of the input.
        max_output_tokens: Most tokens that are paid for as output, as far as is known; 0 for a provider that is no chat
            model. No part of the key.
        document_ids: The documents whose passages the input shows, each once: the reply is erased with any of them. No
            part of the key.
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
    _rendered: bytes = field(default=b"", init=False, repr=False, compare=False)

    @property
    def rendered(self) -> bytes:
        """The rendered input, as it is hashed: JSON in UTF-8."""
        if not self._rendered:
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
            # Claims need it three times.
            object.__setattr__(self, "_rendered", rendered.encode("utf-8", "surrogatepass"))
        return self._rendered

    @property
    def input_hash(self) -> bytes:
        """SHA-256 of the rendered input, 32 bytes."""
        return hashlib.sha256(self.rendered).digest()

    @property
    def key(self) -> tuple[str, str, str, str, bytes, int]:
        """What is unique in the ledger: purpose, model, parameters as JSON, prompt version, input hash, sample."""
        parameters = json.dumps(self.parameters, sort_keys=True, separators=(",", ":"))
        return (self.purpose, self.model, parameters, self.prompt_version, self.input_hash, self.sample)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said; latency in milliseconds. Tokens are None where the endpoint did not say how many.

    Attributes:
        cached_tokens: Those of prompt_tokens that the endpoint had read before. It is not read back from the ledger.
        tries: How many requests the call took. It is in no table.
    """

    reply: str
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: float
    cached_tokens: int | None = None
    tries: int = 1


@dataclass(frozen=True, slots=True)
class Claim:
    """Where one request stands in the ledger.

    Attributes:
        completion_id: The row of the ledger; None if there is none, since a budget does not let the call through.
        completion: What the model said, if it was already paid for.
        is_ours: True if this worker holds the lease and has to make the call; with no completion, no refusal and not
            ours, another worker is making it, calls that are being made may leave something of a budget, or somebody
            has locked the budgets.
        refusal: Why a budget does not let the call through, though all that are being made cost nothing; None if none
            forbids it.
        is_taken_over: True if the lease was another's, who may be making the call still and store its reply.
    """

    completion_id: int | None
    completion: Completion | None
    is_ours: bool
    refusal: NotAllowed | None = None
    is_taken_over: bool = False
