"""The worker: a process that carries out runs and makes documents searchable."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

import psycopg

from pgclarify import __version__
from pgclarify.config import Provider, Settings
from pgclarify.database import Documents, Presence, Runs, RunTables, open_pool, translated
from pgclarify.database.pool import Pool, fetch
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import (
    ConfigurationError,
    DatabaseBusy,
    DatabaseError,
    EmbeddingError,
    PgclarifyError,
    RunLost,
    ServerUnavailable,
)
from pgclarify.install import check_schema
from pgclarify.jobs import Queue, open_queue
from pgclarify.model import Run, RunStatus
from pgclarify.pipelines.clarification import clarify, reconsolidate
from pgclarify.pipelines.failures import describe
from pgclarify.pipelines.ingestion import Ingestion, chunker_of, is_about_data
from pgclarify.pipelines.search import search
from pgclarify.protocols import Verifier

_logger = logging.getLogger(__name__)

_INGESTION_SECONDS = 0.3
_WATCH_SECONDS = 0.5
_RESCUE_SECONDS = 2.0
_PRESENCE_SECONDS = 2.0
_RECONNECT_SECONDS = 2.0
_MODEL_RETRY_SECONDS = 30.0
_PARTITION_SECONDS = 5.0
# While a worker tries in vain, others wait behind it: not too often.
_PARTITION_RETRY_SECONDS = 60.0
_LOCK_NOT_AVAILABLE = "55P03"
# About ten seconds of embedding on two cores, so that progress shows.
_MOST_CHARS_A_CLAIM = 200_000


def run_worker(settings: Settings, dsn: str, *, on_ready: Callable[[], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT; runs in hand get some seconds to finish. Waits for a server that restarts.

    Args:
        settings: Provider, model and limits.
        dsn: Connection string of the database, direct rather than through a pooler in transaction mode.
        on_ready: Called each time the worker has become ready to serve.

    Raises:
        ConfigurationError: If the settings name no usable provider.
        EmbeddingError: If the provider needs a model that cannot be loaded.
        SchemaMismatch: If the schema is not the one that this version works with.
        ServerUnavailable: If there is no connection at the start.
        DatabaseError: If the role may not work.
    """
    asyncio.run(_serve_until_told(settings, dsn, on_ready))


async def _serve_until_told(settings: Settings, dsn: str, on_ready: Callable[[], None] | None) -> None:
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    await asyncio.to_thread(_check, dsn)
    embedders = Embedders()
    async with AsyncExitStack() as stack:
        stack.callback(embedders.close)
        verifier = await stack.enter_async_context(open_verifier(settings, embedders))
        await asyncio.to_thread(_warm_up)
        while not stopping.is_set():
            try:
                await _serve(settings, dsn, verifier, embedders, stopping, on_ready)
            except (ServerUnavailable, DatabaseBusy) as lost:
                _logger.warning("the database is gone, trying again: %s", lost.message)
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), _RECONNECT_SECONDS)


@asynccontextmanager
async def open_verifier(settings: Settings, embedders: Embedders) -> AsyncIterator[Verifier]:
    """Make the verifier that the settings ask for.

    Raises:
        ConfigurationError: If that is an endpoint which is not set, or if nothing is set for a server of one's own: a
            lost key must not pass for an answer.
        EmbeddingError: If it needs an embedding model that cannot be loaded.
    """
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
        from pgclarify.llm.endpoint import Endpoint
        from pgclarify.llm.verifier import EndpointVerifier

        async with Endpoint.from_settings(settings) as endpoint:
            yield EndpointVerifier(endpoint)
    else:
        from pgclarify.llm.extractive import ExtractiveVerifier

        yield ExtractiveVerifier(await embedders.get(settings.embedding_model))


