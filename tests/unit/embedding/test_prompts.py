"""Models with prefixes for questions and passages: each text gets the prefix that the authors define."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from pgclarify.embedding import LocalEmbedder, load_embedder
from tests.unit.embedding.small_model import save_small_model

pytestmark = pytest.mark.slow

PROMPTS = {"query": "query: ", "passage": "a passage: "}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalEmbedder, LocalEmbedder]]:
    """One model without prompts, and with them."""
    folder = Path(save_small_model(tmp_path_factory.mktemp("models")))
    with ExitStack() as stack:
        plain = load_embedder(str(folder))
        stack.callback(plain.close)
        config = folder / "config_sentence_transformers.json"
        # The library would use this prompt if we passed none.
        settings = {"prompts": {**PROMPTS, "sorting": "sort: "}, "default_prompt_name": "sorting"}
        config.write_text(json.dumps(json.loads(config.read_text()) | settings))
        prompted = load_embedder(str(folder))
        stack.callback(prompted.close)
        yield plain, prompted


async def test_a_question_is_told_from_a_passage(models: tuple[LocalEmbedder, LocalEmbedder]) -> None:
    plain, prompted = models
    expected = await plain.encode(["query: red cars", "a passage: red cars"])
    assert not np.allclose(expected[0], expected[1])
    assert np.allclose(await prompted.encode(["red cars"]), expected[:1], atol=1e-6)
    assert np.allclose(await prompted.encode(["red cars"], are_passages=True), expected[1:], atol=1e-6)
    assert np.array_equal(await plain.encode(["red cars"]), await plain.encode(["red cars"], are_passages=True))


def test_a_prompt_takes_room_from_the_text(models: tuple[LocalEmbedder, LocalEmbedder]) -> None:
    plain, prompted = models
    assert plain.max_tokens - prompted.max_tokens == len(plain.tokenizer.encode("a passage:", add_special_tokens=False))
