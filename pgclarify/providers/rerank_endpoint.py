"""Cross-encoders behind an endpoint.

Rerankers, `POST /rerank`: as Cohere, Jina, vLLM and llama.cpp have it, or as text-embeddings-inference (TEI) does.
Models for natural language inference, `POST /predict`, as TEI has it.
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
from pgclarify.providers.endpoint import MAX_RETRIES, kind_of
from pgclarify.providers.rerank_reply import RerankReply, read_entailments, read_scores
from pgclarify.providers.reserved_names import is_reserved
from pgclarify.vocabulary import AT_ENDPOINT

_logger = logging.getLogger(__name__)
T = TypeVar("T")

# Statuses that may be about the form of a request, its length or one of its texts. Some servers answer 500 to a text
# that is too long.
_ABOUT_A_REQUEST: Final = REFUSING | {500}
# A text that is refused alone is too long, as a rule: then a quarter of it is not.
_MOST_HALVINGS: Final = 2
# What tells the form, and that an endpoint answers.
_PROBE: Final = "probe"

# Some servers repeat the texts, of which a character may be escaped as two codes of six bytes.
_BYTES_PER_CHARACTER: Final = 12
_BYTES_PER_SCORE: Final = 256
_BYTES_PER_PAIR: Final = 4096
_BYTES_AROUND: Final = 64 * 1024


class RerankEndpoint:
    """One endpoint of rerankers, shared by all models and runs of a worker.

    It finds out by itself which of the two forms of a request the server takes, and how many texts at once.

    Args:
        address: Where it is: what stands before `/rerank`.
        concurrency: Most calls in flight at once.
        timeout: Seconds that the server may be silent within one try of a request.
        max_retries: Further tries of a request after a lost connection, a time-out, an answer that cannot be read, 408,
            409, 429 or 5xx. Retry-After is obeyed up to a minute.

    Raises:
        ConfigurationError: If the address is none. OpenAI's own is no default, since OpenAI has no rerankers.
    """

    def __init__(
        self, address: Address, *, concurrency: int = 16, timeout: float = 60.0, max_retries: int = MAX_RETRIES
    ) -> None:
        if not address.has_own:
            raise ConfigurationError(
                "no rerank endpoint is set",
                detail="Neither PGCLARIFY_RERANK_BASE_URL nor OPENAI_BASE_URL is set where the worker runs.",
                hint="Set PGCLARIFY_RERANK_BASE_URL to what stands before /rerank in the server's address.",
            )
        address.check()
        self._address = address
        self._limit = asyncio.Semaphore(concurrency)
        self._timeout = timeout
        self._longest_request = timeout * (max_retries + 1)
        self._client = address.client(silence=timeout, connections=concurrency, max_retries=max_retries)
        self._is_tei = False
        # Texts and characters of the smallest requests that were refused for having too many. None of these pairs is as
        # large as another in both.
        self._refused: list[tuple[int, int]] = []
        self._cuts = 0

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Make the endpoint that the settings describe: that of rerankers, or else that of the language model.

        Raises:
            ConfigurationError: If they do not make an endpoint. Without a language model, only the address of rerankers
                makes one: an OPENAI_BASE_URL that is left in the environment gets no passages.
        """
        if settings.llm_provider is Provider.EXTRACTIVE and settings.rerank_base_url is None:
            raise ConfigurationError(
                "no rerank endpoint is set",
                detail="With PGCLARIFY_LLM_PROVIDER=extractive no passage is sent to the address of a language model.",
                hint="Set PGCLARIFY_RERANK_BASE_URL to what stands before /rerank in the server's address.",
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
        """Where it is."""
        return self._address

    def model(self, name: str) -> RerankModel:
        """Give one of its models. Whether there is such a model is known once it is asked.

        Args:
            name: `endpoint:` and its name there.

        Raises:
            ModelNotFound: If that is no name, or one of the extractive provider.
        """
        model = name.removeprefix(AT_ENDPOINT).strip()
        if not model:
            raise ModelNotFound(
                "no model of the rerank endpoint is named",
                detail=f"Nothing comes after {AT_ENDPOINT} in its name.",
                hint="Name one as the endpoint does: endpoint:BAAI/bge-reranker-v2-m3",
            )
        if is_reserved(model):
            raise ModelNotFound(
                f"no model behind an endpoint may be called {model}",
                detail="This name belongs to the extractive provider, which costs nothing.",
                hint="Give the model another name at its endpoint.",
            )
        return RerankModel(self, model)

    async def rerank(
        self, model: str, query: str, texts: Sequence[str], begin: Begin | None = None
    ) -> tuple[RerankReply, float]:
        """Score texts, as soon as the limit allows and unless begin raises.

        It is one request, unless the server refuses that one and answers another: then halves of the texts follow, and
        of a text that is refused alone a half, and a half of that. A size that the server refused is remembered.

        Args:
            model: Its name there.
            query: The question.
            texts: At least one.
            begin: Called before the first request is made.

        Returns:
            The scores, and how many seconds they took.

        Raises:
            RequestRefused: If the endpoint refuses a text, also a quarter of it.
            EndpointUnavailable: If no scores came back, after all retries.
        """
        async with self._limit:
            if begin is not None:
                await begin()
            started = time.perf_counter()
            reply = await self._score(model, query, texts)
            return reply, time.perf_counter() - started

    async def entails(
        self, model: str, pairs: Sequence[tuple[str, str]], begin: Begin | None = None
    ) -> tuple[Sequence[bool], float]:
        """Tell which pairs are entailed, in one request, as soon as the limit allows and unless begin raises.

        Args:
            model: Its name there, for errors: TEI serves one model.
            pairs: Premise and hypothesis; at least one pair, and no more than the server takes at once.
            begin: Called before the request is made.

        Returns:
            For each pair, whether entailment is the likeliest of the model's labels; and how many seconds it took.

        Raises:
            EndpointUnavailable: If none came back, after all retries, or the model has no such label.
        """
        async with self._limit:
            if begin is not None:
                await begin()
            started = time.perf_counter()
            most_bytes = _BYTES_AROUND + _BYTES_PER_PAIR * len(pairs)
            ends_at = asyncio.get_running_loop().time() + self._longest_request
            call = Call(partial(read_entailments, count=len(pairs)), most_bytes, ends_at)
            body = {"inputs": [list(pair) for pair in pairs], "truncate": True}
            await self._client.post("/predict", body, call)
            if call.reply is None:
                raise self._unavailable(call, model, "the likeliest of the labels, entailment or another, of each pair")
            return call.reply, time.perf_counter() - started

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _score(
        self, model: str, query: str, texts: Sequence[str], halvings: int = 0, *, may_switch: bool = True
    ) -> RerankReply:
        if self._is_too_much(texts):
            return await self._score_halves(model, query, texts)
        is_tei = self._is_tei
        call = await self._post(model, query, texts, is_tei=is_tei)
        if call.reply is not None:
            return call.reply
        status = 0 if call.fault is None else call.fault.status
        probed = await self._probe(model) if status in _ABOUT_A_REQUEST else None
        if probed is None:
            raise self._unavailable(call, model)
        if is_tei != self._is_tei and may_switch:
            # Once: a server that takes now this form and now that one must not be asked for ever.
            reply = await self._score(model, query, texts, halvings, may_switch=False)
        elif len(texts) > 1:
            cuts = self._cuts
            reply = await self._score_halves(model, query, texts)
            if status in REFUSING and cuts == self._cuts:
                # There were too many of them, since each was taken as it is.
                self._remember_refused(texts)
        elif halvings == _MOST_HALVINGS:
            raise self._unavailable(call, model)
        else:
            self._cuts += 1
            chars = len(texts[0])
            _logger.warning("the rerank endpoint refused a text of %d characters: it is cut in half", chars)
            reply = await self._score(model, query, [texts[0][: chars // 2]], halvings + 1)
        return RerankReply(reply.scores, _sum(reply.tokens, probed.tokens))

    async def _score_halves(self, model: str, query: str, texts: Sequence[str]) -> RerankReply:
        middle = (len(texts) + 1) // 2
        # One after the other: where the first one fails, nothing is paid for the second.
        first = await self._score(model, query, texts[:middle])
        second = await self._score(model, query, texts[middle:])
        return RerankReply(first.scores + second.scores, _sum(first.tokens, second.tokens))

    def _is_too_much(self, texts: Sequence[str]) -> bool:
        """Tell whether a request with no more texts and no more characters was refused."""
        chars = sum(map(len, texts))
        return any(len(texts) >= count and chars >= size for count, size in self._refused)

    def _remember_refused(self, texts: Sequence[str]) -> None:
        """Remember that a request was too large, by both: few long texts say nothing about many short ones."""
        if not self._is_too_much(texts):
            most, chars = len(texts), sum(map(len, texts))
            self._refused = [(count, size) for count, size in self._refused if count < most or size < chars]
            self._refused.append((most, chars))

    async def _probe(self, model: str) -> RerankReply | None:
        """Have the endpoint score another text, in either form, and remember in which; None if it does not."""
        for is_tei in (self._is_tei, not self._is_tei):
            call = await self._post(model, _PROBE, [_PROBE], is_tei=is_tei)
            if call.reply is not None:
                self._is_tei = is_tei
                return call.reply
        return None

    async def _post(self, model: str, query: str, texts: Sequence[str], *, is_tei: bool) -> Call[RerankReply]:
        """Make one request, in the form of text-embeddings-inference or in that of all others."""
        body: dict[str, Any] = (
            {"query": query, "texts": list(texts), "truncate": True}
            if is_tei
            else {"model": model, "query": query, "documents": list(texts)}
        )
        most_bytes = _BYTES_AROUND + sum(_BYTES_PER_SCORE + _BYTES_PER_CHARACTER * len(text) for text in texts)
        ends_at = asyncio.get_running_loop().time() + self._longest_request
        call = Call(partial(read_scores, count=len(texts)), most_bytes, ends_at)
        await self._client.post("/rerank", body, call)
        return call

    def _unavailable(
        self, call: Call[Any], model: str, reply: str = "a list of scores, one for each passage"
    ) -> EndpointUnavailable:
        """Say why a request brought no reply, and what to do about it."""
        asked = Asked(
            endpoint="the rerank endpoint",
            reply=reply,
            model=model,
            model_hint="Check its name.",
            refused_hint="The model may not have room for this text, or may be one of another kind.",
            timeout=self._timeout,
            longest_call=self._longest_request,
        )
        why = self._address.explain(call, asked)
        return kind_of(call.fault)(why.message, detail=why.detail, hint=why.hint)


def _sum(tokens: int | None, more: int | None) -> int | None:
    """Add up tokens; None if some are not known."""
    return None if tokens is None or more is None else tokens + more


class RerankModel:
    """Answers calls of the prompts `reranking` and `inference` with a model behind an endpoint.

    Implements protocols.Completer.

    Args:
        endpoint: Shared by all runs of a worker; whoever made it closes it.
        model: The model's name there.
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
        """The model's name there, which prices go by."""
        return self._model

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Give the call if it is of one of its prompts, and None if not: it can answer no other."""
        return call if call.purpose in ("reranking", "inference") else None

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Address a call to this model."""
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
            EndpointUnavailable: If no scores came back, after all retries.
        """
        contents = [message.content for message in request.messages]
        premises, texts = contents[::2], contents[1::2]
        if request.purpose == "inference":
            pairs = [*zip(premises, texts, strict=True)]
            verdicts, seconds = await self._endpoint.entails(self._model, pairs, begin)
            return Completion(json.dumps(verdicts), None, 0, 1000 * seconds)
        reply, seconds = await self._endpoint.rerank(self._model, premises[0], texts, begin)
        # A reranker writes no tokens.
        return Completion(json.dumps(reply.scores), reply.tokens, 0, 1000 * seconds)
