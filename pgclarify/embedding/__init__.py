"""Embedding models. This import is cheap: a library is imported when a model is loaded."""

from __future__ import annotations

from pgclarify.config import Device
from pgclarify.embedding.embedder import LocalEmbedder
from pgclarify.embedding.minilm import load_minilm, multiplies_int8
from pgclarify.embedding.packaged import PACKAGED, is_packaged, packaged_model
from pgclarify.embedding.sentence_transformers import load_sentence_transformer
from pgclarify.embedding.span_reader import LocalSpanReader
from pgclarify.errors import ConfigurationError, ModelNotFound

__all__ = ["LocalEmbedder", "LocalSpanReader", "load_embedder", "load_span_reader"]


def load_embedder(model: str, *, device: Device = Device.AUTO) -> LocalEmbedder:
    """Load an embedding model, which may take seconds: not in the event loop. Call close() on it at the end.

    Args:
        model: "all-MiniLM-L6-v2", another sentence-transformers name, or a local path.
        device: What computes, as in the settings. AUTO is ONNX Runtime for all-MiniLM-L6-v2 if the package
            pgclarify-minilm is installed, else PyTorch. INT8 is ONNX Runtime in 8-bit integers for that model.

    Raises:
        ModelNotFound: If the model is neither on this machine nor where sentence-transformers looks for it.
        EmbeddingError: If the model's files are wrong.
        ConfigurationError: If the processor does not support the device.
    """
    in_int8 = device is Device.INT8
    if in_int8 and not multiplies_int8():
        raise ConfigurationError(
            f"the device {device} cannot be used",
            detail="The processor lacks the instructions for 8-bit integers, avx512_vnni or avx_vnni.",
            hint=f"Set PGCLARIFY_DEVICE={Device.AUTO}, which works on all processors.",
        )
    is_light = device in (Device.AUTO, Device.INT8)
    folder = packaged_model(model) if is_light and is_packaged(model) else None
    if folder is not None:
        return LocalEmbedder(model, load_minilm(folder, in_int8=in_int8))
    on = Device.AUTO if in_int8 else device
    return LocalEmbedder(model, load_sentence_transformer(model, device=on))


def load_span_reader() -> LocalSpanReader:
    """Open the trained reader of the package. Call close() on it at the end. Its network is loaded on first use.

    Raises:
        ModelNotFound: If the package is not installed.
        EmbeddingError: If one of its files is wrong.
    """
    folder = packaged_model(PACKAGED) if is_packaged(PACKAGED) else None
    if folder is None:
        raise ModelNotFound(
            "the reader of passages is not installed",
            detail="It is part of the package pgclarify-minilm, which the worker or the command eval does not find.",
            hint="Run where it is missing: pip install 'pgclarify[worker]'",
        )
    return LocalSpanReader(folder, in_int8=multiplies_int8())
