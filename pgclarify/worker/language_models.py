"""The models that a worker may ask: one language model for all calls, or rules that judge passages without a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgclarify.config import Provider, Settings
from pgclarify.embedding import LocalSpanReader, load_span_reader
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import ConfigurationError
from pgclarify.prompts.versions import in_service
from pgclarify.protocols import Completer, PassageReader, Rates

if TYPE_CHECKING:
    from pgclarify.providers.batch_endpoint import BatchEndpoint


@dataclass(frozen=True, slots=True)
class LanguageModels:
    """The models that a worker may ask.

    Attributes:
        completer: Judges passages.
        reasoning_effort: The reasoning effort that is sent to the model; None if none is sent.
        embedding_model: The embedding model with which the rules judge passages; None if a language model judges them.
        endpoint: The address of the language model, or the path and size of its file; None if the rules judge.
        batches: The batch API of the language model's endpoint; None if there is none.
        reader: Returns the trained reader, which confirms answers; None if the rules judge, which use it themselves.
    """

    completer: Completer
    reasoning_effort: str | None = None
    embedding_model: str | None = None
    endpoint: str | None = None
    batches: BatchEndpoint | None = None
    reader: Callable[[], Awaitable[PassageReader]] | None = None

    @property
    def chat(self) -> Completer | None:
        """Return the completer if it is a language model, which answers every call; None if it is the rules."""
        return None if self.completer.provider == Provider.EXTRACTIVE else self.completer

    @property
    def prompt_version(self) -> str:
        """Return what answers depend on besides the model, as the worker announces it; other answers are not reused.

        These are the versions of all prompts and the effort, or the version of the rules and their embedding model.
        """
        if self.chat is not None:
            return in_service(self.reasoning_effort)
        from pgclarify.providers.extractive.verifier import PROMPT_VERSION

        return ", embedding model ".join(filter(None, (PROMPT_VERSION, self.embedding_model)))


@asynccontextmanager
async def open_language_models(
    settings: Settings, embedders: Embedders, rates: Rates | None = None
) -> AsyncIterator[LanguageModels]:
    """Open the language models that the settings ask for.

    Args:
        settings: The settings of this process.
        embedders: The embedding models of this process.
        rates: Through which workers share the limits of an endpoint; None for no limits.

    Raises:
        ConfigurationError: If the settings ask for an endpoint and none is set.
        EmbeddingError: If it needs an embedding model that cannot be loaded.
    """
    opening = asyncio.Lock()
    readers: list[LocalSpanReader] = []
    stack = AsyncExitStack()

    async def opened_reader() -> LocalSpanReader:
        async with opening:
            if not readers:
                readers.append(await asyncio.to_thread(load_span_reader))
                stack.push_async_callback(asyncio.to_thread, readers[0].close)
        return readers[0]

    provider = settings.chosen_provider
    if provider is None:
        raise ConfigurationError(
            "no language model is set",
            detail="No address and no key of a language model is set.",
            hint="Set OPENAI_BASE_URL or OPENAI_API_KEY, and PGCLARIFY_LLM_MODEL; or set"
            " PGCLARIFY_LLM_PROVIDER=extractive to do without a model.",
        )
    async with stack:
        if provider is Provider.EXTRACTIVE:
            from pgclarify.providers.extractive import ExtractiveVerifier

            verifier = ExtractiveVerifier(await embedders.get(settings.embedding_model), await opened_reader())
            yield LanguageModels(verifier, embedding_model=settings.embedding_model)
            return
        from pgclarify.providers.batch_endpoint import BatchEndpoint
        from pgclarify.providers.endpoint import Endpoint
        from pgclarify.worker.model_file import served

        reachable = await stack.enter_async_context(served(settings))
        endpoint = await stack.enter_async_context(Endpoint.from_settings(reachable, rates))
        batches = None
        # The batch API of Azure's older address has other paths.
        if not endpoint.address.is_azure:
            batches = BatchEndpoint(endpoint)
            stack.push_async_callback(batches.aclose)
        path = settings.model_file
        yield LanguageModels(
            endpoint,
            settings.llm_reasoning_effort,
            # The address of the file's server has another port each time.
            endpoint=endpoint.address.base_url.rstrip("/")
            if path is None
            else f"{path.resolve()} ({path.stat().st_size} bytes)",
            batches=batches,
            reader=opened_reader,
        )
