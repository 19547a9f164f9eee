"""Opens and closes what an evaluation needs: connections, a corpus, workers, and if needed a language model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from pgclarify import __version__
from pgclarify.client import AsyncClient
from pgclarify.client.opening import CONNECTION_OPTIONS
from pgclarify.config import Settings
from pgclarify.corpora.embedders import open_embedders
from pgclarify.database.embedding_usage import try_to_count_embeddings
from pgclarify.database.errors import translated
from pgclarify.database.evaluated_runs import EvaluatedRuns
from pgclarify.database.evaluations import EvaluationTables
from pgclarify.database.pool import Pool, open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import LedgerTables, Runs
from pgclarify.embedding.packaged import PACKAGED
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import (
    ConfigurationError,
    DatabaseError,
    ModelNotFound,
    NotFound,
    NotReady,
    NoWorker,
    PermissionDenied,
)
from pgclarify.evaluated import LEXICAL, Case, CorpusDescription, EvaluationPlan, Output, ServingWorker
from pgclarify.evaluation.asking import Asking
from pgclarify.evaluation.baselines import AllAtOnce, Asked, DiversifyThenVerify
from pgclarify.evaluation.configurations import (
    BASELINE_SETTINGS,
    EXTRACTIVE,
    OPERATIONS,
    REWRITING,
    SIMULATED_USER,
    Configuration,
)
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.dialogue_baselines import RewriteWhere, detector, foretold
from pgclarify.evaluation.human import Human
from pgclarify.evaluation.judging import EvidenceSearch
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.listing_baseline import ListAtOnce
from pgclarify.evaluation.logistic_regression import check_labels, foretell
from pgclarify.evaluation.methods import check_settings, sql_method
from pgclarify.evaluation.multi_hop_baselines import OnePass, SelfAsk
from pgclarify.evaluation.retrieving import CorpusSearch
from pgclarify.evaluation.simulated_user import SimulatedUser, check_intents
from pgclarify.evaluation.texts import check_bleu, compare_texts, compares_texts
from pgclarify.evaluation.waiting import RunWaiter
from pgclarify.prompts.versions import in_service
from pgclarify.protocols import Embedder, Judge, Method

# Libraries for language models need a second to import, and most evaluations ask no model in this process.
if TYPE_CHECKING:
    from pgclarify.providers.chat_model import ChatModel

# The name in pg_stat_activity.
APPLICATION_NAME: Final = "pgclarify eval"
# Connections besides those of the cases: one waits for runs, and one cancels them.
_SPARE_CONNECTIONS = 2
_WATCH_SECONDS = 2.0
# Long enough for a restart of a worker; the same as in SQL.
_PATIENCE_SECONDS = 30.0
_MAY_NOT = "42501"
_START_A_WORKER = "Start one with: pgclarify up --detach, or pgclarify worker."


@dataclass(frozen=True, slots=True)
class _Language:
    """The language model of this process."""

    chat: ChatModel
    presence: Presence
    ledger: LedgerTables


@dataclass(slots=True)
class Bench:
    """The shared resources of evaluations on one corpus. `open_bench` makes it.

    Attributes:
        asking: The connections of the methods.
        tables: The tables of evaluations.
        living: The provider and model of the workers.
        role: The role of the connections.
        evidence: Finds the passages about the question of a case that judges read.
    """

    asking: Asking
    tables: EvaluationTables
    living: ServingWorker
    role: str
    _settings: Settings
    _dsn: str
    _pool: Pool
    _stack: AsyncExitStack
    _language: _Language | None = None
    _embedders: list[Embedders] = field(default_factory=list)
    evidence: EvidenceSearch = field(init=False)

    def __post_init__(self) -> None:
        self.evidence = EvidenceSearch(CorpusSearch(self.asking))

    @property
    def corpus(self) -> CorpusDescription:
        """Return the corpus that is asked."""
        return self.asking.corpus

    async def check(self, configuration: Configuration, cases: Sequence[Case]) -> None:
        """Check that a configuration can be carried out, before any call costs money.

        Args:
            configuration: The configuration.
            cases: The cases to ask.

        Raises:
            InputError: If a parameter cannot be used, or the cases lack facts that the method needs.
            ConfigurationError: If it needs a language model, and this process has none or another than the workers; or
                if it needs a package that is not installed.
            EmbeddingError: If it needs the packaged embedding model, and that is installed but cannot be loaded.
            PgclarifyError: If the server refuses.
        """
        method = configuration.method
        if method in (*OPERATIONS, SIMULATED_USER):
            try:
                await check_settings(self.asking, method, configuration.settings)
            except NotFound:
                # The server looks up the corpus after it checks the options.
                if self.corpus.corpus_id:
                    raise
        if method == SIMULATED_USER:
            check_intents(cases)
        if method == "logistic_regression":
            check_labels(cases)
        if method in REWRITING:
            check_bleu(cases)
        if method == "logistic_regression" or compares_texts(method, cases):
            await self._check_packaged_embedder()
        if self.asks_here(method):
            await self._language_of_workers()

    def asks_here(self, method: str) -> bool:
        """Return whether a method asks the language model from this process."""
        if method == "logistic_regression":
            # It detects ambiguity without a model, and then does not rewrite.
            return self.living.provider != EXTRACTIVE
        return method == SIMULATED_USER or (method in BASELINE_SETTINGS and method != "human")

    async def method(self, configuration: Configuration, cases: Sequence[Case]) -> Method:
        """Make the method of a configuration.

        Args:
            configuration: The configuration.
            cases: The cases to ask.

        Raises:
            ConfigurationError: As in `check`.
            EmbeddingError: If a baseline needs the corpus's embedding model, and it cannot be loaded here.
            PgclarifyError: If the server refuses.
        """
        name, settings = configuration.method, configuration.with_defaults()
        if name in OPERATIONS:
            return sql_method(self.asking, name, settings)
        # The option search of a simulated user is for the check of what is asked back, and not for the measured search.
        measured = {} if name == SIMULATED_USER else settings
        retriever = CorpusSearch(self.asking, method=measured.get("search", "hybrid"))
        if name == "human":
            return Human(retriever, top_k=settings["top_k"])
        if name == "logistic_regression":
            probabilities = await foretell(cases, await self._packaged_embedder())
            asked = await self._asked(retriever) if self.asks_here(name) else None
            return RewriteWhere(asked, retriever, foretold(probabilities))
        asked = await self._asked(retriever)
        if name == SIMULATED_USER:
            return SimulatedUser(self.asking, asked, settings)
        if name in REWRITING:
            return RewriteWhere(asked, retriever, detector(name, asked, self.asking))
        if name == "rac":
            return AllAtOnce(asked, top_k=settings["top_k"])
        if name == "one_pass":
            return OnePass(asked, top_k=settings["top_k"])
        if name == "self_ask":
            return SelfAsk(asked, top_k=settings["top_k"], max_steps=settings["max_steps"])
        if name == "list_at_once":
            return ListAtOnce(asked, **{one: settings[one] for one in ("top_k", "evidence_tokens", "max_answers")})
        verifier = settings.get("verifier")
        return DiversifyThenVerify(
            asked,
            passages_each=settings["passages_each"],
            passages_kept=settings["passages_kept"],
            is_verified=name == "dtv",
            verifier=None if verifier is None else await self._another_model(verifier),
        )

    async def compare_texts(self, configuration: Configuration, case: Case, output: Output) -> dict[str, float]:
        """Compute the metrics of a case that compare texts. See texts.compare_texts.

        Raises:
            EmbeddingError: If the packaged embedding model cannot be loaded, or a text cannot be embedded.
        """
        if not compares_texts(configuration.method, [case]):
            return {}
        return await compare_texts(case, output, await self._packaged_embedder(), method=configuration.method)

    async def judge(self, name: str) -> Judge:
        """Make a judge: one of configurations.JUDGES. Its model may differ from that of the workers.

        Raises:
            ConfigurationError: If it needs a model, and this process has none.
            PgclarifyError: If the server refuses.
        """
        if name == LEXICAL:
            return LexicalJudge()
        from pgclarify.evaluation.both_judge import BothJudge
        from pgclarify.evaluation.model_judge import ModelJudge

        language = await self._any_language(f"the judge {name!r}")
        model = ModelJudge(language.ledger, language.chat)
        return BothJudge(model) if name == "both" else model

    def plan(self, configuration: Configuration, data_set: DataSet, judge: Judge) -> EvaluationPlan:
        """Return the facts of an evaluation that are stored before it begins."""
        return EvaluationPlan(
            name=configuration.name,
            data_set=data_set.name,
            data_set_hash=data_set.hash,
            corpus_id=self.corpus.corpus_id,
            corpus_name=self.corpus.name,
            corpus_revision=self.corpus.revision,
            embedding_model=self.corpus.embedding_model,
            method=configuration.method,
            settings=configuration.settings,
            provider=self.living.provider,
            model=self.living.model,
            prompt_version=self.living.prompt_version,
            judge=judge.name,
            judge_version=judge.version,
            version=__version__,
            planned_cases=len(data_set.cases),
        )

    async def check_corpus(self) -> None:
        """Check that the corpus has not changed since the bench was opened.

        Raises:
            NotReady: If it has changed.
            NotFound: If it was deleted.
            PgclarifyError: If the server cannot be asked.
        """
        if await self.tables.describe_corpus(self.corpus.name) != self.corpus:
            raise NotReady(
                "the corpus has changed",
                detail="Judged cases are kept, and belong to its former revision.",
                hint="Repeat the command when nothing is being loaded: it begins anew, and pays for nothing twice.",
            )

    async def watch(self) -> None:
        """Watch the workers and the corpus until cancelled, and count the embedding tokens of this process.

        Raises:
            NoWorker: If no worker has run for half a minute.
            ConfigurationError: If the workers now answer with another model than at the start.
            NotReady: If the corpus has changed.
            PgclarifyError: If the server cannot be asked.
        """
        seen_at = time.monotonic()
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            if self._language is not None:
                await self._language.presence.say([], None)
            for embedders in self._embedders:
                await try_to_count_embeddings(self._pool, embedders.tally)
            await self.check_corpus()
            living = await self.tables.serving_workers()
            if living:
                seen_at = time.monotonic()
                _only(living, self.living)
            elif time.monotonic() - seen_at > _PATIENCE_SECONDS:
                raise NoWorker("no worker is running any more", detail="Judged cases are kept.", hint=_START_A_WORKER)

    async def _language_of_workers(self) -> _Language:
        """Return the language model of this process. It must be that of the workers, to compare methods fairly."""
        language = await self._any_language("a baseline")
        ours = (language.chat.provider, language.chat.model, in_service(self._settings.llm_reasoning_effort))
        if ours != tuple(self.living):
            raise ConfigurationError(
                "baselines must ask the model that the worker asks",
                detail=f"Here it is {_told(ServingWorker(*ours))}; the worker's is {_told(self.living)}.",
                hint="Set OPENAI_BASE_URL, OPENAI_API_KEY, PGCLARIFY_LLM_MODEL and PGCLARIFY_LLM_REASONING_EFFORT here"
                " as they are set for the worker.",
            )
        return language

    async def _any_language(self, what: str) -> _Language:
        if self._language is not None:
            return self._language
        if not self._settings.has_endpoint:
            raise ConfigurationError(
                f"{what} takes a language model, and none is set here",
                detail="Neither OPENAI_API_KEY nor OPENAI_BASE_URL is set.",
                hint="Set them and PGCLARIFY_LLM_MODEL where this command runs, as they are set for the worker.",
            )
        from pgclarify.providers.chat_model import ChatModel
        from pgclarify.providers.endpoint import Endpoint

        endpoint = Endpoint.from_settings(self._settings)
        await self._stack.enter_async_context(endpoint)
        try:
            # This process registers as a worker only because leases of the ledger belong to workers.
            presence = await self._stack.enter_async_context(
                Presence.enter(self._dsn, version=__version__, is_serving=False, **self.living._asdict())
            )
        except DatabaseError as error:
            if error.sqlstate != _MAY_NOT:
                raise
            raise PermissionDenied(
                f"{what} writes into the ledger, and the role may not",
                detail=error.message,
                hint="Have the role granted pgclarify_worker, too.",
                sqlstate=error.sqlstate,
            ) from error
        ledger = LedgerTables(Runs(self._pool, presence.worker_id), None, corpus_id=self.corpus.corpus_id)
        self._language = _Language(ChatModel(endpoint), presence, ledger)
        return self._language

    async def _another_model(self, name: str) -> ChatModel:
        """Return another model at the endpoint of this process."""
        from pgclarify.providers.chat_model import ChatModel
        from pgclarify.providers.endpoint import Endpoint

        endpoint = Endpoint.from_settings(self._settings.model_copy(update={"llm_model": name}))
        await self._stack.enter_async_context(endpoint)
        return ChatModel(endpoint)

    async def _asked(self, retriever: CorpusSearch) -> Asked:
        language = await self._language_of_workers()
        embedder = await (await self._embedders_of_ours()).get(self.corpus.embedding_model)
        return Asked(language.ledger, language.chat, retriever, embedder)

    async def _packaged_embedder(self) -> Embedder:
        """Return the packaged embedding model. All corpora use it here, so that figures of texts are comparable."""
        return await (await self._embedders_of_ours()).get(PACKAGED)

    async def _check_packaged_embedder(self) -> None:
        try:
            await self._packaged_embedder()
        except ModelNotFound as error:
            raise ConfigurationError(
                f"texts are compared by the embedding model {PACKAGED}, which is not installed here",
                hint="Run: pip install 'pgclarify[eval]'",
            ) from error

    async def _embedders_of_ours(self) -> Embedders:
        if not self._embedders:
            embedders = await self._stack.enter_async_context(open_embedders(self._settings))
            self._stack.push_async_callback(try_to_count_embeddings, self._pool, embedders.tally)
            self._embedders.append(embedders)
        return self._embedders[0]


@asynccontextmanager
async def open_bench(
    dsn: str, settings: Settings, corpus: str | None, *, concurrency: int, may_be_missing: bool = False
) -> AsyncIterator[Bench]:
    """Open what evaluations of a corpus need.

    Args:
        dsn: Connection string of the database.
        settings: The settings of this process.
        corpus: The name of the corpus; None for that of the session, or the only one.
        concurrency: Most cases in flight.
        may_be_missing: Whether the named corpus may be missing, because it is loaded before the first question.

    Raises:
        NotFound: If the corpus does not exist, and it may not be missing.
        InputError: If no corpus is named, and there is not exactly one.
        NoWorker: If no worker is running.
        ConfigurationError: If workers answer with different models.
        ServerUnavailable: If there is no connection.
        DatabaseError: If the server refuses.
    """
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_pool(dsn, application_name=APPLICATION_NAME))
        async with pool.connection() as connection:
            role = connection.info.user
        tables = EvaluationTables(pool)
        try:
            description = await tables.describe_corpus(corpus)
        except NotFound:
            if corpus is None or not may_be_missing:
                raise
            description = CorpusDescription(0, corpus, 0, "")
        living = await tables.serving_workers()
        if not living:
            raise NoWorker("no worker is running", hint=_START_A_WORKER)
        calls: AsyncConnectionPool[Any] = AsyncConnectionPool(
            dsn,
            min_size=1,
            max_size=concurrency + _SPARE_CONNECTIONS,
            open=False,
            kwargs={**CONNECTION_OPTIONS, "application_name": APPLICATION_NAME},
            configure=_ask_anew,
        )
        stack.push_async_callback(calls.close)
        with translated():
            await calls.open(wait=True, timeout=10)
        client = AsyncClient(calls)
        waiter = RunWaiter(client)
        stack.push_async_callback(waiter.close)
        runs = EvaluatedRuns(tables)
        asking = Asking(client, tables, runs, waiter, description, await runs.now())
        yield Bench(asking, tables, _only(living), role, settings, dsn, pool, stack)


def _only(living: Sequence[ServingWorker], expected: ServingWorker | None = None) -> ServingWorker:
    """Return the provider and model that all workers have in common."""
    first = expected or living[0]
    if other := next((one for one in living if one != first), None):
        raise ConfigurationError(
            "the workers do not all answer with one model",
            detail=f"One answers with {_told(first)}, another with {_told(other)}.",
            hint="Stop all workers except those of one model: mixed figures of several models describe none of them.",
        )
    return first


async def _ask_anew(connection: AsyncConnection[Any]) -> None:
    """Turn off the reuse of runs, so that every question is carried out. Replies in the ledger are still reused.

    Also turn off the counting of questions, because dashboards count questions of people.
    """
    await connection.execute("set pgclarify.reuse_runs = off")
    await connection.execute("set pgclarify.count_questions = off")


def _told(living: ServingWorker) -> str:
    return f"{living.model} ({living.provider}, prompts {living.prompt_version})"
