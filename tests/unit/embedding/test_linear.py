from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from pgclarify.embedding.linear import use_onednn
from pgclarify.embedding.loading import load_model


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def small_model() -> torch.nn.Sequential:
    return torch.nn.Sequential(torch.nn.Linear(7, 13), torch.nn.GELU(), torch.nn.Linear(13, 5, bias=False))


def test_a_model_says_the_same_with_layers_of_another_kind() -> None:
    model = small_model()
    rows = torch.randn(2, 3, 7)
    with torch.inference_mode():
        before = model(rows)
        assert use_onednn(model) == 2
        assert not any(type(layer) is torch.nn.Linear for layer in model)
        torch.testing.assert_close(model(rows), before)


def test_layers_that_do_something_else_stay() -> None:
    class Doubled(torch.nn.Linear):
        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(rows)

    model = torch.nn.Sequential(Doubled(7, 13), torch.nn.Linear(13, 5).to(torch.bfloat16))
    layers = list(model)
    assert use_onednn(model) == 0
    assert list(model) == layers


def test_a_torch_without_the_operator_keeps_its_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.ops, "mkldnn", object())
    model = small_model()
    assert use_onednn(model) == 0
    assert model(torch.randn(1, 7)).shape == (1, 5)


def test_vectors_of_the_real_model_stay_what_they_are(one_thread: None) -> None:
    texts = ["How do I rent a car?", "", "Hiring a vehicle " * 40]
    model = load_model("all-MiniLM-L6-v2")
    before = model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    assert use_onednn(model) > 30
    np.testing.assert_allclose(
        model.encode(texts, normalize_embeddings=True, show_progress_bar=False), before, atol=1e-6
    )


def _kilobytes() -> int:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


def _growth_over_shapes() -> int:
    """Kilobytes that this process grows by over 500 shapes of input."""
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Linear(256, 64))
    use_onednn(model)
    with torch.inference_mode():
        model(torch.rand(1, 64))
        before = _kilobytes()
        for rows in range(2, 502):
            model(torch.rand(rows, 64))
    return _kilobytes() - before


def test_memory_does_not_grow_with_shapes_of_input() -> None:
    # A process of its own, since the bounds are read once in each. Without them it grows by over 500 MB.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_growth_over_shapes) < 100_000
