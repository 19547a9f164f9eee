"""An OpenAI-compatible endpoint of embeddings, `POST /embeddings`: one request and its result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Self, Unpack

from pgclarify import tracing
from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError, EmbeddingUnavailable
from pgclarify.protocols import EmbeddingTally, Rates
from pgclarify.providers.client import Address, Client, Limits, limits_of
from pgclarify.providers.failures import REFUSING
from pgclarify.providers.faults import Fault, NoReply, Problem
from pgclarify.providers.reply import Embeddings, read_embeddings
from pgclarify.providers.too_long import says_too_long

_logger = logging.getLogger(__name__)

# Statuses for a parameter that a server does not know. Some servers answer 500 to it.
_ABOUT_THE_FORM: Final = REFUSING | {500}
# Statuses that do not depend on the texts: wrong key, unknown model, rate limit.
_ABOUT_ANY_REQUEST: Final = frozenset({401, 404, 429})

# A limit above any model's dimensions, until the server's dimensions are known.
_LONGEST_VECTOR: Final = 65536
# A JSON number has up to 25 characters and a comma; in base64 it is shorter.
_BYTES_PER_NUMBER: Final = 32
_BYTES_AROUND: Final = 64 * 1024


class EmbeddingEndpoint(Client):
    """One OpenAI-compatible endpoint of embeddings. All models and runs of a worker share it.

    Args:
        address: Where it is.
        tally: Counts the embedded tokens; None counts nothing.
        limits: As of `Client`. All tries of a request together may take the timeout, because the indexing of other
            corpora waits as long.

    Attributes:
        tally: As given.

    Raises:
        ConfigurationError: If the address is invalid.
    """

    def __init__(self, address: Address, *, tally: EmbeddingTally | None = None, **limits: Unpack[Limits]) -> None:
        if not address.has_own and not address.has_key:
            raise ConfigurationError(
                "no embedding endpoint is set",
                detail="None of PGCLARIFY_EMBEDDING_BASE_URL, PGCLARIFY_EMBEDDING_API_KEY, OPENAI_BASE_URL and"
                " OPENAI_API_KEY is set where the worker runs.",
                hint="Set PGCLARIFY_EMBEDDING_BASE_URL for your own server, or OPENAI_API_KEY for OpenAI.",
            )
        super().__init__(address, **limits)
        self.tally = EmbeddingTally() if tally is None else tally

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        tally: EmbeddingTally | None = None,
        rates: Rates | None = None,
        **limits: Unpack[Limits],
    ) -> Self:
        """Make the endpoint that the settings describe: that of embeddings, else that of the language model.

        The language model's key is sent to the language model's address only.

        Args:
            settings: The settings of this process.
            tally: As in the class.
            rates: Through which workers share its limits; None for no limits.
            limits: Instead of those of the settings.

        Raises:
            ConfigurationError: If the settings describe no endpoint.
        """
        address = Address.beside_chat(settings, "embedding")
        limits = limits_of(settings, "embedding", f"{address.base_url} embeddings", rates) | limits
        return cls(address, tally=tally, **limits)

    async def ask(self, request: dict[str, Any], texts: Sequence[str], dimensions: int = _LONGEST_VECTOR) -> Embeddings:
        """Make one request. The caller must have a turn.

        Args:
            request: Its body without the texts.
            texts: At least one.
            dimensions: The most dimensions of a vector.

        Raises:
            EmbeddingUnavailable: If no embeddings were received, after all retries. RequestFailed if the cause may
                be a text.
        """
        most_bytes = len(texts) * dimensions * _BYTES_PER_NUMBER + _BYTES_AROUND
        ends_at = asyncio.get_running_loop().time() + self.timeout
        facts = {"pgclarify.texts": len(texts)}
        with tracing.ModelCall("embeddings", request["model"], self.address.base_url, facts) as call:
            try:
                embeddings, tries = await self.call(
                    "/embeddings",
                    {**request, "input": list(texts)},
                    partial(read_embeddings, count=len(texts)),
                    most_bytes=most_bytes,
                    ends_at=ends_at,
                )
            except NoReply as failure:
                raise self._unavailable(failure, request["model"], len(texts)) from None
            call.note_reply(embeddings.tokens, tries=tries)
        if self.rate is not None:
            # The texts are chosen after their turn has come, so no tokens were reserved.
            self.rate.count(embeddings.tokens, tries)
        return embeddings

    def _unavailable(self, failure: NoReply, model: str, texts: int) -> EmbeddingUnavailable:
        """Explain why a request got no embeddings, and what to do."""
        fault = failure.fault
        if texts > 1 and fault.said:
            # The message goes to the log only. It may quote a text, and the error also reaches callers who sent other
            # texts.
            said = self.address.scrubbed(fault.said)
            _logger.warning("the embedding endpoint answered a request of %d texts with: %s", texts, said)
            failure = NoReply(replace(fault, said=""), failure.tries)
        return self.address.explain(
            failure,
            _kind_of(failure.fault),
            endpoint="the embedding endpoint",
            reply="a list of embeddings, one for each text",
            model=model,
            model_hint="Check the name of the model that the corpus has.",
            refused_hint="The model may not have room for this text, or may not be an embedding model.",
        )


class RequestFailed(EmbeddingUnavailable):
    """The endpoint or a proxy refused the request, failed, or answered something else. A text may be the cause.

    For example, a web application firewall refuses a text that looks like an attack, or a text crashes the server.
    """


class FormRefused(RequestFailed):
    """The endpoint may not take the form of the request, such as one of its parameters."""


class TextTooLong(FormRefused):
    """The endpoint says that the request is too long. A shorter text may be accepted."""


def _kind_of(fault: Fault) -> type[EmbeddingUnavailable]:
    if fault.problem is Problem.SILENT or fault.status in _ABOUT_ANY_REQUEST:
        return EmbeddingUnavailable
    if says_too_long(fault):
        return TextTooLong
    return FormRefused if fault.status in _ABOUT_THE_FORM else RequestFailed
