"""Following attached tables: what the worker reports."""

from __future__ import annotations

import logging
from typing import Any, cast

import pytest

from pgclarify.database.pool import Pool
from pgclarify.errors import DatabaseBusy
from pgclarify.worker import sources
from pgclarify.worker.sources import Sources


async def test_a_batch_that_was_ended_is_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    detail = "It was ended after 90 seconds."

    async def list_waiting(pool: Pool, name: str) -> list[dict[str, Any]]:
        assert name == "waiting_sources"
        return [{"source_id": 4711, "work": "removal"}]

    async def take_too_long(name: str, **parameters: object) -> None:
        raise DatabaseBusy("it took too long", detail=detail)

    monkeypatch.setattr(sources, "fetch", list_waiting)
    followed = Sources("", cast("Pool", None))
    monkeypatch.setattr(followed._session, "fetch", take_too_long)

    with caplog.at_level(logging.WARNING):
        await followed.follow()

    (record,) = caplog.records
    assert {"removal", 4711} <= set(record.args or ())
    assert detail in record.getMessage()
