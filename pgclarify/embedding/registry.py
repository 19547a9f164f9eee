"""Models by name, each loaded once, off the event loop; a few of them stay."""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

from pgclarify.config import Device, EmbeddingBackend
from pgclarify.embedding import load_embedder
from pgclarify.embedding.minilm import multiplies_int8
from pgclarify.embedding.packaged import is_packaged
from pgclarify.errors import EmbeddingError, ModelNotFound
from pgclarify.protocols import Embedder, EmbeddingTally
from pgclarify.vocabulary import AT_ENDPOINT

_logger = logging.getLogger(__name__)
_MOST_LOADING = 32
# Some 100 MB each, or more. Whoever may create a corpus names its model: he must not fill the memory of all workers.
_MOST_LOADED = 4
# Whoever may ask names models: what is kept of wrong names must not grow without end.
_MOST_MISSED = 1000


class _Closable(Protocol):
    def close(self) -> None:
        """Stop the model's thread."""


_Model = TypeVar("_Model", bound=_Closable)


class Registry(Generic[_Model]):
    """Models of one kind.

    Args:
        make: Loads the model of a name; called in a thread.
        most_loaded: How many stay when nobody uses them, those that were asked for last.
        most_loading: How many are loaded at once; others wait.
        most_leaving: With how many beside those that stay in use, no further one is loaded; None for no limit.
        retry_after: Seconds for which a model that was not found is not looked for again. The library's search goes on
            for most of a minute where it cannot reach its hub.
    """

    def __init__(
        self,
        make: Callable[[str], _Model],
        *,
        most_loaded: int,
        most_loading: int = _MOST_LOADING,
        most_leaving: int | None = None,
        retry_after: float = 0.0,
    ) -> None:
        self._make = make
        self._most_loaded = most_loaded
        self._most_leaving = most_leaving
        self._retry_after = retry_after
        # Of each name that was not found, when that was, and what was wrong; the last one comes last.
        self._missed: dict[str, tuple[float, ModelNotFound]] = {}
        self._loading: dict[str, asyncio.Task[_Model]] = {}
        # The one that was asked for last comes last.
        self._loaded: dict[str, _Model] = {}
        # Those that somebody may still be using: not closed, and not loaded twice.
        self._leaving: WeakValueDictionary[str, _Model] = WeakValueDictionary()
        # Threads of their own: those of asyncio are few, and looking for a model can take a minute.
        self._threads = ThreadPoolExecutor(most_loading, thread_name_prefix="loading")

    @property
    def loaded(self) -> list[str]:
        """Names of the models that are there, in alphabetical order."""
        return sorted(self._loaded)

    async def get(self, model: str) -> _Model:
        """Load a model, or wait for whoever is loading it.

        It stays usable for as long as the caller keeps it, also if others have taken its place by then.

        Raises:
            EmbeddingError: If it cannot be loaded, or too many others are in use. Asked again, it is tried again,
                after a while if it was not found.
            ConfigurationError: If it cannot be used on this processor.
        """
        loaded = self._loaded.get(model) or self._leaving.get(model)
        if loaded is not None:
            self._keep(model, loaded)
            return loaded
        self._refuse_missed(model)
        if model not in self._loading:
            self._loading[model] = asyncio.create_task(self._load(model))
        return await asyncio.shield(self._loading[model])

    async def _load(self, model: str) -> _Model:
        try:
            loaded = await self._load_anew(model)
            self._keep(model, loaded)
            return loaded
        except ModelNotFound as error:
            self._missed.pop(model, None)
            self._missed[model] = (time.monotonic(), error)
            while len(self._missed) > _MOST_MISSED:
                del self._missed[next(iter(self._missed))]
            raise
        finally:
            del self._loading[model]

    async def _load_anew(self, model: str) -> _Model:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._load_now, model)

    def _refuse_missed(self, model: str) -> None:
        missed_at, error = self._missed.get(model, (-math.inf, None))
        if error is not None and time.monotonic() - missed_at < self._retry_after:
            # A new one: what is raised again grows longer by its traceback.
            raise ModelNotFound(error.message, detail=error.detail, hint=error.hint)

    def _load_now(self, model: str) -> _Model:
        if self._leaving:
            # They refer to themselves: without this, their memory could be free much later. A worker freezes what it
            # has loaded.
            gc.unfreeze()
            gc.collect()
        if self._most_leaving is not None and len(self._leaving) >= self._most_leaving:
            raise EmbeddingError(
                f"there is no room for the model {model} now",
                detail="This worker is using as many other models as it may.",
                hint="Ask again when other runs are over.",
            )
        try:
            return self._make(model)
        except ModelNotFound as error:
            _logger.warning("the model %r could not be loaded: %r", model, error.__cause__)
            raise

    def _keep(self, model: str, loaded: _Model) -> None:
        self._loaded.pop(model, None)
        self._leaving.pop(model, None)
        self._loaded[model] = loaded
        while len(self._loaded) > self._most_loaded:
            oldest = next(iter(self._loaded))
            self._leaving[oldest] = self._loaded.pop(oldest)

    def close(self) -> None:
        """Stop the models' threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for loaded in (*self._loaded.values(), *self._leaving.values()):
            loaded.close()


class ClosableEmbedder(Embedder, Protocol):
    """An embedding model that holds threads or connections."""

    def close(self) -> None:
        """Give them up."""


class Embedders(Registry[ClosableEmbedder]):
    """The embedding models of a process.

    Args:
        backend: What computes those that run here, and in what precision.
        open_at_endpoint: Opens a model whose name says that it is behind an endpoint.
        most_loaded: How many stay when nobody uses them, those that were asked for last.
        device: What those that run here compute on.

    Attributes:
        tally: What models behind endpoints have embedded, if `open_at_endpoint` has them add it there.
    """

    def __init__(
        self,
        backend: EmbeddingBackend = EmbeddingBackend.AUTO,
        open_at_endpoint: Callable[[str], Awaitable[ClosableEmbedder]] | None = None,
        *,
        most_loaded: int = _MOST_LOADED,
        device: Device = Device.AUTO,
    ) -> None:
        super().__init__(partial(load_embedder, backend=backend, device=device), most_loaded=most_loaded)
        self._backend = backend
        self._is_on_gpu = device in (Device.CUDA, Device.MPS)
        self._open_at_endpoint = open_at_endpoint
        self.tally = EmbeddingTally()
        self._for_readings = Registry(partial(load_embedder, backend=EmbeddingBackend.INT8), most_loaded=1)

    async def get_for_readings(self, model: str) -> ClosableEmbedder:
        """Load a model for texts that are compared with each other alone, and neither with passages nor questions.

        Readings come one by one while a run goes on, and take most of a worker's CPU time. In 8-bit integers they take
        half of it, and are grouped as well; see docs/methods/consolidation.md.

        Raises:
            EmbeddingError: As `get` does.
        """
        may_differ = self._backend is EmbeddingBackend.AUTO and not self._is_on_gpu
        is_faster = may_differ and is_packaged(model) and multiplies_int8()
        return await (self._for_readings if is_faster else self).get(model)

    async def _load_anew(self, model: str) -> ClosableEmbedder:
        if self._open_at_endpoint is not None and model.startswith(AT_ENDPOINT):
            return await self._open_at_endpoint(model)
        return await super()._load_anew(model)

    def close(self) -> None:
        """Stop the models' threads."""
        self._for_readings.close()
        super().close()
