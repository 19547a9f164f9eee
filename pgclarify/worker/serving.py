"""A worker's life: what it opens, what it does beside its runs, and how it ends."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import psycopg

from pgclarify import __version__
from pgclarify.config import Provider, Settings
from pgclarify.database import Documents, EmbeddingSpaces, Presence, Runs, open_pool, translated
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import ConfigurationError, DatabaseBusy, ServerUnavailable
from pgclarify.install import check_schema
from pgclarify.jobs import Queue, open_queue
from pgclarify.pipelines.ingestion import Ingestion
from pgclarify.pipelines.reembedding import Reembedding
from pgclarify.protocols import Verifier
from pgclarify.worker.chores import count_terms, drop_orphans, every, fold_tallies, ingest, reembed, rescue
from pgclarify.worker.graph import link
from pgclarify.worker.hand import Hand
from pgclarify.worker.sources import Sources
from pgclarify.worker.spaces import Spaces

_logger = logging.getLogger(__name__)

# Looking whether there is work costs next to nothing, and people wait for it.
_WORK_SECONDS = 0.3
_COUNTING_SECONDS = 0.5
_WATCH_SECONDS = 0.5
_RESCUE_SECONDS = 2.0
_PRESENCE_SECONDS = 2.0
_RECONNECT_SECONDS = 2.0
_UPKEEP_SECONDS = 5.0
_LINK_SECONDS = 0.5
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
    embedders = Embedders(settings.embedding_backend)
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
        hand = Hand(Runs(pool, presence.worker_id), verifier, embedders)
        # Half as many runs as calls: some of them always wait for the database or an embedding.
        concurrency = max(8, settings.llm_concurrency // 2)
        queue = await stack.enter_async_context(open_queue(dsn, hand.carry_out, concurrency=concurrency))
        ingestion = Ingestion(Documents(pool, presence.worker_id), embedders.get, max_chars=_MOST_CHARS_A_CLAIM)
        stack.push_async_callback(ingestion.close)
        reembedding = Reembedding(EmbeddingSpaces(pool, presence.worker_id), embedders.get)
        stack.push_async_callback(reembedding.close)
        turn = asyncio.Lock()
        spaces = Spaces(pool, embedders)
        stack.push_async_callback(spaces.close)
        sources = Sources(pool)
        chores = [
            asyncio.create_task(work, name=name)
            for name, work in (
                ("presence", _be_present(presence, queue, embedders, on_ready)),
                ("watch", every(_WATCH_SECONDS, hand.drop_lost_runs)),
                ("rescue", every(_RESCUE_SECONDS, lambda: rescue(pool))),
                ("spaces", every(_WORK_SECONDS, spaces.open_new)),
                ("ingestion", every(_WORK_SECONDS, lambda: ingest(ingestion, turn))),
                ("terms", every(_COUNTING_SECONDS, lambda: count_terms(pool))),
                ("tallies", every(_COUNTING_SECONDS, lambda: fold_tallies(pool))),
                ("advancing", every(_WORK_SECONDS, spaces.advance)),
                ("reembedding", every(_WORK_SECONDS, lambda: reembed(reembedding, turn))),
                ("sources", every(_WORK_SECONDS, sources.follow)),
                ("inspection", every(_UPKEEP_SECONDS, sources.inspect)),
                ("triggers", every(_UPKEEP_SECONDS, lambda: drop_orphans(pool, "drop_orphan_capture"))),
                ("graph", every(_LINK_SECONDS, lambda: link(pool))),
                ("partitions", every(_UPKEEP_SECONDS, lambda: drop_orphans(pool, "drop_orphan_partition"))),
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


def _check(dsn: str) -> None:
    with translated(), psycopg.connect(dsn, application_name="pgclarify worker") as connection:
        check_schema(connection)


def _warm_up() -> None:
    """Import what the first run would otherwise wait a second for."""
    import hdbscan  # noqa: F401
