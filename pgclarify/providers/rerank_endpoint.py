"""Cross-encoders behind an endpoint.

Rerankers use `POST /rerank`, in the form of Cohere, Jina, vLLM and llama.cpp, or in that of text-embeddings-inference
(TEI). Models for natural language inference use `POST /predict`, in the form of TEI.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Self, TypeVar

from pgclarify.config import Provider, Settings
from pgclarify.errors import ConfigurationError, EndpointUnavailable, ModelNotFound
from pgclarify.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.protocols import Begin
from pgclarify.providers.address import REFUSING, Address, Asked
from pgclarify.providers.bounded_client import Call
from pgclarify.providers.call_line import CallLine
from pgclarify.providers.endpoint import MAX_RETRIES, kind_of
from pgclarify.providers.rerank_reply import RerankReply, read_entailments, read_scores
from pgclarify.providers.reserved_names import is_reserved
from pgclarify.vocabulary import AT_ENDPOINT

_logger = logging.getLogger(__name__)
T = TypeVar("T")

# Statuses that may be due to the form of a request, its length or one of its texts. Some servers answer 500 to a text
# that is too long.
_ABOUT_A_REQUEST: Final = REFUSING | {500}
# A text that is refused alone is usually too long. A quarter of it is not.
_MOST_HALVINGS: Final = 2
# A text to score once, which shows the form and that the endpoint answers.
_PROBE: Final = "probe"

# Some servers repeat the texts, and may escape a character as two codes of six bytes.
_BYTES_PER_CHARACTER: Final = 12
_BYTES_PER_SCORE: Final = 256
_BYTES_PER_PAIR: Final = 4096
_BYTES_AROUND: Final = 64 * 1024


class RerankEndpoint:
    """One endpoint of rerankers. All models and runs of a worker share it.

    It learns by itself which of the two forms the server takes, and how many texts at once.

    Args:
        address: The address without `/rerank`.
        concurrency: Most calls in flight at once. Others wait for their turn; CallLine says which call goes first.
        timeout: Most seconds of silence within one try of a request.
        max_retries: Further tries of a request after a lost connection, a timeout, an unreadable answer, 408, 409, 429
            or 5xx. Retry-After is obeyed up to a minute.

    Raises:
        ConfigurationError: If the address is invalid. OpenAI's address is not a default, because OpenAI has no
            rerankers.
    """

    def __init__(
        self, address: Address, *, concurrency: int = 16, timeout: float = 60.0, max_retries: int = MAX_RETRIES
    ) -> None:
        if not address.has_own:
            raise ConfigurationError(
                "no rerank endpoint is set",
                detail="Neither PGCLARIFY_RERANK_BASE_URL nor OPENAI_BASE_URL is set in the worker's environment.",
                hint="Set PGCLARIFY_RERANK_BASE_URL to the server's address without /rerank.",
            )
        address.check()
        self._address = address
        self._line = CallLine(concurrency)
        self._timeout = timeout
        self._longest_call = timeout * (max_retries + 1)
        self._client = address.client(silence=timeout, connections=concurrency, max_retries=max_retries)
        self._is_tei = False
        # Numbers of texts and characters of requests that were refused as too large. No pair is at least as large as
        # another one in both numbers.
        self._refused: list[tuple[int, int]] = []
        self._cuts = 0

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Make the endpoint that the settings describe: that of rerankers, else that of the language model.

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
        address = Address.beside_chat(
            settings,
            "PGCLARIFY_RERANK",
            settings.rerank_base_url,
            settings.rerank_api_key,
            settings.rerank_api_key_file,
        )
        return cls(address, concurrency=settings.llm_concurrency, timeout=settings.llm_timeout)

    @property
    def address(self) -> Address:
        """Return its address."""
        return self._address

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
        if is_reserved(model):
            raise ModelNotFound(
                f"a model behind an endpoint must not have the name {model}",
                detail="This name is reserved for the extractive provider, which costs nothing.",
                hint="Rename the model at its endpoint.",
            )
        return RerankModel(self, model)

    async def rerank(
        self, model: str, query: str, texts: Sequence[str], begin: Begin | None = None
    ) -> tuple[RerankReply, float]:
        """Score texts, as soon as the limit allows, unless begin raises.

        Usually this is one request. If the server refuses it but answers another one, the texts are split in halves. A
        single text that is refused is cut in half, at most twice. A refused size is remembered.

        Args:
            model: The model's name.
            query: The question.
            texts: At least one.
            begin: Called before the first request.

        Returns:
            The scores, and how many seconds they took.

        Raises:
            RequestRefused: If the endpoint refuses a quarter of a text, too.
            EndpointUnavailable: If no scores were received, after all retries.
        """
        async with self._line.turn("reranking"):
            if begin is not None:
                await begin()
            started = time.perf_counter()
            # One limit for all requests of the call: it must end before its lease in the ledger.
            reply = await self._score(model, query, texts, self._ends_at())
            return reply, time.perf_counter() - started

    async def entails(
        self, model: str, pairs: Sequence[tuple[str, str]], begin: Begin | None = None
    ) -> tuple[Sequence[bool], float]:
        """Tell which pairs are entailed, in one request, as soon as the limit allows, unless begin raises.

        Args:
            model: The model's name, for errors: TEI serves one model.
            pairs: Premise and hypothesis; at least one pair, and no more than the server takes at once.
            begin: Called before the request.

        Returns:
            For each pair, whether entailment is the most likely label; and how many seconds it took.

        Raises:
            EndpointUnavailable: If no labels were received, after all retries, or the model has no such label.
        """
        async with self._line.turn("inference"):
            if begin is not None:
                await begin()
            started = time.perf_counter()
            most_bytes = _BYTES_AROUND + _BYTES_PER_PAIR * len(pairs)
            call = Call(partial(read_entailments, count=len(pairs)), most_bytes, self._ends_at())
            body = {"inputs": [list(pair) for pair in pairs], "truncate": True}
            await self._client.post("/predict", body, call)
            if call.reply is None:
                raise self._unavailable(call, model, "for each pair, the most likely label, such as entailment")
            return call.reply, time.perf_counter() - started

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _ends_at(self) -> float:
        return asyncio.get_running_loop().time() + self._longest_call

    async def _score(
        self,
        model: str,
        query: str,
        texts: Sequence[str],
        ends_at: float,
        halvings: int = 0,
        *,
        may_switch: bool = True,
    ) -> RerankReply:
        if self._is_too_much(texts):
            return await self._score_halves(model, query, texts, ends_at)
        is_tei = self._is_tei
        call = await self._post(model, query, texts, ends_at, is_tei=is_tei)
        if call.reply is not None:
            return call.reply
        status = 0 if call.fault is None else call.fault.status
        probed = await self._probe(model, ends_at) if status in _ABOUT_A_REQUEST else None
        if probed is None:
            raise self._unavailable(call, model)
        if is_tei != self._is_tei and may_switch:
            # Only once, because a server that changes the form it takes would be asked without end.
            reply = await self._score(model, query, texts, ends_at, halvings, may_switch=False)
        elif len(texts) > 1:
            cuts = self._cuts
            reply = await self._score_halves(model, query, texts, ends_at)
            if status in REFUSING and cuts == self._cuts:
                # The number of texts was the problem, because each text alone was accepted.
                self._remember_refused(texts)
        elif halvings == _MOST_HALVINGS:
            raise self._unavailable(call, model)
        else:
            self._cuts += 1
            chars = len(texts[0])
            _logger.warning("the rerank endpoint refused a text of %d characters: trying half of it", chars)
            reply = await self._score(model, query, [texts[0][: chars // 2]], ends_at, halvings + 1)
        return RerankReply(reply.scores, _sum(reply.tokens, probed.tokens))

    async def _score_halves(self, model: str, query: str, texts: Sequence[str], ends_at: float) -> RerankReply:
        middle = (len(texts) + 1) // 2
        # One after the other, so that the second half costs nothing if the first fails.
        first = await self._score(model, query, texts[:middle], ends_at)
        second = await self._score(model, query, texts[middle:], ends_at)
        return RerankReply(first.scores + second.scores, _sum(first.tokens, second.tokens))

    def _is_too_much(self, texts: Sequence[str]) -> bool:
        """Tell whether a request that was not larger, in texts and in characters, was refused."""
        chars = sum(map(len, texts))
        return any(len(texts) >= count and chars >= size for count, size in self._refused)

    def _remember_refused(self, texts: Sequence[str]) -> None:
        """Remember a request that was too large, by both numbers: few long texts say nothing about many short ones."""
        if not self._is_too_much(texts):
            most, chars = len(texts), sum(map(len, texts))
            self._refused = [(count, size) for count, size in self._refused if count < most or size < chars]
            self._refused.append((most, chars))

    async def _probe(self, model: str, ends_at: float) -> RerankReply | None:
        """Score a short text in either form, and remember the form that works; None if neither does."""
        for is_tei in (self._is_tei, not self._is_tei):
            call = await self._post(model, _PROBE, [_PROBE], ends_at, is_tei=is_tei)
            if call.reply is not None:
                self._is_tei = is_tei
                return call.reply
        return None

    async def _post(
        self, model: str, query: str, texts: Sequence[str], ends_at: float, *, is_tei: bool
    ) -> Call[RerankReply]:
        """Make one request, in the form of text-embeddings-inference or in that of the other servers."""
        body: dict[str, Any] = (
            {"query": query, "texts": list(texts), "truncate": True}
            if is_tei
            else {"model": model, "query": query, "documents": list(texts)}
        )
        most_bytes = _BYTES_AROUND + sum(_BYTES_PER_SCORE + _BYTES_PER_CHARACTER * len(text) for text in texts)
        call = Call(partial(read_scores, count=len(texts)), most_bytes, ends_at)
        await self._client.post("/rerank", body, call)
        return call

    def _unavailable(
        self, call: Call[Any], model: str, reply: str = "a list of scores, one for each passage"
    ) -> EndpointUnavailable:
        """Explain why a request got no reply, and what to do."""
        asked = Asked(
            endpoint="the rerank endpoint",
            reply=reply,
            model=model,
            model_hint="Check its name.",
            refused_hint="The model may not have room for this text, or may be one of another kind.",
            timeout=self._timeout,
            longest_call=self._longest_call,
        )
        why = self._address.explain(call, asked)
        return kind_of(call.fault)(why.message, detail=why.detail, hint=why.hint)


def _sum(tokens: int | None, more: int | None) -> int | None:
    """Add up tokens; None if a number is unknown."""
    return None if tokens is None or more is None else tokens + more


class RerankModel:
    """Answers calls of the prompts `reranking` and `inference` with a model behind an endpoint.

    Implements protocols.Completer.

    Args:
        endpoint: All runs of a worker share it; its creator closes it.
        model: The model's name.
    """

    def __init__(self, endpoint: RerankEndpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model

    @property
    def provider(self) -> str:
        """Always rerank."""
        return "rerank"

    @property
    def model(self) -> str:
        """The model's name at the endpoint; prices depend on it."""
        return self._model

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Return the call if it is of one of its prompts; None if not, because it cannot answer others."""
        return call if call.purpose in ("reranking", "inference") else None

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Make the request of a call to this model."""
        return CompletionRequest(
            purpose=call.purpose,
            model=self._model,
            parameters={},
            prompt_version=call.version,
            messages=call.messages,
            sample=call.sample,
            document_ids=call.document_ids,
        )

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Make the call, as soon as the endpoint's limit allows.

        Raises:
            EndpointUnavailable: If no scores were received, after all retries.
        """
        contents = [message.content for message in request.messages]
        premises, texts = contents[::2], contents[1::2]
        if request.purpose == "inference":
            pairs = [*zip(premises, texts, strict=True)]
            verdicts, seconds = await self._endpoint.entails(self._model, pairs, begin)
            return Completion(json.dumps(verdicts), None, 0, 1000 * seconds)
        reply, seconds = await self._endpoint.rerank(self._model, premises[0], texts, begin)
        # A reranker generates no tokens.
        return Completion(json.dumps(reply.scores), reply.tokens, 0, 1000 * seconds)
