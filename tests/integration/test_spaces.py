"""A worker opens the spaces of corpora, and a failing model does not affect the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from pgclarify.database.pool import open_pool
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import ModelNotFound
from pgclarify.worker.spaces import Spaces
from tests.fakes import FakeEmbedder
from tests.sessions import Connection, scalar


class Models:
    """Some models that can be used, some that cannot, and one that loads for as long as the test wants."""

    def __init__(self) -> None:
        self.is_there = asyncio.Event()
        self.asked: list[str] = []

    def forget(self, model: str) -> None:
        """Keep nothing to forget."""

    async def get(self, model: str) -> FakeEmbedder:
        self.asked.append(model)
        if model == "odd":
            raise TypeError("its settings are not what they should be")
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
        async with asyncio.timeout(120):
            while found != expected:
                await spaces.open_new()
                await asyncio.sleep(0.01)
                rows = connection.execute(
                    "select model, state, error from pgclarify_private.embedding_space"
                ).fetchall()
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


async def test_an_odd_error_of_a_model_is_stored_and_not_retried_at_once(
    connection: Connection, spaces: Spaces, models: Models
) -> None:
    connection.execute("select pgclarify.create_corpus('odd', 'odd')")
    await until(connection, spaces, {"odd": ("building", "TypeError:")})
    for number in range(3):
        connection.execute("select pgclarify.create_corpus(%s, %s)", [f"good-{number}", f"good-{number}"])
        while scalar(connection, "select count(*) from pgclarify_private.corpus where embedding_space_id is null") > 1:
            await spaces.open_new()
            await asyncio.sleep(0.01)
    assert models.asked.count("odd") == 1


async def test_errors_do_not_tell_what_is_at_a_path(connection: Connection, database: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not a model")
    for corpus, path in (("file", secret), ("folder", tmp_path), ("nothing", tmp_path / "none")):
        connection.execute("select pgclarify.create_corpus(%s, %s)", [corpus, str(path)])
    embedders = Embedders()
    async with open_pool(database) as pool:
        opened = Spaces(pool, embedders)
        async with asyncio.timeout(300):
            while scalar(connection, "select count(*) from pgclarify_private.embedding_space where error is null"):
                await opened.open_new()
                await asyncio.sleep(0.01)
        await opened.close()
    embedders.close()
    texts = connection.execute(
        "select distinct replace(error, model, 'it') from pgclarify_private.embedding_space"
    ).fetchall()
    assert len(texts) == 1
    assert texts[0][0].startswith("no embedding model it: ")


async def test_a_corpus_that_is_being_dropped_does_not_delay_other_spaces(
    connection: Connection, spaces: Spaces
) -> None:
    for corpus in ("dropped", "kept"):
        connection.execute("select pgclarify.create_corpus(%s, %s)", [corpus, "good"])
    with connection.transaction():
        connection.execute("select pgclarify.drop_corpus('dropped')")
        await until(connection, spaces, {"good": ("active", None)})
