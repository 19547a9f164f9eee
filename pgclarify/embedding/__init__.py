"""Embedding models. Importing this is cheap: a library is imported when a model is loaded."""

from __future__ import annotations

from importlib.util import find_spec

from pgclarify.config import EmbeddingBackend
from pgclarify.embedding.embedder import LocalEmbedder
from pgclarify.embedding.minilm import load_minilm
from pgclarify.embedding.packaged import PACKAGED, packaged_model
from pgclarify.embedding.sentence_transformers import load_sentence_transformer
from pgclarify.embedding.span_reader import LocalSpanReader
from pgclarify.errors import ConfigurationError, ModelNotFound

__all__ = ["LocalEmbedder", "LocalSpanReader", "load_embedder", "load_span_reader"]


def load_embedder(
    model: str, *, threads: int | None = None, backend: EmbeddingBackend = EmbeddingBackend.AUTO
) -> LocalEmbedder:
    """Load an embedding model. May take seconds, so call it off the event loop, and close() the embedder in the end.

    Args:
        model: "all-MiniLM-L6-v2", another sentence-transformers name, or a local path.
        threads: CPU threads that the model computes with; None leaves that to the library.
        backend: What computes it, and in what precision. AUTO is ONNX Runtime for all-MiniLM-L6-v2 where the package
            pgclarify-minilm is installed, and PyTorch for others.

    Raises:
        ModelNotFound: If there is no such model on this machine or where sentence-transformers looks.
        EmbeddingError: If the model is not what it should be.
        ConfigurationError: If threads is not positive, or the backend cannot be used with this model or processor.
    """
    _check_threads(threads)
    folder = packaged_model(model) if backend is EmbeddingBackend.AUTO and find_spec("onnxruntime") else None
    if folder is not None:
        return LocalEmbedder(model, load_minilm(folder, threads=threads))
    return LocalEmbedder(model, load_sentence_transformer(model, threads=threads, backend=backend))


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
    folder = packaged_model(PACKAGED) if find_spec("onnxruntime") else None
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
