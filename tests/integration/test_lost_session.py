"""A worker that loses its session with the database is not ready from that moment on."""

from __future__ import annotations

import asyncio

import pytest

from pgclarify.config import Provider, Settings
from pgclarify.corpora.embedders import open_embedders
from pgclarify.database.endpoint_rates import EndpointRates
from pgclarify.embedding.cross_encoder import CrossEncoders
from pgclarify.errors import ServerUnavailable
from pgclarify.worker import serving
from pgclarify.worker.executor import RunExecutor
from pgclarify.worker.language_models import open_language_models
from pgclarify.worker.monitor import Monitor
from pgclarify.worker.rerank_endpoint import open_rerank_endpoint


class ReadyMonitor(Monitor):
    """Knows whether the worker is ready."""

    is_ready = True

    def note_ready(self, *, is_ready: bool) -> None:
        self.is_ready = is_ready


async def test_a_worker_is_not_ready_before_it_drops_its_runs(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, monitor = Settings(provider=Provider.EXTRACTIVE), ReadyMonitor()
    was_ready: list[bool] = []

    async def lose(*_: object) -> None:
        raise ServerUnavailable("the session is lost")

    monkeypatch.setattr(serving, "_be_present", lose)
    monkeypatch.setattr(RunExecutor, "drop_all", lambda _: was_ready.append(monitor.is_ready))
    cross_encoders = CrossEncoders(device=settings.torch_device)
    async with (
        open_embedders(settings) as embedders,
        open_language_models(settings, embedders) as models,
        open_rerank_endpoint(settings) as at_endpoint,
    ):
        rates = EndpointRates()
        world = serving._World(
            settings, database, serving._check(database), models, embedders, cross_encoders, at_endpoint, rates, monitor
        )
        with pytest.raises(ServerUnavailable):
            await asyncio.wait_for(serving._serve(world, asyncio.Event(), lambda: None, grace=10.0), 60)
    cross_encoders.close()
    assert was_ready == [False]
