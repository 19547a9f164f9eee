"""The devices of models. There is no GPU here, so torch's answers about one are faked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.config import Device
from pgclarify.embedding import load_embedder
from pgclarify.embedding.batching import OutOfMemory
from pgclarify.embedding.cross_encoder import SentenceTransformerCrossEncoder
from pgclarify.embedding.devices import check_device, telling_out_of_memory
from pgclarify.embedding.loading import load_cross_encoder, load_model
from pgclarify.embedding.registry import Embedders
from pgclarify.embedding.sentence_transformers import _encode
from pgclarify.errors import ConfigurationError, EmbeddingError, EmbeddingUnavailable, ModelNotFound
from tests.unit.embedding.small_cross_encoder import save_cross_encoder
from tests.unit.embedding.small_model import save_small_model

SENTENCES = ["Tolls are charged to the renter.", "A deductible applies to hail.", "Who pays?"]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_small_model(tmp_path_factory.mktemp("model"))


def cuda_out_of_memory() -> Exception:
    # Only the process that runs this file imports torch. At the top, each process that collects tests would.
    import torch

    error: Exception = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    return error


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)


def test_a_device_that_is_not_there_is_an_error() -> None:
    for device in (Device.CUDA, Device.MPS):
        with pytest.raises(ConfigurationError) as caught:
            check_device(device)
        assert device in str(caught.value)
        assert caught.value.hint
    for device in (Device.AUTO, Device.CPU):
        check_device(device)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (cuda_out_of_memory, OutOfMemory),
        (lambda: RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)."), OutOfMemory),
        (lambda: RuntimeError("the sizes of tensors must match"), RuntimeError),
        (lambda: ValueError("out of memory"), ValueError),
    ],
)
def test_out_of_memory_is_told_from_other_errors(make: Callable[[], Exception], kind: type[Exception]) -> None:
    def compute(_: list[str]) -> NDArray[np.float32]:
        raise make()

    with pytest.raises(kind) as caught:
        telling_out_of_memory(compute)(["one", "two"])
    assert type(caught.value) is kind
    if kind is OutOfMemory:
        # So documents wait for memory, and are not marked as failed.
        assert isinstance(caught.value, EmbeddingUnavailable)
        assert caught.value.sqlstate == EmbeddingError.sqlstate
        assert "PGCLARIFY_DEVICE=cpu" in str(caught.value.hint)
        # Otherwise the frames of the context would keep the memory of the batch.
        assert caught.value.__context__ is None


def test_models_of_all_kinds_go_on_with_halves(small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def with_little_room(whole: Any) -> Any:
        def compute(self: Any, inputs: list[Any], **options: Any) -> Any:
            sizes.append(len(inputs))
            if len(inputs) > 2:
                raise cuda_out_of_memory()
            return whole(self, inputs, **options)

        return compute

    from sentence_transformers import CrossEncoder, SentenceTransformer

    embedder = load_embedder(small, device=Device.CPU)
    encoder = SentenceTransformerCrossEncoder(save_cross_encoder(tmp_path / "model"), device=Device.CPU)
    pairs = [("who pays", sentence) for sentence in SENTENCES]
    exact, scores = asyncio.run(embedder.encode(SENTENCES)), asyncio.run(encoder.relevance(pairs))
    monkeypatch.setattr(SentenceTransformer, "encode", with_little_room(SentenceTransformer.encode))
    monkeypatch.setattr(CrossEncoder, "predict", with_little_room(CrossEncoder.predict))
    assert asyncio.run(embedder.encode(SENTENCES)) == pytest.approx(exact, abs=1e-5)
    assert asyncio.run(encoder.relevance(pairs)) == pytest.approx(scores, abs=1e-5)
    embedder.close()
    encoder.close()
    assert sizes == [3, 2, 1, 3, 2, 1]


async def test_on_a_gpu_readings_are_embedded_as_all_else_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgclarify.embedding.registry.multiplies_int8", lambda: True)
    embedders = Embedders(device=Device.CUDA)
    # There is no GPU, so the model cannot be loaded. With 8-bit integers, it would be loaded on the CPU.
    with pytest.raises(EmbeddingError):
        await embedders.get_for_readings("all-MiniLM-L6-v2")
    embedders.close()


@pytest.mark.parametrize("load", [load_model, load_cross_encoder])
def test_a_model_without_room_is_not_called_missing(
    load: Callable[[str, Device], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def make(location: str, **_: object) -> None:
        tried.append(location)
        raise cuda_out_of_memory()

    for kind in ("SentenceTransformer", "CrossEncoder"):
        monkeypatch.setattr(f"sentence_transformers.{kind}", make)
    with pytest.raises(OutOfMemory) as caught:
        load("somebody/model", Device.CPU)
    # The model was found, so no other place is tried.
    assert tried == ["somebody/model"]
    # So the model is tried again at once. A missing model would be tried again after minutes.
    assert not isinstance(caught.value, ModelNotFound)
    # Otherwise the frames of the context would keep the memory of the model.
    assert caught.value.__context__ is None


def test_vectors_of_a_model_in_half_precision_have_unit_length(small: str) -> None:
    vectors = _encode(load_model(small, Device.CPU).half(), SENTENCES)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
