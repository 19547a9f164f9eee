"""Embedding models by name, each loaded once, off the event loop; a few of them stay."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from weakref import WeakValueDictionary

from pgclarify.config import EmbeddingBackend
from pgclarify.embedding.sentence_transformers import SentenceTransformerEmbedder

_MOST_LOADING = 32
# Some 100 MB each, or more. Whoever may create a corpus names its model: he must not fill the memory of all workers.
_MOST_LOADED = 4


class Embedders:
    """The embedding models of a process.

    Args:
        backend: In what precision they compute on a CPU.
        most_loaded: How many stay when nobody uses them, those that were asked for last.
    """

    def __init__(self, backend: EmbeddingBackend = EmbeddingBackend.TORCH, *, most_loaded: int = _MOST_LOADED) -> None:
        self._make = partial(SentenceTransformerEmbedder, backend=backend)
        self._most_loaded = most_loaded
        self._loading: dict[str, asyncio.Task[SentenceTransformerEmbedder]] = {}
        # The one that was asked for last comes last.
        self._loaded: dict[str, SentenceTransformerEmbedder] = {}
        # Those that somebody may still be using: not closed, and not loaded twice.
        self._leaving: WeakValueDictionary[str, SentenceTransformerEmbedder] = WeakValueDictionary()
        # Threads of their own: those of asyncio are few, and looking for a model can take a minute.
        self._threads = ThreadPoolExecutor(_MOST_LOADING, thread_name_prefix="loading")

    @property
    def loaded(self) -> list[str]:
        """Names of the models that are there, in alphabetical order."""
        return sorted(self._loaded)

    async def get(self, model: str) -> SentenceTransformerEmbedder:
        """Load a model, or wait for whoever is loading it.

        It stays usable for as long as the caller keeps it, also if others have taken its place by then.

        Raises:
            EmbeddingError: If it cannot be loaded; asked again, it is tried again.
            ConfigurationError: If the backend cannot be used with it, or on this processor.
        """
        embedder = self._loaded.get(model) or self._leaving.get(model)
        if embedder is not None:
            self._keep(model, embedder)
            return embedder
        if model not in self._loading:
            self._loading[model] = asyncio.create_task(self._load(model))
        return await asyncio.shield(self._loading[model])

    async def _load(self, model: str) -> SentenceTransformerEmbedder:
        try:
            embedder = await asyncio.get_running_loop().run_in_executor(self._threads, self._load_now, model)
            self._keep(model, embedder)
            return embedder
        finally:
            del self._loading[model]

    def _load_now(self, model: str) -> SentenceTransformerEmbedder:
        if self._leaving:
            # They refer to themselves: without this, their memory could be free much later.
            gc.collect()
        return self._make(model)

    def _keep(self, model: str, embedder: SentenceTransformerEmbedder) -> None:
        self._loaded.pop(model, None)
        self._loaded[model] = embedder
        while len(self._loaded) > self._most_loaded:
            oldest = next(iter(self._loaded))
            self._leaving[oldest] = self._loaded.pop(oldest)

    def close(self) -> None:
        """Stop the models' threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for embedder in (*self._loaded.values(), *self._leaving.values()):
            embedder.close()
