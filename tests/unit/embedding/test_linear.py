from __future__ import annotations

from collections.abc import Iterator

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
