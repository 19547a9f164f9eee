"""Embedding models. Importing this is cheap: a library is imported when a model is loaded."""

from __future__ import annotations

from pgclarify.config import Device, EmbeddingBackend
from pgclarify.embedding.embedder import LocalEmbedder
from pgclarify.embedding.minilm import load_minilm, multiplies_int8
from pgclarify.embedding.packaged import PACKAGED, is_packaged, packaged_model
from pgclarify.embedding.sentence_transformers import load_sentence_transformer
from pgclarify.embedding.span_reader import LocalSpanReader
from pgclarify.errors import ConfigurationError, ModelNotFound

__all__ = ["LocalEmbedder", "LocalSpanReader", "load_embedder", "load_span_reader"]


def load_embedder(
    model: str,
    *,
    threads: int | None = None,
    backend: EmbeddingBackend = EmbeddingBackend.AUTO,
    device: Device = Device.AUTO,
) -> LocalEmbedder:
    """Load an embedding model. May take seconds, so call it off the event loop, and close() the embedder in the end.

    Args:
        model: "all-MiniLM-L6-v2", another sentence-transformers name, or a local path.
        threads: CPU threads that the model computes with; None leaves that to the library.
        backend: What computes it. AUTO is ONNX Runtime for all-MiniLM-L6-v2 where the package pgclarify-minilm is
            installed and no GPU is asked for, and PyTorch for others; INT8 is ONNX Runtime for that model in any case,
            in 8-bit integers.
        device: What PyTorch computes on.

    Raises:
        ModelNotFound: If there is no such model on this machine or where sentence-transformers looks.
        EmbeddingError: If the model is not what it should be.
        ConfigurationError: If threads is not positive, or the processor is not made for the backend.
    """
    _check_threads(threads)
    in_int8 = backend is EmbeddingBackend.INT8
    if in_int8 and not multiplies_int8():
        raise ConfigurationError(
            f"the embedding backend {backend} cannot be used",
            detail="The processor has none of the instructions for 8-bit integers: avx512_vnni, avx_vnni.",
            hint=f"Set PGCLARIFY_EMBEDDING_BACKEND={EmbeddingBackend.AUTO}, which runs everywhere.",
        )
    is_light = in_int8 or (backend is EmbeddingBackend.AUTO and device in (Device.AUTO, Device.CPU))
    folder = packaged_model(model) if is_light and is_packaged(model) else None
    if folder is not None:
        return LocalEmbedder(model, load_minilm(folder, threads=threads, in_int8=in_int8))
    return LocalEmbedder(model, load_sentence_transformer(model, threads=threads, device=device))


def load_span_reader(*, threads: int | None = None) -> LocalSpanReader:
    """Open the reader that comes with the packaged model; close() it in the end. Its network is loaded when it reads.

    Args:
        threads: CPU threads that it computes with; None for the embedding model's rule.

    Raises:
        ModelNotFound: If the package is not installed.
        EmbeddingError: If a file of it is not what it should be.
        ConfigurationError: If threads is not positive.
    """
    _check_threads(threads)
    folder = packaged_model(PACKAGED) if is_packaged(PACKAGED) else None
    if folder is None:
        raise ModelNotFound(
            "no reader of passages",
            detail="The package pgclarify-minilm, which has it, is not installed where the worker runs.",
            hint="Run there: pip install 'pgclarify[worker]'",
        )
    return LocalSpanReader(folder, threads=threads)


def _check_threads(threads: int | None) -> None:
    if threads is not None and threads < 1:
        raise ConfigurationError("threads must be at least 1", detail=f"threads is {threads}.")
