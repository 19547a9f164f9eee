"""The real model, from its package, on ONNX Runtime and on PyTorch."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.config import Device
from pgclarify.embedding import LocalEmbedder, load_embedder
from pgclarify.embedding.embedder import LoadedModel
from pgclarify.embedding.packaged import verify_sha256
from pgclarify.errors import DimensionMismatch, EmbeddingError, ModelNotFound

pytestmark = pytest.mark.slow


TEXTS = ["How do I rent a car?", "word " * 500, "Hiring a vehicle", "", "The cat sat on the mat.", "Straße 漢字 😀"]


@pytest.fixture(scope="module", params=[Device.AUTO, Device.CPU])
def embedder(request: pytest.FixtureRequest) -> Iterator[LocalEmbedder]:
    embedder = load_embedder("all-MiniLM-L6-v2", device=request.param)
    yield embedder
    embedder.close()


def test_the_packaged_model_needs_no_pytorch() -> None:
    code = """
import sys
sys.modules["torch"] = sys.modules["sentence_transformers"] = sys.modules["transformers"] = None
from pgclarify.embedding import load_embedder
print(load_embedder("all-MiniLM-L6-v2").dimensions)
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["384"]


async def test_both_libraries_give_the_same_vectors() -> None:
    light, torch = (load_embedder("all-MiniLM-L6-v2", device=each) for each in (Device.AUTO, Device.CPU))
    np.testing.assert_allclose(await light.encode(TEXTS), await torch.encode(TEXTS), atol=1e-5)
    light.close()
    torch.close()


def test_an_unknown_model_without_the_library_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.embedding.loading.find_spec", lambda _: None)
    with pytest.raises(ModelNotFound) as caught:
        load_embedder("some-other-model")
    assert "pgclarify[torch]" in str(caught.value.hint)


async def test_vectors_are_unit_rows_in_the_order_of_texts(embedder: LocalEmbedder) -> None:
    vectors = await embedder.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (6, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[2] > 0.5 > vectors[0] @ vectors[4]


async def test_company_in_a_batch_does_not_change_a_vector(embedder: LocalEmbedder) -> None:
    texts = [f"Text number {number} " + "and so on " * number for number in range(12)]
    together, *alone = await asyncio.gather(embedder.encode(texts), *(embedder.encode([text]) for text in texts))
    np.testing.assert_allclose(together, np.concatenate(alone), atol=1e-5)


@pytest.mark.parametrize(
    ("vectors", "error"),
    [
        (np.ones((1, 3), np.float32), DimensionMismatch),
        (np.ones((2, 2), np.float32), DimensionMismatch),
        (np.ones((1, 1), np.float32), DimensionMismatch),
        (np.array([[np.nan, 1]], np.float32), EmbeddingError),
        (np.array([[np.inf, 1]], np.float32), EmbeddingError),
        (np.zeros((1, 2), np.float32), EmbeddingError),
    ],
)
async def test_vectors_of_another_shape_or_without_a_direction_are_errors(
    vectors: NDArray[np.float32], error: type[Exception]
) -> None:
    tokenizer = cast("Any", None)
    broken = LocalEmbedder("odd", LoadedModel(lambda _: vectors, tokenizer, dimensions=2, max_tokens=9))
    with pytest.raises(error):
        await broken.encode(["one"])
    assert (await broken.encode([])).shape == (0, 2)
    broken.close()


def test_missing_model_is_named(tmp_path: Path) -> None:
    tmp_path.joinpath("empty").mkdir()
    with pytest.raises(ModelNotFound) as caught:
        load_embedder(str(tmp_path / "empty"))
    assert str(tmp_path / "empty") in caught.value.message
    assert caught.value.hint


def test_file_that_is_not_the_published_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"abc")
    verify_sha256(path, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    with pytest.raises(EmbeddingError):
        verify_sha256(path, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db")
    with pytest.raises(EmbeddingError):
        verify_sha256(tmp_path / "missing", "")


async def test_closed_model_refuses() -> None:
    embedder = load_embedder("sentence-transformers/all-MiniLM-L6-v2")
    embedder.close()
    embedder.close()
    with pytest.raises(EmbeddingError):
        await embedder.encode(["text"])
