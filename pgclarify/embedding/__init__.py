"""Embedding models. Importing this is cheap: torch is imported when a model is loaded."""

from __future__ import annotations

from pgclarify.config import EmbeddingBackend
from pgclarify.embedding.sentence_transformers import SentenceTransformerEmbedder

__all__ = ["SentenceTransformerEmbedder", "load_embedder"]


def load_embedder(
    model: str, *, threads: int | None = None, backend: EmbeddingBackend = EmbeddingBackend.TORCH
) -> SentenceTransformerEmbedder:
    """Load an embedding model. Takes seconds, so call it off the event loop, and close() the embedder in the end.

    Args:
        model: "all-MiniLM-L6-v2", another sentence-transformers name, or a local path.
        threads: CPU threads that the model computes with; None leaves that to torch.
        backend: In what precision it computes on a CPU.

    Raises:
        ModelNotFound: If there is no such model on this machine or where sentence-transformers looks.
        EmbeddingError: If the model is not what it should be.
        ConfigurationError: If threads is not positive, or the backend cannot be used with this model or processor.
    """
    return SentenceTransformerEmbedder(model, threads=threads, backend=backend)