async def _serve(
    settings: Settings,
    dsn: str,
    verifier: Verifier,
    embedders: Embedders,
    stopping: asyncio.Event,
    on_ready: Callable[[], None] | None,
) -> None:
    """Serve through one session with the database.

    Raises:
        ServerUnavailable: If the session breaks.
    """
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_pool(dsn))
        presence = await stack.enter_async_context(
            Presence.enter(
                dsn,
                version=__version__,
                provider=verifier.provider,
                model=verifier.model,
                prompt_version=verifier.prompt_version,
            )
        )
        hand = _Hand(Runs(pool, presence.worker_id), verifier, embedders)
        # Half as many runs as calls: some of them always wait for the database or an embedding.
        concurrency = max(8, settings.llm_concurrency // 2)
        queue = await stack.enter_async_context(open_queue(dsn, hand.carry_out, concurrency=concurrency))
        ingestion = Ingestion(Documents(pool, presence.worker_id), embedders.get, max_chars=_MOST_CHARS_A_CLAIM)
        stack.push_async_callback(ingestion.close)
        spaces = _Spaces(pool, embedders)
        stack.push_async_callback(spaces.close)
        chores = [
            asyncio.create_task(work, name=name)
            for name, work in (
                ("presence", _be_present(presence, queue, embedders, on_ready)),
                ("watch", _every(_WATCH_SECONDS, hand.drop_lost_runs)),
                ("rescue", _every(_RESCUE_SECONDS, lambda: _rescue(pool))),
                ("spaces", _every(_INGESTION_SECONDS, spaces.open_new)),
                ("ingestion", _every(_INGESTION_SECONDS, lambda: _ingest(pool, ingestion))),
                ("partitions", _every(_PARTITION_SECONDS, lambda: _drop_partitions(pool))),
            )
        ]
        serving = asyncio.create_task(queue.serve(), name="queue")
        told = asyncio.create_task(stopping.wait(), name="stopping")
        everything: list[asyncio.Task[Any]] = [*chores, serving, told]
        try:
            await asyncio.wait(everything, return_when=asyncio.FIRST_COMPLETED)
            if not stopping.is_set():
                for task in (*chores, serving):
                    if task.done():
                        task.result()
                raise ServerUnavailable("the queue's connection broke")
            queue.stop()
            await serving
        finally:
            for task in everything:
                task.cancel()
            await asyncio.gather(*everything, return_exceptions=True)


class _Hand:
    """The runs that this worker has in hand."""

    def __init__(self, runs: Runs, verifier: Verifier, embedders: Embedders) -> None:
        self._runs = runs
        self._verifier = verifier
        self._embedders = embedders
        # By attempt too: a run that was taken for lost may come back while the first attempt winds up.
        self._held: dict[tuple[int, int], tuple[Run, asyncio.Task[None]]] = {}

    async def carry_out(self, run_id: int) -> None:
        """Carry a run out, whatever its operation; one that cannot be is marked as failed.

        Raises:
            ServerUnavailable: If the connection broke.
            DatabaseBusy: If something stood in the way that passes.
            RunLost: If another worker has taken the run over, and with it the job.
        """
        run = await self._runs.start(run_id)
        if run is None:
            return
        tables = RunTables(self._runs, run_id)
        task = asyncio.create_task(self._perform(run, tables))
        self._held[run_id, run.attempt] = (run, task)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                # Told to stop, rather than dropped by drop_lost_runs.
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                raise
        except (ServerUnavailable, DatabaseBusy):
            raise
        except RunLost as lost:
            _logger.info("run %d was left: %s", run_id, lost.message)
        except Exception as error:
            _logger.exception("run %d failed", run_id)
            with suppress(RunLost):
                await tables.finish_run(run, RunStatus.FAILED, [], describe(error))
        finally:
            del self._held[run_id, run.attempt]
        if not await self._runs.is_over(run_id):
            # A job that ended well would be deleted, and it is no longer ours.
            raise RunLost(f"run {run_id} is carried out by another worker")

    async def drop_lost_runs(self) -> None:
        """Stop working on runs that were cancelled or taken over."""
        if not self._held:
            return
        held = list(self._held.values())
        lost = await self._runs.lost([run for run, _ in held])
        for run, task in held:
            if run in lost:
                _logger.info("run %d was cancelled or taken over", run.run_id)
                task.cancel()

    async def _perform(self, run: Run, tables: RunTables) -> None:
        # Null until a worker has opened the corpus's space.
        if not run.embedding_model:
            raise EmbeddingError(
                "the corpus cannot be searched yet", detail="A worker is loading its embedding model; ask again."
            )
        embedder = await self._embedders.get(run.embedding_model)
        match run.operation:
            case "clarify":
                await clarify(run, tables, self._verifier, embedder)
            case "consolidate":
                await reconsolidate(run, tables, embedder)
            case "search":
                await search(run, tables, embedder)
            case unknown:
                raise DatabaseError(f"this version of pgclarify does not know the operation {unknown}")


async def _be_present(
    presence: Presence, queue: Queue, embedders: Embedders, on_ready: Callable[[], None] | None
) -> None:
    """Say every other second that the worker is there, and notice if its session is gone."""
    while queue.worker_id is None:  # noqa: ASYNC110 - the queue tells nobody when it has registered
        await asyncio.sleep(0.01)
    await presence.say(embedders.loaded, queue.worker_id)
    _logger.info("worker %d is ready", presence.worker_id)
    if on_ready is not None:
        on_ready()
    while True:
        await asyncio.sleep(_PRESENCE_SECONDS)
        await presence.say(embedders.loaded, queue.worker_id)


async def _rescue(pool: Pool) -> None:
    (row,) = await fetch(pool, "rescue_jobs")
    if row["jobs"]:
        _logger.info("took over %d jobs of workers that are gone", row["jobs"])


class _Spaces:
    """Opens new spaces, each model's in a task of its own: looking for one that does not exist can take a minute."""

    def __init__(self, pool: Pool, embedders: Embedders) -> None:
        self._pool = pool
        self._embedders = embedders
        self._opening: dict[str, asyncio.Task[None]] = {}

    async def open_new(self) -> None:
        """Begin to load the models of spaces that wait for theirs."""
        waiting: dict[str, list[int]] = {}
        for space in await fetch(self._pool, "list_building_spaces"):
            waiting.setdefault(space["model"], []).append(space["embedding_space_id"])
        for model, space_ids in waiting.items():
            if model not in self._opening:
                task = asyncio.create_task(self._open(model, space_ids))
                self._opening[model] = task
                task.add_done_callback(partial(self._forget, model))

    async def _open(self, model: str, space_ids: list[int]) -> None:
        try:
            embedder = await self._embedders.get(model)
            chunker_of(embedder)
        except (ConfigurationError, EmbeddingError) as error:
            for space_id in space_ids:
                await self._refuse(space_id, error)
            await asyncio.sleep(_MODEL_RETRY_SECONDS)
            return
        pause = 0.0
        for space_id in space_ids:
            try:
                await fetch(self._pool, "open_space", embedding_space_id=space_id, dimensions=embedder.dimensions)
            except ServerUnavailable:
                raise
            except DatabaseError as error:
                if is_about_data(error):
                    await self._refuse(space_id, error)
                    pause = _MODEL_RETRY_SECONDS
                else:
                    _logger.warning("space %d could not be opened, trying again: %s", space_id, describe(error))
                    pause = max(pause, _RECONNECT_SECONDS)
        await asyncio.sleep(pause)

    async def _refuse(self, space_id: int, error: PgclarifyError) -> None:
        await fetch(self._pool, "refuse_space", embedding_space_id=space_id, error=describe(error))

    def _forget(self, model: str, task: asyncio.Task[None]) -> None:
        del self._opening[model]
        if not task.cancelled() and (error := task.exception()) is not None:
            _logger.warning("the spaces of model %s could not be opened, trying again: %s", model, error)

    async def close(self) -> None:
        """Leave the models that are still looked for."""
        tasks = list(self._opening.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _ingest(pool: Pool, ingestion: Ingestion) -> None:
    """Index until nothing is pending."""
    try:
        while await ingestion.ingest_once():
            await fetch(pool, "fold_tallies")
    except DatabaseBusy:
        # What could not be stored is embedded again the next time: not at once.
        await asyncio.sleep(_RECONNECT_SECONDS)
        raise
    await fetch(pool, "apply_term_changes")
    await fetch(pool, "fold_tallies")


async def _drop_partitions(pool: Pool) -> None:
    """Drop what dropped corpora have left, each in a transaction of its own."""
    try:
        while (await fetch(pool, "drop_orphan_partition"))[0]["dropped"] is not None:
            pass
    except DatabaseError as error:
        if error.sqlstate != _LOCK_NOT_AVAILABLE:
            raise
        await asyncio.sleep(_PARTITION_RETRY_SECONDS)


async def _every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    """Do something again and again; what goes wrong once is logged and may go right the next time.

    Raises:
        ServerUnavailable: If the database is gone.
    """
    while True:
        try:
            await work()
        except ServerUnavailable:
            raise
        except DatabaseBusy as busy:
            _logger.warning("a chore has to wait: %s", busy.message)
        except Exception:
            _logger.exception("a chore failed, trying again")
            await asyncio.sleep(_RECONNECT_SECONDS)
        await asyncio.sleep(seconds)


def _check(dsn: str) -> None:
    with translated(), psycopg.connect(dsn, application_name="pgclarify worker") as connection:
        check_schema(connection)


def _warm_up() -> None:
    """Import what the first run would otherwise wait a second for."""
    import hdbscan  # noqa: F401
