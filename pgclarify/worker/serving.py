"""The life of a worker: what it opens, which work it does beside its runs, and how it ends."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg

from pgclarify import __version__, tracing
from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.config import Settings
from pgclarify.corpora.embedders import open_embedders
from pgclarify.corpora.embedding_models import CorpusModels
from pgclarify.corpora.ingestion import Ingestion
from pgclarify.corpora.reembedding import Reembedding
from pgclarify.database.connections import Connections, with_keepalives
from pgclarify.database.documents import Documents
from pgclarify.database.embedding_usage import count_embeddings, try_to_count_embeddings
from pgclarify.database.endpoint_rates import EndpointRates
from pgclarify.database.errors import translated
from pgclarify.database.left_calls import LeftCalls
from pgclarify.database.pool import fetch, open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.queries import queries
from pgclarify.database.runs import Runs
from pgclarify.database.sessions import require_own_sessions
from pgclarify.database.spaces import EmbeddingSpaces
from pgclarify.embedding.cross_encoder import CrossEncoders
from pgclarify.embedding.devices import check_device
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import DatabaseBusy, SchemaMismatch, ServerUnavailable
from pgclarify.install.versions import check_schema, is_unchanged
from pgclarify.protocols import Completer
from pgclarify.worker.batches import Batches
from pgclarify.worker.executor import RunExecutor, models_of
from pgclarify.worker.graph_building import GraphBuilding, link
from pgclarify.worker.grouping import QuestionGrouping
from pgclarify.worker.language_models import LanguageModels, open_language_models
from pgclarify.worker.maintenance import (
    drop_orphans,
    embed,
    every,
    keep_looking,
    repeat,
    requeue_lost_runs,
    whenever,
)
from pgclarify.worker.model_trial import ModelTrial
from pgclarify.worker.monitor import Monitor
from pgclarify.worker.quarantine import Quarantine
from pgclarify.worker.rerank_endpoint import open_rerank_endpoint
from pgclarify.worker.run_queue import RunQueue, listening_to
from pgclarify.worker.sources import Sources
from pgclarify.worker.spaces import Spaces

if TYPE_CHECKING:
    from pgclarify.embedded import Address

_logger = logging.getLogger(__name__)

_WORK_SECONDS = 0.3
_WATCH_SECONDS = 0.5
# Until the next count, budgets do not include the tokens that were embedded.
_COUNTING_SECONDS = 1.0
_REQUEUE_SECONDS = 2.0
_BATCH_SECONDS = 1.0
_TRIAL_SECONDS = 5.0
# Shorter than the pause between heartbeats, which report the loaded models.
_PRESENCE_SECONDS = 4.0
_RECONNECT_SECONDS = 2.0
_INSPECTION_SECONDS = 15.0
_UPKEEP_SECONDS = 10.0
_AFTERWARDS_SECONDS = 2.0
# When calls wait for a turn, those whose run was cancelled keep one turn of this many.
_SHARE_OF_LEFT_CALLS = 4
# A transaction takes a few tenths of a second.
_MOST_ANSWERS = 1000
_MOST_REMOVED = 5000
# More than psycopg needs to cancel the statement of a cancelled task.
_CANCEL_SECONDS = 6.0
# About 256 passages, or ten seconds of embedding on two cores. Other short documents wait for that; longer while a long
# document, or passages for another model, take turns with it.
_MOST_CHARS_A_CLAIM = 200_000
# After an upgrade. Until a worker of the new version serves, calls wait for this one, and do not end without a worker.
_HANDOVER_SECONDS = 60.0
# Most tests count the calls of a model, so they do without a trial of it.
_TRIES_MODELS = True
# M_ARENA_MAX of the GNU C library.
_MOST_ARENAS = -8


GRACE_SECONDS = 10.0
"""Default time in which current runs may finish when the worker is asked to stop."""


def run_worker(
    settings: Settings,
    dsn: str,
    *,
    on_ready: Callable[[], None] | None = None,
    metrics: Address | None = None,
    grace: float = GRACE_SECONDS,
) -> None:
    """Serve until SIGTERM or SIGINT. Waits for a server that restarts.

    Args:
        settings: Provider, model and limits.
        dsn: Connection string of the database, without a pooler.
        on_ready: Called each time the worker has become ready to serve.
        metrics: Address that serves metrics and the worker's state; None for no server.
        grace: Seconds in which current runs may finish at the end. Unfinished runs go back into the queue.

    Raises:
        ConfigurationError: If the settings name an unusable provider or a missing device, if the database is behind a
            pooler, or if the address of the metrics cannot be used.
        EmbeddingError: If the provider needs a model that cannot be loaded.
        SchemaMismatch: If this version does not work with the schema; if another version was installed meanwhile, after
            a time in which the worker finishes its runs and takes no others.
        ServerUnavailable: If there is no connection at the start.
        DatabaseError: If the role may not work.
    """
    asyncio.run(_serve_until_told(settings, dsn, on_ready, metrics, grace))


async def _serve_until_told(
    settings: Settings, dsn: str, on_ready: Callable[[], None] | None, metrics: Address | None, grace: float
) -> None:
    _share_arenas()
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    async with AsyncExitStack() as stack:
        # It ends last, when everything that is traced is over.
        stack.enter_context(tracing.exporting())
        # Before anything slow, so that /healthz answers while a worker starts.
        monitor = Monitor()
        if metrics is not None:
            # Imported here, because a worker without metrics does not need it.
            from pgclarify.worker.metrics_server import watched

            monitor = await stack.enter_async_context(watched(metrics, dsn))
        installed = await asyncio.to_thread(_check, with_keepalives(dsn))
        # Before a model is loaded: without the device, that would fail with the error of a missing model.
        await asyncio.to_thread(check_device, settings.torch_device)
        rates = EndpointRates()
        cross_encoders = CrossEncoders(device=settings.torch_device)
        embedders = await stack.enter_async_context(open_embedders(settings, rates))
        stack.callback(cross_encoders.close)
        models = await stack.enter_async_context(open_language_models(settings, embedders, rates))
        at_endpoint = await stack.enter_async_context(open_rerank_endpoint(settings, rates))
        monitor.describe(version=__version__, provider=models.completer.provider, model=models.completer.model)
        if models.chat is not None:
            models = replace(models, completer=monitor.metered(models.completer))

        def note_ready() -> None:
            monitor.note_ready(is_ready=not stopping.is_set())
            if on_ready is not None:
                on_ready()

        def metered_at_endpoint(name: str) -> Completer:
            return monitor.metered(at_endpoint(name))

        world = _World(settings, dsn, installed, models, embedders, cross_encoders, metered_at_endpoint, rates, monitor)
        while not stopping.is_set():
            try:
                await _serve(world, stopping, note_ready, grace)
            except (ServerUnavailable, DatabaseBusy) as lost:
                _logger.warning("the worker starts over: %s", lost)
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), _RECONNECT_SECONDS)


@dataclass(frozen=True, slots=True)
class _World:
    """The objects that a worker keeps between two sessions with the database."""

    settings: Settings
    dsn: str
    installed: str
    models: LanguageModels
    embedders: Embedders
    cross_encoders: CrossEncoders
    at_endpoint: Callable[[str], Completer]
    rates: EndpointRates
    monitor: Monitor


async def _serve(world: _World, stopping: asyncio.Event, on_ready: Callable[[], None], grace: float) -> None:
    """Serve through one session with the database.

    Raises:
        ServerUnavailable: If the session breaks.
    """
    settings, dsn, models, embedders = world.settings, world.dsn, world.models, world.embedders
    async with AsyncExitStack() as stack:
        connections = Connections()
        pool = await stack.enter_async_context(open_pool(dsn, connections=connections))
        stack.enter_context(world.rates.shared(pool))
        presence = await stack.enter_async_context(
            Presence.enter(
                dsn,
                version=__version__,
                provider=models.completer.provider,
                model=models.completer.model,
                prompt_version=models.prompt_version,
                schema_hash=world.installed,
                check=partial(is_unchanged, before=world.installed),
            )
        )
        turn = asyncio.Lock()
        left_calls = LeftCalls(most_when_crowded=max(1, settings.llm_concurrency // _SHARE_OF_LEFT_CALLS))
        stack.push_async_callback(left_calls.close)
        runs = Runs(pool, presence.worker_id, None if models.batches is None else models.batches.render, left_calls)
        trial = ModelTrial(runs, models)
        if _TRIES_MODELS:
            await trial.enter()
        quarantine = Quarantine(turn)
        executor = RunExecutor(
            runs,
            models_of(
                models,
                embedders,
                world.cross_encoders,
                world.at_endpoint,
                AmbiguityClassifier.load(),
                calls_at_once=settings.llm_concurrency,
            ),
            quarantine,
            world.monitor,
        )
        world.monitor.follow(lambda: executor.in_hand)
        stack.callback(world.monitor.note_ready, is_ready=False)
        # As many runs as calls: many operations make one call after the other, and each question begins with one.
        concurrency = max(8, settings.llm_concurrency)
        queue = RunQueue(
            runs,
            listening_to(dsn, connections),
            executor.carry_out,
            concurrency=concurrency,
            grace=grace,
            may_take=lambda: not quarantine.has_suspect,
        )
        # Registered before the embedders are opened, so it is called after they are closed. Requests may end until
        # then, and each of them costs money.
        stack.push_async_callback(try_to_count_embeddings, pool, embedders.tally)
        embedding_spaces = EmbeddingSpaces(pool, presence.worker_id)
        corpus_models = CorpusModels(embedders.get, embedders.forget, turn=turn, store=embedding_spaces)
        stack.push_async_callback(corpus_models.close)
        documents = Documents(pool, presence.worker_id)
        ingestion = Ingestion(documents, corpus_models, max_chars=_MOST_CHARS_A_CLAIM)
        stack.push_async_callback(ingestion.close)
        long_documents = Documents(pool, presence.worker_id, are_long=True)
        long_ingestion = Ingestion(long_documents, corpus_models, max_documents=1)
        stack.push_async_callback(long_ingestion.close)
        reembedding = Reembedding(embedding_spaces, corpus_models)
        spaces = Spaces(pool, embedders)
        stack.push_async_callback(spaces.close)
        sources = Sources(dsn, pool)
        stack.push_async_callback(sources.close)
        grouping = QuestionGrouping(pool, is_busy=lambda: executor.in_hand > 0)
        building = GraphBuilding(pool, presence.worker_id)
        batches = Batches(pool, presence.worker_id, models.batches)
        # The work for each name of due_work, and the seconds of rest in between.
        kinds: dict[str, tuple[Callable[[], Awaitable[object]], float]] = {
            "spaces": (spaces.open_new, _WORK_SECONDS),
            "space_steps": (spaces.advance, _WORK_SECONDS),
            "documents": (lambda: embed(ingestion.ingest_once), _WORK_SECONDS),
            "long_documents": (lambda: embed(long_ingestion.ingest_once), _WORK_SECONDS),
            "passages": (lambda: embed(reembedding.fill_once), _WORK_SECONDS),
            "graph": (lambda: link(pool, building), _WORK_SECONDS),
            "terms": (lambda: repeat(pool, "apply_term_changes"), _WORK_SECONDS),
            "tallies": (lambda: fetch(pool, "fold_tallies"), _WORK_SECONDS),
            "source_changes": (sources.follow, _WORK_SECONDS),
            "source_inspection": (sources.inspect, _INSPECTION_SECONDS),
            "served_answers": (
                lambda: repeat(pool, "count_served", most=_MOST_ANSWERS),
                _AFTERWARDS_SECONDS,
            ),
            "question_groups": (grouping.catch_up, _AFTERWARDS_SECONDS),
            "runs": (queue.wake, _WORK_SECONDS),
            "batches": (batches.carry_on, _BATCH_SECONDS),
            "model_trials": (trial.carry_on, _TRIAL_SECONDS),
            "lost_runs": (lambda: requeue_lost_runs(pool, executor, presence.worker_id), _REQUEUE_SECONDS),
            "lost_calls": (
                lambda: repeat(pool, "end_calls_of_lost_workers", worker_id=presence.worker_id),
                _REQUEUE_SECONDS,
            ),
        }
        due = {name: asyncio.Event() for name in kinds}
        maintenance = [
            *(
                asyncio.create_task(whenever(due[name], work, rest=rest), name=name)
                for name, (work, rest) in kinds.items()
            ),
            asyncio.create_task(keep_looking(pool, due), name="look"),
            *(
                asyncio.create_task(every(seconds, work), name=name)
                for name, seconds, work in (
                    ("watch", _WATCH_SECONDS, executor.watch),
                    ("models", _UPKEEP_SECONDS, corpus_models.look),
                    ("costs", _COUNTING_SECONDS, lambda: count_embeddings(pool, embedders.tally)),
                    (
                        "corpora",
                        _UPKEEP_SECONDS,
                        lambda: drop_orphans(pool, "remove_dropped_corpora", most=_MOST_REMOVED),
                    ),
                    ("captures", _UPKEEP_SECONDS, lambda: drop_orphans(pool, "drop_orphan_capture")),
                    ("readers", _UPKEEP_SECONDS, lambda: drop_orphans(pool, "drop_idle_table_reader")),
                    ("partitions", _UPKEEP_SECONDS, lambda: drop_orphans(pool, "drop_orphan_partition")),
                )
            ),
        ]
        present = asyncio.create_task(_be_present(presence, embedders, on_ready), name="presence")
        serving = asyncio.create_task(queue.serve(), name="queue")
        told = asyncio.create_task(stopping.wait(), name="stopping")
        outdated = asyncio.create_task(presence.outdated.wait(), name="outdated")
        everything: list[asyncio.Task[Any]] = [present, *maintenance, serving, told, outdated]
        try:
            await asyncio.wait(everything, return_when=asyncio.FIRST_COMPLETED)
            if outdated.done():
                world.monitor.note_ready(is_ready=False)
                await _hand_over([present, serving, told], maintenance)
            if stopping.is_set() or outdated.done():
                world.monitor.note_ready(is_ready=False)
                queue.stop()
                await asyncio.wait([present, serving], return_when=asyncio.FIRST_COMPLETED)
            if outdated.done() and not stopping.is_set():
                # Whatever else has failed: this worker must not start again.
                raise SchemaMismatch(
                    "another version of pgclarify was installed while this worker was running, or it was removed",
                    detail="It has finished its runs, or put them back.",
                    hint="Start a worker of the version that is installed now.",
                )
            for task in (present, *maintenance, serving):
                if task.done():
                    task.result()
            if not stopping.is_set():
                raise ServerUnavailable("the queue's connection broke")
        except BaseException:
            # First, because closing what is open may take long while the database does not answer.
            world.monitor.note_ready(is_ready=False)
            # Other workers may have this worker's runs by now. Statements under way may never be answered.
            executor.drop_all()
            await pool.close(timeout=0)
            connections.cut()
            raise
        finally:
            await _cancel(everything)


async def _hand_over(ending: Collection[asyncio.Task[Any]], maintenance: Collection[asyncio.Task[Any]]) -> None:
    """Let current runs go on after an upgrade, until one of the tasks ends or the time is over. No others are taken.

    Args:
        ending: Tasks of the worker that must not end.
        maintenance: Tasks to stop, because the new version may do their work in another way; but for the one that
            watches the runs.
    """
    _logger.warning(
        "another version of pgclarify was installed, or it was removed; this worker takes no more runs, and begins to"
        " stop in %.0f seconds",
        _HANDOVER_SECONDS,
    )
    await _cancel([task for task in maintenance if task.get_name() != "watch"])
    await asyncio.wait(ending, timeout=_HANDOVER_SECONDS, return_when=asyncio.FIRST_COMPLETED)


async def _cancel(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks until all have ended. Their errors are dropped.

    Once may not be enough: while a task waits for a connection of the pool, `asyncio.wait_for` of Python 3.11 drops a
    cancellation that arrives together with the connection.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_CANCEL_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)


async def _be_present(presence: Presence, embedders: Embedders, on_ready: Callable[[], None]) -> None:
    """Report which models the worker has loaded, until it does not count as alive any more.

    Raises:
        ServerUnavailable: When the worker does not count as alive any more.
    """
    reported = embedders.loaded
    presence.report_loaded(reported)
    _logger.info("worker %d is ready", presence.worker_id)
    on_ready()
    _freeze()
    while True:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(presence.lost), _PRESENCE_SECONDS)
        if reported != embedders.loaded:
            reported = embedders.loaded
            presence.report_loaded(reported)
            _freeze()


def _freeze() -> None:
    """Exclude the objects that exist now from garbage collection, because they stay until the end.

    Modules and models are half a million objects. A collection that visits all of them stops all runs for some tenths
    of a second, and happens once in a few hundred model calls.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _share_arenas() -> None:
    """Let the threads share the memory that each of them has freed.

    The GNU C library has up to eight arenas for each core, and each keeps what was freed in it. More than one for each
    core are of no use, because no more threads compute at once.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_MOST_ARENAS, os.cpu_count() or 1)


def _check(dsn: str) -> str:
    require_own_sessions(dsn)
    with translated(), psycopg.connect(dsn, application_name="pgclarify worker") as connection:
        connection.execute(queries["pin_session"])
        return check_schema(connection)
