"""The backends of lower precision, with the real model, on sentences of this project's own pages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pgclarify.config import EmbeddingBackend, Settings
from pgclarify.embedding import LocalEmbedder, load_embedder
from pgclarify.embedding.linear import runs_here, use_onednn
from pgclarify.embedding.loading import load_model
from pgclarify.embedding.registry import Embedders
from pgclarify.errors import ConfigurationError
from tests.pages import CHECKOUT

MODEL = "all-MiniLM-L6-v2"
# Lowest cosine with the vector of float32 that a text may have. Company in a batch changes the last bit of a sum, which
# rounding then makes larger, but not as large as that.
LEAST_SIMILARITY = {EmbeddingBackend.BFLOAT16: 0.9998, EmbeddingBackend.INT8: 0.98}
LEAST_SIMILARITY_IN_COMPANY = {EmbeddingBackend.BFLOAT16: 0.9999, EmbeddingBackend.INT8: 0.995}
# A processor that lacks one is told so, which test_a_processor_without_the_instructions_is_told checks everywhere.
FAST = [backend for backend in LEAST_SIMILARITY if runs_here(backend)]


def sentences() -> list[str]:
    """At most two hundred sentences of people, short and long."""
    text = (CHECKOUT / "docs" / "settings.md").read_text() + (CHECKOUT / "docs" / "operations.md").read_text()
    found = [" ".join(sentence.split()) for sentence in re.split(r"(?<=[.:])\s", text)]
    return sorted(set(filter(None, found)))[:200]


@pytest.fixture(scope="module")
def exact() -> NDArray[np.float32]:
    vectors = load_model(MODEL).encode(sentences(), normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(vectors, dtype=np.float32)


@pytest.fixture(scope="module", params=FAST)
def fast(request: pytest.FixtureRequest) -> Iterator[tuple[EmbeddingBackend, LocalEmbedder]]:
    embedder = load_embedder(MODEL, threads=1, backend=request.param)
    yield request.param, embedder
    embedder.close()


async def test_vectors_are_close_to_those_of_float32(
    fast: tuple[EmbeddingBackend, LocalEmbedder], exact: NDArray[np.float32]
) -> None:
    backend, embedder = fast
    vectors = await embedder.encode(sentences())
    similarities = (vectors * exact).sum(axis=1)
    assert similarities.min() > LEAST_SIMILARITY[backend]
    # It is another precision: were it float32 after all, this would be 1e-6.
    assert similarities.min() < 1 - 1e-5


async def test_company_in_a_batch_hardly_changes_a_vector(
    fast: tuple[EmbeddingBackend, LocalEmbedder],
) -> None:
    backend, embedder = fast
    texts = sentences()[:40]
    together, *alone = await asyncio.gather(embedder.encode(texts), *(embedder.encode([text]) for text in texts))
    similarities = (together * np.concatenate(alone)).sum(axis=1)
    assert similarities.min() > LEAST_SIMILARITY_IN_COMPANY[backend]


async def test_odd_texts_have_vectors(fast: tuple[EmbeddingBackend, LocalEmbedder]) -> None:
    _, embedder = fast
    assert (await embedder.encode([])).shape == (0, 384)
    texts = ["", "word " * 100_000, "\0", "日本語 👩👩👧 Å\u0301 \u202eright to left", "\ufffd" * 300, " \n\t"]
    vectors = await embedder.encode(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), np.ones(len(texts)), atol=1e-5)


@pytest.mark.parametrize("backend", FAST)
def test_layers_of_all_forms_are_computed(backend: EmbeddingBackend) -> None:
    generator = torch.Generator().manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 40), torch.nn.GELU(), torch.nn.Linear(40, 24, bias=False))
    rows = torch.randn(3, 64, 5, generator=generator).transpose(1, 2)
    rows[0, 0] = 0
    with torch.inference_mode():
        expected = model(rows)
        assert use_onednn(model, backend) == 2
        error = (model(rows) - expected).abs().max() / expected.abs().max()
    assert 1e-6 < error < 0.05


@pytest.mark.parametrize("backend", FAST)
def test_layers_that_do_something_else_stay(backend: EmbeddingBackend) -> None:
    class Doubled(torch.nn.Linear):
        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(rows)

    model = torch.nn.Sequential(Doubled(7, 13), torch.nn.Linear(13, 5))
    layer = model[0]
    assert use_onednn(model, backend) == 1
    assert model[0] is layer


@pytest.mark.parametrize("backend", FAST)
def test_what_is_not_a_number_does_not_pass_for_one(backend: EmbeddingBackend) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(16, 8))
    use_onednn(model, backend)
    rows = torch.ones(2, 16)
    rows[1, 3] = torch.nan
    with torch.inference_mode():
        result = model(rows)
    assert torch.isfinite(result[0]).all()
    assert torch.isnan(result[1]).all()


@pytest.mark.parametrize("backend", FAST)
def test_layers_of_another_precision_stay(backend: EmbeddingBackend) -> None:
    layer = torch.nn.Linear(16, 8).double()
    model = torch.nn.Sequential(layer, torch.nn.Linear(16, 8))
    assert use_onednn(model, backend) == 1
    assert model[0] is layer


@pytest.mark.parametrize("backend", LEAST_SIMILARITY)
def test_a_processor_without_the_instructions_is_told(
    backend: EmbeddingBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: MappingProxyType({"avx2": True}))
    layer = torch.nn.Linear(16, 8)
    model = torch.nn.Sequential(layer)
    with pytest.raises(ConfigurationError) as caught:
        use_onednn(model, backend)
    assert caught.value.hint and "PGCLARIFY_EMBEDDING_BACKEND" in caught.value.hint
    assert model[0] is layer


@pytest.mark.parametrize("backend", FAST)
def test_a_model_without_linear_layers_is_refused(backend: EmbeddingBackend) -> None:
    with pytest.raises(ConfigurationError):
        use_onednn(torch.nn.Sequential(torch.nn.GELU()), backend)


@pytest.mark.parametrize("backend", FAST)
def test_a_torch_without_the_operators_is_named(backend: EmbeddingBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.ops, "mkldnn", object())
    monkeypatch.setattr(torch.ops, "onednn", object())
    with pytest.raises(ConfigurationError) as caught:
        use_onednn(torch.nn.Sequential(torch.nn.Linear(16, 8)), backend)
    assert caught.value.detail


@pytest.mark.parametrize("backend", FAST)
async def test_models_of_a_process_compute_as_it_is_set(
    backend: EmbeddingBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLARIFY_EMBEDDING_BACKEND", backend)
    embedders = Embedders(Settings().embedding_backend)
    plain = Embedders()
    text = ["How do I rent a car?"]
    try:
        set_so, not_set = [await (await each.get(MODEL)).encode(text) for each in (embedders, plain)]
    finally:
        embedders.close()
        plain.close()
    assert 1e-5 < np.abs(set_so - not_set).max() < 0.05
