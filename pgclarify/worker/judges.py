"""Who judges in a worker: one language model in all its offices, or the extractive verifier."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pgclarify.config import Provider, Settings
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import ConfigurationError
from pgclarify.protocols import (
    AnswerLister,
    EntailmentJudge,
    Investigator,
    Questioner,
    RelevanceJudge,
    Rewriter,
    Verifier,
)


@dataclass(frozen=True, slots=True)
class Judges:
    """Whoever a worker may ask.

    Attributes:
        verifier: Judges passages.
        relevance: Grades passages; None without a language model.
        entailment: Compares answers; None without a language model.
        investigator: Takes questions apart and answers them; None without a language model.
        rewriter: Makes questions stand on their own; None without a language model.
        questioner: Proposes what to ask back; None without a language model.
        answer_lister: Finds one answer after the other; None without a language model.
        extractive: Gives a verifier that asks nobody; None if verifier is one, or if nobody will ask for it.
    """

    verifier: Verifier
    relevance: RelevanceJudge | None = None
    entailment: EntailmentJudge | None = None
    investigator: Investigator | None = None
    rewriter: Rewriter | None = None
    questioner: Questioner | None = None
    answer_lister: AnswerLister | None = None
    extractive: Callable[[], Awaitable[Verifier]] | None = None

    async def asking_nobody(self) -> Verifier:
        """Give a verifier whose calls need no ledger, since it makes none.

        Raises:
            ConfigurationError: If there is none.
            EmbeddingError: If it needs an embedding model that cannot be loaded.
        """
        if self.verifier.provider == Provider.EXTRACTIVE:
            return self.verifier
        if self.extractive is None:
            raise ConfigurationError("this worker has no verifier that asks nobody")
        return await self.extractive()


@asynccontextmanager
async def open_judges(settings: Settings, embedders: Embedders) -> AsyncIterator[Judges]:
    """Make the judges that the settings ask for.

    Raises:
        ConfigurationError: If that is an endpoint which is not set, or if nothing is set for a server of one's own: a
            lost key must not pass for an answer.
        EmbeddingError: If it needs an embedding model that cannot be loaded.
    """

    async def extractive() -> Verifier:
        from pgclarify.llm.extractive import ExtractiveVerifier

        return ExtractiveVerifier(await embedders.get(settings.embedding_model))

    provider = settings.llm_provider
    if provider is Provider.AUTO:
        has_endpoint = settings.openai_api_key is not None or settings.openai_base_url is not None
        if not has_endpoint and settings.database_url is not None:
            raise ConfigurationError(
                "no language model is set",
                detail="Neither OPENAI_API_KEY nor OPENAI_BASE_URL is set.",
                hint="Set them and PGCLARIFY_LLM_MODEL, or PGCLARIFY_LLM_PROVIDER=extractive to do without a model.",
            )
        provider = Provider.OPENAI if has_endpoint else Provider.EXTRACTIVE
    if provider is Provider.OPENAI:
        from pgclarify.llm.answer_lister import EndpointAnswerLister
        from pgclarify.llm.endpoint import Endpoint
        from pgclarify.llm.entailment import EndpointEntailmentJudge
        from pgclarify.llm.investigator import EndpointInvestigator
        from pgclarify.llm.questioner import EndpointQuestioner
        from pgclarify.llm.relevance import EndpointRelevanceJudge
        from pgclarify.llm.rewriter import EndpointRewriter
        from pgclarify.llm.verifier import EndpointVerifier

        async with Endpoint.from_settings(settings) as endpoint:
            yield Judges(
                verifier=EndpointVerifier(endpoint),
                relevance=EndpointRelevanceJudge(endpoint),
                entailment=EndpointEntailmentJudge(endpoint),
                investigator=EndpointInvestigator(endpoint),
                rewriter=EndpointRewriter(endpoint),
                questioner=EndpointQuestioner(endpoint),
                answer_lister=EndpointAnswerLister(endpoint),
                extractive=extractive,
            )
    else:
        yield Judges(verifier=await extractive())
