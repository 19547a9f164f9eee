"""Opens what an evaluation needs: connections, a corpus, workers, and if needed a language model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from pgclarify import __version__
from pgclarify.client.awaiting import AsyncClient
from pgclarify.client.opening import CONNECTION_OPTIONS
from pgclarify.config import Settings
from pgclarify.corpora.embedders import open_embedders
from pgclarify.database.embedding_usage import try_to_count_embeddings
from pgclarify.database.endpoint_rates import EndpointRates
from pgclarify.database.errors import translated
from pgclarify.database.evaluations import Corpus, EvaluationTables, Plan, Serving
from pgclarify.database.ledger import LedgerTables
from pgclarify.database.pool import Pool, open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import Runs
from pgclarify.embedding import load_span_reader
from pgclarify.errors import ConfigurationError, DatabaseError, InputError, NotReady, NoWorker, PermissionDenied
from pgclarify.evaluation.baselines import BASELINES, Asked, Baseline
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.judges import ModelJudge
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.methods import Asking, Operation
from pgclarify.evaluation.records import Judge, Method
from pgclarify.prompts.versions import in_service

# Libraries for language models need a second to import, and most evaluations ask no model in this process.
if TYPE_CHECKING:
    from pgclarify.providers.endpoint import Endpoint

JUDGES: Final = ("lexical", "model")
APPLICATION_NAME: Final = "pgclarify eval"
_WATCH_SECONDS: Final = 2.0
# After this many looks without a worker, the evaluation ends: long enough for a restart of one.
_PATIENCE: Final = 15
_START_A_WORKER: Final = "Start one with: pgclarify up --detach, or pgclarify worker."


@dataclass(slots=True)
class Bench:
    """The shared resources of evaluations on one corpus. `open_bench` makes it.

    Attributes:
        asking: The connections of the methods.
        tables: The tables of evaluations.
        serving: The provider and model of the workers.
    """

    asking: Asking
    tables: EvaluationTables
    serving: Serving
    _settings: Settings
    _dsn: str
    _pool: Pool
    _stack: AsyncExitStack
    _asked: Asked | None = None
    _presence: Presence | None = None

    @property
    def corpus(self) -> Corpus:
        """Return the corpus that is asked."""
        return self.asking.corpus

    async def method(self, name: str, settings: Mapping[str, Any]) -> Method:
        """Make a method.

        Raises:
            ConfigurationError: If it needs a language model, and this process has none or another than the workers.
            EmbeddingError: If a baseline needs the corpus's embedding model, and it cannot be loaded here.
        """
        if name not in BASELINES:
            return Operation(self.asking, name, settings)
        asked = await self.asked()
        ours = Serving(asked.chat.provider, asked.chat.model, in_service(self._settings.llm_reasoning_effort))
        if ours != self.serving:
            raise ConfigurationError(
                "baselines must ask the model that the worker asks",
                detail=f"Here it is {ours.model}, prompts {ours.prompt_version}; the worker's is {self.serving.model}, "
                f"prompts {self.serving.prompt_version}.",
                hint="Set the same endpoint and model here as for the worker.",
            )
        recipe = BASELINES[name]
        return Baseline(asked, partial(recipe.answer, **{**recipe.options, **settings}))

    async def judge(self, name: str) -> Judge:
        """Make a judge: one of JUDGES. Its model may differ from that of the workers.

        Raises:
            InputError: If there is no such judge.
            ConfigurationError: If it needs a language model, and this process has none.
            ModelNotFound: If it needs the trained reader, which is not installed.
            EmbeddingError: If a file of the reader is wrong.
        """
        if name not in JUDGES:
            raise InputError(f"there is no judge {name!r}", hint=f"The judges are {', '.join(JUDGES)}.")
        if name == "model":
            asked = await self.asked()
            return ModelJudge(asked.ledger, asked.chat)
        # In a thread, because it reads large files.
        return LexicalJudge(self._stack.enter_context(closing(await asyncio.to_thread(load_span_reader))))

    def plan(self, name: str, method: str, settings: Mapping[str, Any], data_set: DataSet, judge: Judge) -> Plan:
        """Return the facts of an evaluation that are stored before it begins."""
        return Plan(
            name=name,
            data_set=data_set.name,
            data_set_hash=data_set.hash,
            corpus_id=self.corpus.corpus_id,
            corpus_name=self.corpus.name,
            method=method,
            settings=settings,
            conditions={
                "corpus_revision": self.corpus.revision,
                "embedding_model": self.corpus.embedding_model,
                **asdict(self.serving),
                "judge": judge.name,
                "judge_version": judge.version,
                "version": __version__,
            },
            planned_cases=len(data_set.cases),
        )

    async def watch(self) -> None:
        """Watch the workers and the corpus until cancelled.

        Raises:
            NoWorker: If no worker has run for half a minute.
            ConfigurationError: If the workers now answer with another model than at the start.
            NotReady: If the corpus has changed.
        """
        missed = 0
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            if self._presence is not None and self._presence.lost.done():
                self._presence.lost.result()
            if await self.tables.corpus(self.corpus.name) != self.corpus:
                raise NotReady(
                    "the corpus has changed",
                    detail="Judged cases are kept, and belong to its former revision.",
                    hint="Repeat the command when nothing is being loaded: it begins anew, and pays for nothing twice.",
                )
            serving = await self.tables.workers()
            missed = 0 if serving else missed + 1
            if serving:
                _only(serving, self.serving)
            elif missed > _PATIENCE:
                raise NoWorker("no worker is running any more", detail="Judged cases are kept.", hint=_START_A_WORKER)

    async def asked(self) -> Asked:
        """Return the language model of this process, and the corpus that it reads.

        Raises:
            ConfigurationError: If no language model is set here.
            PermissionDenied: If the role may not write the ledger.
        """
        if self._asked is not None:
            return self._asked
        if not self._settings.has_endpoint:
            raise ConfigurationError(
                "baselines and the judge model take a language model, and none is set here",
                hint="Set the endpoint and model where this command runs, as they are set for the worker.",
            )
        chat = await self._chat()
        try:
            # This process registers as a worker only because leases of the ledger belong to workers.
            self._presence = await self._stack.enter_async_context(
                Presence.enter(self._dsn, version=__version__, is_serving=False, **asdict(self.serving))
            )
        except DatabaseError as error:
            if error.sqlstate != "42501":
                raise
            raise PermissionDenied(
                "baselines and judges write into the ledger, and the role may not",
                detail=error.message,
                hint="Have the role granted pgclarify_worker, too.",
                sqlstate=error.sqlstate,
            ) from error
        embedders = await self._stack.enter_async_context(open_embedders(self._settings))
        self._stack.push_async_callback(try_to_count_embeddings, self._pool, embedders.tally)
        self._asked = Asked(
            LedgerTables(Runs(self._pool, self._presence.worker_id), None, corpus_id=self.corpus.corpus_id),
            chat,
            self.asking,
            await embedders.get(self.corpus.embedding_model),
            partial(self.tables.price, chat.model),
        )
        return self._asked

    async def _chat(self) -> Endpoint:
        from pgclarify.providers.endpoint import Endpoint

        rates = EndpointRates()
        self._stack.enter_context(rates.shared(self._pool))
        return await self._stack.enter_async_context(Endpoint.from_settings(self._settings, rates))


@asynccontextmanager
async def open_bench(dsn: str, settings: Settings, corpus: str | None, *, concurrency: int) -> AsyncIterator[Bench]:
    """Open what evaluations of a corpus need.

    Args:
        dsn: Connection string of the database.
        settings: The settings of this process.
        corpus: The name of the corpus; None for that of the session, or the only one.
        concurrency: Most cases in flight.

    Raises:
        NotFound: If the corpus does not exist.
        InputError: If no corpus is named, and there is not exactly one.
        NoWorker: If no worker is running.
        ConfigurationError: If workers answer with different models.
        ServerUnavailable: If there is no connection.
    """
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_pool(dsn, application_name=APPLICATION_NAME))
        tables = EvaluationTables(pool)
        description = await tables.corpus(corpus)
        serving = await tables.workers()
        if not serving:
            raise NoWorker("no worker is running", hint=_START_A_WORKER)
        calls: AsyncConnectionPool[Any] = AsyncConnectionPool(
            dsn,
            min_size=1,
            # One more, to cancel runs.
            max_size=concurrency + 1,
            open=False,
            kwargs={**CONNECTION_OPTIONS, "application_name": APPLICATION_NAME},
            configure=_ask_anew,
        )
        stack.push_async_callback(calls.close)
        with translated():
            await calls.open(wait=True, timeout=10)
        asking = Asking(AsyncClient(calls), tables, description)
        yield Bench(asking, tables, _only(serving), settings, dsn, pool, stack)


def _only(serving: list[Serving], expected: Serving | None = None) -> Serving:
    """Return the provider and model that all workers have in common."""
    first = expected or serving[0]
    if other := next((one for one in serving if one != first), None):
        raise ConfigurationError(
            "the workers do not all answer with one model",
            detail=f"One answers with {first.model}, another with {other.model}.",
            hint="Stop all workers except those of one model: mixed figures of several models describe none of them.",
        )
    return first


async def _ask_anew(connection: AsyncConnection[Any]) -> None:
    """Carry out every question again, with replies of the ledger, and do not count it among people's questions."""
    await connection.execute("set pgclarify.reuse_runs = off")
    await connection.execute("set pgclarify.count_questions = off")
