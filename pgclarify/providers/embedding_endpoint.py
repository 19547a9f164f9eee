"""An endpoint of embeddings that speaks OpenAI's protocol, `POST /embeddings`: one request, and what comes of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Self

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError, EmbeddingUnavailable
from pgclarify.protocols import EmbeddingTally
from pgclarify.providers.address import REFUSING, Address, Asked
from pgclarify.providers.bounded_client import Call
from pgclarify.providers.embedding_reply import Embeddings, read_embeddings

_logger = logging.getLogger(__name__)

# Statuses that may be about one of the texts. Some servers answer 500 to one that is too long.
_ABOUT_A_REQUEST: Final = REFUSING | {500}

# Longer vectors than those of any model, for a server whose vectors have not been seen yet.
_LONGEST_VECTOR: Final = 65536
# A number in JSON has up to 25 characters and a comma; in base64 it takes less.
_BYTES_PER_NUMBER: Final = 32
_BYTES_AROUND: Final = 64 * 1024


class EmbeddingEndpoint:
    """One OpenAI-compatible endpoint of embeddings, shared by all models and runs of a worker.

    Args:
        address: Where it is.
        query_prefix: What its models want before a question.
        passage_prefix: What they want before a passage.
        concurrency: Most requests in flight at once.
        timeout: Seconds that all tries of a request may take. The indexing of other corpora waits as long.
        max_retries: Further tries after a lost connection, a time-out, an answer that cannot be read, 408, 409, 429 or
            5xx. Retry-After is obeyed up to a minute.
        tally: Where what was embedded is added up; None for nowhere.

    Attributes:
        limit: Held by each request.
        tally: As given.
        query_prefix: As given.
        passage_prefix: As given.

    Raises:
        ConfigurationError: If the address is none.
    """

    def __init__(
        self,
        address: Address,
        *,
        query_prefix: str = "",
        passage_prefix: str = "",
        concurrency: int = 16,
        timeout: float = 60.0,
        max_retries: int = 3,
        tally: EmbeddingTally | None = None,
    ) -> None:
        if not address.has_own and not address.has_key:
            raise ConfigurationError(
                "no embedding endpoint is set",
                detail="None of PGCLARIFY_EMBEDDING_BASE_URL, PGCLARIFY_EMBEDDING_API_KEY, OPENAI_BASE_URL and"
                " OPENAI_API_KEY is set where the worker runs.",
                hint="Set PGCLARIFY_EMBEDDING_BASE_URL for a server of your own, or OPENAI_API_KEY for OpenAI.",
            )
        address.check()
        self.query_prefix = query_prefix
        self.passage_prefix = passage_prefix
        self._address = address
        self.limit = asyncio.Semaphore(concurrency)
        self.tally = EmbeddingTally() if tally is None else tally
        self._timeout = timeout
        self._client = address.client(silence=timeout, connections=concurrency, max_retries=max_retries)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        timeout: float | None = None,
        max_retries: int = 3,
        tally: EmbeddingTally | None = None,
    ) -> Self:
        """Make the endpoint that the settings describe: that of embeddings, or else that of the language model.

        The language model's key is sent to the language model's address only.

        Args:
            settings: Of this process.
            timeout: As of the class; None for that of the settings.
            max_retries: As of the class.
            tally: As of the class.

        Raises:
            ConfigurationError: If they do not make an endpoint.
        """
        address = Address.beside_chat(
            settings,
            "PGCLARIFY_EMBEDDING",
            settings.embedding_base_url,
            settings.embedding_api_key,
            settings.embedding_api_key_file,
        )
        return cls(
            address,
            query_prefix=settings.embedding_query_prefix,
            passage_prefix=settings.embedding_passage_prefix,
            concurrency=settings.llm_concurrency,
            timeout=settings.llm_timeout if timeout is None else timeout,
            max_retries=max_retries,
            tally=tally,
        )

    @property
    def base_url(self) -> str:
        """Its address."""
        return self._address.base_url

    async def ask(self, request: dict[str, Any], texts: Sequence[str], dimensions: int = _LONGEST_VECTOR) -> Embeddings:
        """Make one request. The caller holds the limit.

        Args:
            request: Its body without the texts.
            texts: At least one.
            dimensions: The most that a vector may have.

        Raises:
            EmbeddingUnavailable: If no embeddings came back, after all retries; RequestFailed if the endpoint answers.
        """
        most_bytes = len(texts) * dimensions * _BYTES_PER_NUMBER + _BYTES_AROUND
        ends_at = asyncio.get_running_loop().time() + self._timeout
        call = Call(partial(read_embeddings, count=len(texts)), most_bytes, ends_at)
        await self._client.post("/embeddings", {**request, "input": list(texts)}, call)
        if call.reply is not None:
            return call.reply
        asked = Asked(
            endpoint="the embedding endpoint",
            reply="a list of embeddings, one for each text",
            model=request["model"],
            model_hint="Check the name of the model that the corpus has.",
            refused_hint="The model may not have room for this text, or may not be an embedding model.",
            timeout=self._timeout,
            longest_call=self._timeout,
        )
        if len(texts) > 1 and call.fault is not None and call.fault.said:
            # The server may repeat a text, and the error reaches callers that sent another one.
            said = self._address.scrubbed(call.fault.said)
            _logger.warning("the embedding endpoint says of a request of %d texts: %s", len(texts), said)
            call.fault = replace(call.fault, said="")
        why = self._address.explain(call, asked)
        status = 0 if call.fault is None else call.fault.status
        kind = RequestFailed if status in _ABOUT_A_REQUEST else EmbeddingUnavailable
        raise kind(why.message, detail=why.detail, hint=why.hint)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


class RequestFailed(EmbeddingUnavailable):
    """The endpoint answered, and refused or failed. That may be for one of the texts, or for any."""
