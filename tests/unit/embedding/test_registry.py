"""A process keeps a few models, and unloads no model that is in use."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgclarify.embedding import LocalEmbedder
from pgclarify.embedding.registry import Embedders, Registry
from pgclarify.errors import ModelNotFound
from tests.unit.embedding.small_model import save_small_model

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Paths of one model under four names, in alphabetical order."""
    folder = tmp_path_factory.mktemp("models")
    small = save_small_model(folder)
    return [shutil.copytree(small, str(folder / f"{number}")) for number in range(4)]


@pytest.fixture
def embedders() -> Iterator[Embedders]:
    """That keep two."""
    opened = Embedders(most_loaded=2)
    yield opened
    opened.close()


async def test_those_asked_for_last_stay(embedders: Embedders, paths: list[str]) -> None:
    for number in (0, 1, 0, 2):
        await embedders.get(paths[number])
    assert embedders.loaded == [paths[0], paths[2]]


async def test_a_model_in_use_is_not_unloaded_or_loaded_again(embedders: Embedders, paths: list[str]) -> None:
    first = await embedders.get(paths[0])
    for path in paths[1:]:
        await embedders.get(path)
    assert embedders.loaded == paths[2:]
    gc.collect()
    assert (await first.encode(["Cars."])).shape == (1, 24)
    assert await embedders.get(paths[0]) is first
    assert embedders.loaded == [paths[0], paths[3]]


async def test_an_unused_model_is_freed_when_another_is_loaded(embedders: Embedders, paths: list[str]) -> None:
    gc.disable()
    try:
        for path in paths:
            await (await embedders.get(path)).encode(["Cars."])
    finally:
        gc.enable()
    assert paths[0] not in embedders._leaving


async def test_a_model_that_failed_to_load_is_tried_again(
    embedders: Embedders, paths: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "later"
    for _ in range(2):
        with pytest.raises(ModelNotFound):
            await embedders.get(str(path))
    shutil.copytree(paths[0], path)
    await embedders.get(str(path))
    assert embedders.loaded == [str(path)]


async def test_a_name_that_was_not_found_is_not_looked_for_again_at_once() -> None:
    asked: list[str] = []

    def look_for(model: str) -> LocalEmbedder:
        asked.append(model)
        raise ModelNotFound(f"no {model}", detail="There is none.")

    registry = Registry(look_for, most_loaded=1, retry_after=300)
    try:
        for model in ("one", "one", "other"):
            with pytest.raises(ModelNotFound, match=f"no {model}") as caught:
                await registry.get(model)
            assert caught.value.detail == "There is none."
        assert asked == ["one", "other"]
    finally:
        registry.close()
