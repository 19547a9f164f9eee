"""Cross-encoders behind an endpoint.

Rerankers use `POST /rerank`, in the form of Cohere, Jina, vLLM and llama.cpp, or in that of text-embeddings-inference
(TEI). Models for natural language inference use `POST /predict`, in the form of TEI.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Self, TypeVar, Unpack

from pgclarify import tracing
from pgclarify.config import Provider, Settings
from pgclarify.data.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.data.vocabulary import AT_ENDPOINT
from pgclarify.errors import ConfigurationError, EndpointUnavailable, ModelNotFound
from pgclarify.protocols import Rates, Sending
from pgclarify.providers.client import Address, Client, Limits, limits_of
from pgclarify.providers.endpoint import kind_of
from pgclarify.providers.failures import REFUSING
from pgclarify.providers.faults import NoReply
from pgclarify.providers.reply import RerankReply, read_entailments, read_scores
from pgclarify.providers.reserved_names import check_name
from pgclarify.providers.too_long import says_too_long

_logger = logging.getLogger(__name__)
T = TypeVar("T")

# Statuses that may be due to the form of a request, its length or one of its texts. Some servers answer 500 to a text
# that is too long.
_ABOUT_A_REQUEST: Final = REFUSING | {500}
# A quarter of a text that is too long is not.
_MOST_HALVINGS: Final = 2

# Some servers repeat the texts, and may escape a character as two codes of six bytes.
_BYTES_PER_CHARACTER: Final = 12
_BYTES_PER_TEXT: Final = 4096
_BYTES_AROUND: Final = 64 * 1024


class RerankEndpoint(Client):
    """One endpoint of rerankers. All models and runs of a worker share it.

    It learns by itself which of the two forms the server takes, and how many texts at once.

    Args:
        address: The address without `/rerank`.
        limits: As of `Client`.

    Raises:
        ConfigurationError: If the address is invalid. OpenAI and Azure OpenAI are no default, because they have no
            rerankers.
    """

    def __init__(self, address: Address, **limits: Unpack[Limits]) -> None:
        if not address.has_own or address.is_azure:
            raise ConfigurationError(
                "no rerank endpoint is set",
                detail="Neither PGCLARIFY_RERANK_BASE_URL nor OPENAI_BASE_URL is set in the worker's environment.",
                hint="Set PGCLARIFY_RERANK_BASE_URL to the server's address without /rerank.",
            )
        super().__init__(address, **limits)
        # Whether the server takes the form of TEI; None while that is unknown.
        self._is_tei: bool | None = None
        # Numbers of texts and characters of requests that were refused as too large. Few long texts say nothing about
        # many short ones.
        self._refused: list[tuple[int, int]] = []
        # How often a text was cut.
        self._cuts = 0

    @classmethod
    def from_settings(cls, settings: Settings, rates: Rates | None = None) -> Self:
        """Make the endpoint that the settings describe: that of rerankers, else that of the language model.

        Args:
            settings: The settings of this process.
            rates: Through which workers share its limits; None for no limits.

        Raises:
            ConfigurationError: If they do not describe an endpoint. With the extractive provider, only the rerankers'
                own address counts. So an OPENAI_BASE_URL that is still in the environment gets no passages.
        """
        if settings.llm_provider is Provider.EXTRACTIVE and settings.rerank_base_url is None:
            raise ConfigurationError(
                "no rerank endpoint is set",
                detail="With PGCLARIFY_LLM_PROVIDER=extractive no passages are sent to the language model's address.",
                hint="Set PGCLARIFY_RERANK_BASE_URL to the server's address without /rerank.",
            )
        address = Address.beside_chat(settings, "rerank")
        return cls(address, **limits_of(settings, "rerank", f"{address.base_url} rerank", rates))

    def model(self, name: str) -> RerankModel:
        """Return one of its models. The first call shows whether the model exists.

        Args:
            name: `endpoint:` and the model's name.

        Raises:
            ModelNotFound: If the name is missing, or is reserved for the extractive provider.
        """
        model = name.removeprefix(AT_ENDPOINT).strip()
        if not model:
            raise ModelNotFound(
                "the name of the reranker is missing",
                detail=f"Nothing follows {AT_ENDPOINT}.",
                hint="Use the endpoint's name of the model: endpoint:BAAI/bge-reranker-v2-m3",
            )
        check_name(model, ModelNotFound)
        return RerankModel(self, model)

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        """Make the call of a prompt, as soon as the limit allows. sending notes each request; its errors are passed on.

        Raises:
            RequestRefused: If the endpoint refuses a text, or a quarter of one that is too long.
            EndpointUnavailable: If no scores or labels were received, after all retries.
        """
        contents = [message.content for message in request.messages]
        firsts, texts = contents[::2], contents[1::2]
        async with self.line.turn(request.purpose, len(request.rendered), sending) as turn:
            started = time.perf_counter()
            # One limit for all requests of the call: it must end before its lease in the ledger.
            ends_at = asyncio.get_running_loop().time() + self.timeout * (self.max_retries + 1)
            facts = {"pgclarify.purpose": request.purpose, "pgclarify.texts": len(texts)}
            with tracing.ModelCall("rerank", request.model, self.address.base_url, facts) as call:
                try:
                    if request.purpose == "inference":
                        labels = await self._entails([*zip(firsts, texts, strict=True)], ends_at, sending)
                        said, tokens = json.dumps(labels), None
                    else:
                        reply = await self._score(request.model, firsts[0], texts, ends_at, sending)
                        said, tokens = json.dumps(reply.scores), reply.tokens
                except NoReply as failure:
                    raise self._unavailable(failure, request) from None
                call.note_reply(tokens)
            turn.tokens = tokens
            # A cross-encoder generates no tokens.
            latency_ms = 1000 * (time.perf_counter() - started)
            return Completion(said, tokens, 0, latency_ms, waited_ms=1000 * turn.waited_seconds)

    async def _entails(
        self, pairs: Sequence[tuple[str, str]], ends_at: float, sending: Sending | None
    ) -> Sequence[bool]:
        """Tell which pairs of premise and hypothesis are entailed: entailment is the most likely label."""
        body = {"inputs": [list(pair) for pair in pairs], "truncate": True}
        read = partial(read_entailments, count=len(pairs))
        return await self._post("/predict", body, read, len(pairs), 0, ends_at, sending)

    async def _score(
        self,
        model: str,
        query: str,
        texts: Sequence[str],
        ends_at: float,
        sending: Sending | None,
        halvings: int = 0,
    ) -> RerankReply:
        """Score texts, usually in one request.

        If the server refuses it, each half of the texts is tried. A single text is cut in half, at most twice, if the
        server says that it is too long.
        """
        chars = sum(map(len, texts))
        if any(len(texts) >= count and chars >= size for count, size in self._refused):
            return await self._score_halves(model, query, texts, ends_at, sending)
        try:
            return await self._rerank(model, query, texts, ends_at, sending)
        except NoReply as failure:
            refused = failure
        status = refused.fault.status
        if status not in _ABOUT_A_REQUEST:
            raise refused
        # The score of a part of a text would look like its own.
        if len(texts) == 1 and (halvings == _MOST_HALVINGS or not says_too_long(refused.fault)):
            raise refused
        if len(texts) > 1:
            cuts = self._cuts
            reply = await self._score_halves(model, query, texts, ends_at, sending)
            if status in REFUSING and cuts == self._cuts:
                # The number of texts was the problem, because each text alone was accepted.
                self._refused.append((len(texts), chars))
            return reply
        self._cuts += 1
        _logger.warning("the rerank endpoint finds a text of %d characters too long: trying half of it", chars)
        return await self._score(model, query, [texts[0][: chars // 2]], ends_at, sending, halvings + 1)

    async def _rerank(
        self, model: str, query: str, texts: Sequence[str], ends_at: float, sending: Sending | None
    ) -> RerankReply:
        """Make one request, in the form that the server takes; while that is unknown, in either form."""
        forms: dict[bool, dict[str, Any]] = {
            False: {"model": model, "query": query, "documents": list(texts)},
            True: {"query": query, "texts": list(texts), "truncate": True},
        }
        read, chars = partial(read_scores, count=len(texts)), sum(map(len, texts))
        if self._is_tei is None:
            try:
                reply = await self._post("/rerank", forms[False], read, len(texts), chars, ends_at, sending)
            except NoReply as failure:
                if failure.fault.status not in REFUSING:
                    raise
                try:
                    reply = await self._post("/rerank", forms[True], read, len(texts), chars, ends_at, sending)
                except NoReply as other:
                    # A server that knows this form refuses the other one as malformed, whatever the text.
                    raise (other if says_too_long(other.fault) else failure) from None
                self._is_tei = True
            else:
                self._is_tei = False
            return reply
        return await self._post("/rerank", forms[self._is_tei], read, len(texts), chars, ends_at, sending)

    async def _score_halves(
        self, model: str, query: str, texts: Sequence[str], ends_at: float, sending: Sending | None
    ) -> RerankReply:
        middle = (len(texts) + 1) // 2
        # One after the other, so that the second half costs nothing if the first fails.
        first = await self._score(model, query, texts[:middle], ends_at, sending)
        second = await self._score(model, query, texts[middle:], ends_at, sending)
        tokens = None if first.tokens is None or second.tokens is None else first.tokens + second.tokens
        return RerankReply(first.scores + second.scores, tokens)

    async def _post(
        self,
        path: str,
        body: Mapping[str, Any],
        read: Callable[[bytes], T],
        texts: int,
        chars: int,
        ends_at: float,
        sending: Sending | None,
    ) -> T:
        most_bytes = _BYTES_AROUND + _BYTES_PER_TEXT * texts + _BYTES_PER_CHARACTER * chars
        reply, _ = await self.call(path, body, read, most_bytes=most_bytes, ends_at=ends_at, sending=sending)
        return reply

    def _unavailable(self, failure: NoReply, request: CompletionRequest) -> EndpointUnavailable:
        """Explain why a call got no reply, and what to do."""
        return self.address.explain(
            failure,
            kind_of(failure.fault),
            endpoint="the rerank endpoint",
            reply="for each pair, the most likely label, such as entailment"
            if request.purpose == "inference"
            else "a list of scores, one for each passage",
            model=request.model,
            model_hint="Check its name.",
            refused_hint="The model may not have room for this text, or may be one of another kind.",
        )


class RerankModel:
    """Answers calls of the prompts `reranking` and `inference` with a model behind an endpoint.

    Implements protocols.Completer.

    Args:
        endpoint: All runs of a worker share it; its creator closes it.
        model: The model's name.

    Attributes:
        provider: Always rerank.
        model: As given; prices depend on it.
    """

    provider = "rerank"

    def __init__(self, endpoint: RerankEndpoint, model: str) -> None:
        self._endpoint = endpoint
        self.model = model

    @property
    def turns_free(self) -> int:
        """How many calls could be sent to the endpoint now, less those that wait for their turn."""
        return self._endpoint.turns_free

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Return the call if it is of one of its prompts; None if not, because it cannot answer others."""
        return call if call.purpose in ("reranking", "inference") else None

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Make the request of a call to this model."""
        return CompletionRequest(
            purpose=call.purpose,
            model=self.model,
            parameters={},
            prompt_version=call.version,
            messages=call.messages,
            sample=call.sample,
            document_ids=call.document_ids,
        )

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        """Make the call; see `RerankEndpoint.complete`."""
        return await self._endpoint.complete(request, sending)
