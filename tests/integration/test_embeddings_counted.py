"""The embeddings of this process are counted: also at its end, and later if budgets are locked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import pytest

from pgclarify.config import Provider, Settings
from pgclarify.corpora.embedders import open_embedders
from pgclarify.corpora.ingestion import Ingestion
from pgclarify.database.embedding_usage import try_to_count_embeddings
from pgclarify.database.endpoint_rates import EndpointRates
from pgclarify.database.pool import open_pool
from pgclarify.embedding.cross_encoder import CrossEncoders
from pgclarify.protocols import EmbeddingTally, PaidTexts, Payer
from pgclarify.worker import serving
from pgclarify.worker.language_models import open_language_models
from pgclarify.worker.monitor import Monitor
from pgclarify.worker.rerank_endpoint import open_rerank_endpoint
from tests.integration.by_hand import Connection

PAID: Sequence[PaidTexts] = [PaidTexts(Payer(), "endpoint:words-1", 2, 100)]


def counted(connection: Connection) -> list[tuple[object, ...]]:
    return connection.execute("select texts, tokens from pgclarify_private.embedding_usage").fetchall()


async def test_embeddings_are_counted_until_ingestion_is_closed(
    database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(provider=Provider.EXTRACTIVE)
    stopping = asyncio.Event()
    cross_encoders = CrossEncoders(device=settings.torch_device)
    async with (
        open_embedders(settings) as embedders,
        open_language_models(settings, embedders) as models,
        open_rerank_endpoint(settings) as at_endpoint,
    ):
        close = Ingestion.close

        async def answered_meanwhile(ingestion: Ingestion) -> None:
            embedders.tally.add(PAID)
            await close(ingestion)

        monkeypatch.setattr(Ingestion, "close", answered_meanwhile)
        world = serving._World(
            settings,
            database,
            serving._check(database),
            models,
            embedders,
            cross_encoders,
            at_endpoint,
            EndpointRates(),
            Monitor(),
        )
        await asyncio.wait_for(serving._serve(world, stopping, stopping.set, grace=10.0), 60)
    cross_encoders.close()
    assert counted(connection) == [(2, 100)]


async def test_while_budgets_are_locked_it_is_kept_and_a_warning_names_who_holds_them(
    database: str, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    tally = EmbeddingTally()
    tally.add(PAID)
    async with open_pool(database) as pool:
        with connection.transaction(), caplog.at_level(logging.WARNING):
            connection.execute("lock table pgclarify_private.budget_counter")
            await try_to_count_embeddings(pool, tally)
        assert f"process {connection.info.backend_pid}" in caplog.text
        assert counted(connection) == []
        await try_to_count_embeddings(pool, tally)
    assert counted(connection) == [(2, 100)]
    assert tally.take() == []
