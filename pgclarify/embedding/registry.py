"""Embedding models by name, each loaded once, off the event loop."""

from __future__ import annotations

import asyncio

from pgclarify.embedding.sentence_transformers import SentenceTransformerEmbedder
from pgclarify.errors import EmbeddingError


class Embedders:
    """The embedding models of a process."""

    def __init__(self) -> None:
        self._loading: dict[str, asyncio.Task[SentenceTransformerEmbedder]] = {}

    @property
    def loaded(self) -> list[str]:
        """Names of the models that are there, in alphabetical order."""
        return sorted(name for name, task in self._loading.items() if _is_loaded(task))

    async def get(self, model: str) -> SentenceTransformerEmbedder:
        """Load a model, or wait for whoever is loading it.

        Raises:
            EmbeddingError: If it cannot be loaded; asked again, it is tried again.
        """
        if model not in self._loading:
            self._loading[model] = asyncio.create_task(asyncio.to_thread(SentenceTransformerEmbedder, model))
        try:
            return await asyncio.shield(self._loading[model])
        except EmbeddingError:
            self._loading.pop(model, None)
            raise

    def close(self) -> None:
        """Stop the models' threads."""
        for task in self._loading.values():
            if _is_loaded(task):
                task.result().close()


def _is_loaded(task: asyncio.Task[SentenceTransformerEmbedder]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
