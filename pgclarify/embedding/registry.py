"""Embedding models by name, each loaded once, off the event loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pgclarify.config import EmbeddingBackend
from pgclarify.embedding.sentence_transformers import SentenceTransformerEmbedder

_MOST_LOADING = 32


class Embedders:
    """The embedding models of a process.

    Args:
        backend: In what precision they compute on a CPU.
    """

    def __init__(self, backend: EmbeddingBackend = EmbeddingBackend.TORCH) -> None:
        self._make = partial(SentenceTransformerEmbedder, backend=backend)
        self._loading: dict[str, asyncio.Task[SentenceTransformerEmbedder]] = {}
        # Threads of their own: those of asyncio are few, and looking for a model can take a minute.
        self._threads = ThreadPoolExecutor(_MOST_LOADING, thread_name_prefix="loading")

    @property
    def loaded(self) -> list[str]:
        """Names of the models that are there, in alphabetical order."""
        return sorted(name for name, task in self._loading.items() if _is_loaded(task))

    async def get(self, model: str) -> SentenceTransformerEmbedder:
        """Load a model, or wait for whoever is loading it.

        Raises:
            EmbeddingError: If it cannot be loaded; asked again, it is tried again.
            ConfigurationError: If the backend cannot be used with it, or on this processor.
        """
        if model not in self._loading:
            self._loading[model] = asyncio.create_task(self._load(model))
        task = self._loading[model]
        try:
            return await asyncio.shield(task)
        except Exception:
            # Not what somebody else has begun since.
            if self._loading.get(model) is task:
                del self._loading[model]
            raise

    async def _load(self, model: str) -> SentenceTransformerEmbedder:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._make, model)

    def close(self) -> None:
        """Stop the models' threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for task in self._loading.values():
            if _is_loaded(task):
                task.result().close()


def _is_loaded(task: asyncio.Task[SentenceTransformerEmbedder]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
