"""Spaces of corpora are opened by a worker, each model's beside those of the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import pytest

from pgclarify.database import open_pool
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import ModelNotFound
from pgclarify.testing import FakeEmbedder
from pgclarify.worker.spaces import Spaces
from tests.integration.by_hand import Connection


class Models:
    """Some that can be used, some that cannot, and one that takes as long as the test wants."""

    def __init__(self) -> None:
        self.is_there = asyncio.Event()

    async def get(self, model: str) -> FakeEmbedder:
        if model == "none":
            raise ModelNotFound("no such model")
        if model == "slow":
            await self.is_there.wait()
        return FakeEmbedder(
            model=model, dimensions=4001 if model == "wide" else 8, max_tokens=16 if model == "small" else 256
        )


@pytest.fixture
def models() -> Models:
    return Models()


@pytest.fixture
async def spaces(database: str, models: Models) -> AsyncIterator[Spaces]:
    async with open_pool(database) as pool:
        opened = Spaces(pool, cast("Embedders", models))
        yield opened
        await opened.close()


async def until(connection: Connection, spaces: Spaces, expected: dict[str, tuple[str, str | None]]) -> None:
    """Return when models, states and the first words of errors are as expected."""
    found: dict[str, tuple[str, str | None]] = {}
    try:
        async with asyncio.timeout(20):
            while found != expected:
                await spaces.open_new()
                await asyncio.sleep(0.01)
                rows = connection.execute("select model, state, error from pgclarify.embedding_space").fetchall()
                found = {model: (state, error and error.split(" ", 1)[0]) for model, state, error in rows}
    except TimeoutError:
        assert found == expected


async def test_each_is_opened_or_told_why_not(connection: Connection, spaces: Spaces, models: Models) -> None:
    for model in ("none", "slow", "wide", "small", "good"):
        connection.execute("select pgclarify.create_corpus(%s, %s)", [model, model])
    expected: dict[str, tuple[str, str | None]] = {
        "none": ("building", "no"),
        "slow": ("building", None),
        "wide": ("building", "new"),
        "small": ("building", "the"),
        "good": ("active", None),
    }
    await until(connection, spaces, expected)

    connection.execute("select pgclarify.create_corpus('later', 'other')")
    await until(connection, spaces, expected | {"other": ("active", None)})
    models.is_there.set()
    await until(connection, spaces, expected | {"other": ("active", None), "slow": ("active", None)})


async def test_one_whose_corpus_is_being_dropped_holds_up_no_other(connection: Connection, spaces: Spaces) -> None:
    for corpus in ("dropped", "kept"):
        connection.execute("select pgclarify.create_corpus(%s, %s)", [corpus, "good"])
    with connection.transaction():
        connection.execute("select pgclarify.drop_corpus('dropped')")
        await until(connection, spaces, {"good": ("active", None)})
