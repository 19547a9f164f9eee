"""Models by name. Each is loaded once, outside the event loop; a few are kept."""

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

from pgclarify.config import Device
from pgclarify.data.vocabulary import AT_ENDPOINT, LOADING
from pgclarify.embedding import load_embedder
from pgclarify.embedding.minilm import multiplies_int8
from pgclarify.embedding.packaged import is_packaged
from pgclarify.errors import EmbeddingError, ModelNotFound
from pgclarify.protocols import Embedder, EmbeddingTally

_logger = logging.getLogger(__name__)
_MOST_LOADING = 32
# A model needs 100 MB or more. Any user who may create a corpus can name models, and must not be able to fill the
# memory of all workers.
_MOST_LOADED = 4
# Users choose the names, so the list of wrong names must be limited.
_MOST_MISSED = 1000


class _Closable(Protocol):
    def close(self) -> None:
        """Stop the model's thread."""


_Model = TypeVar("_Model", bound=_Closable)


class Registry(Generic[_Model]):
    """Models of one kind.

    Args:
        make: Loads the model of a name; called in a thread.
        most_loaded: How many unused models are kept, the most recently used ones.
        most_loading: How many are loaded at the same time; others wait.
        most_leaving: No further model is loaded while this many others are in use besides the kept ones; None for no
            limit.
        retry_after: Seconds until a missing model is searched for again. The library's search takes most of a minute if
            it cannot reach its hub. What the hub does not have is not searched for again.
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
        # For each missing model, the time of the search and its error; the latest comes last.
        self._missed: dict[str, tuple[float, ModelNotFound]] = {}
        self._loading: dict[str, asyncio.Task[_Model]] = {}
        # The most recently used one comes last.
        self._loaded: dict[str, _Model] = {}
        # Models that may still be in use: they are not closed, and not loaded a second time.
        self._leaving: WeakValueDictionary[str, _Model] = WeakValueDictionary()
        # Its own threads, because asyncio has few, and a search may take a minute.
        self._threads = ThreadPoolExecutor(most_loading, thread_name_prefix=LOADING)

    @property
    def loaded(self) -> list[str]:
        """Names of the loaded models, in alphabetical order."""
        return sorted(self._loaded)

    async def get(self, model: str) -> _Model:
        """Load a model, or wait for a task that is loading it.

        The caller can use it as long as it keeps a reference, even if others have replaced it in the registry.

        Raises:
            EmbeddingError: If it cannot be loaded, or too many others are in use. A later call tries again; for a
                missing model, only after a while, or never if the hub does not have it.
            ConfigurationError: If this processor does not support it.
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
        if error is not None and (error.is_lasting or time.monotonic() - missed_at < self._retry_after):
            # A new exception, because raising the old one again would extend its traceback.
            again = ModelNotFound(error.message, detail=error.detail, hint=error.hint)
            again.is_lasting = error.is_lasting
            raise again

    def _load_now(self, model: str) -> _Model:
        if self._leaving:
            # Models have reference cycles, so without this their memory would be freed much later. A worker freezes
            # what it has loaded.
            gc.unfreeze()
            gc.collect()
        if self._most_leaving is not None and len(self._leaving) >= self._most_leaving:
            raise EmbeddingError(
                f"there is no room for the model {model} now",
                detail="This worker uses the largest number of models that it may load.",
                hint="Try again when other runs are over.",
            )
        try:
            return self._make(model)
        except ModelNotFound as error:
            until = "; its hub is asked again when the worker starts" if error.is_lasting else ""
            _logger.warning("the model %r could not be loaded: %r%s", model, error.__cause__, until)
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
        """Release them."""


class Embedders(Registry[ClosableEmbedder]):
    """The embedding models of a process.

    Args:
        open_at_endpoint: Opens a model behind an endpoint, by its name.
        most_loaded: How many unused models are kept, the most recently used ones.
        device: What computes models on this machine.

    Attributes:
        tally: Counts what models behind endpoints embed, if `open_at_endpoint` adds to it.
    """

    def __init__(
        self,
        open_at_endpoint: Callable[[str], Awaitable[ClosableEmbedder]] | None = None,
        *,
        most_loaded: int = _MOST_LOADED,
        device: Device = Device.AUTO,
    ) -> None:
        super().__init__(partial(load_embedder, device=device), most_loaded=most_loaded)
        self._device = device
        self._open_at_endpoint = open_at_endpoint
        self.tally = EmbeddingTally()
        self._for_readings = Registry(partial(load_embedder, device=Device.INT8), most_loaded=1)

    async def get_for_readings(self, model: str) -> ClosableEmbedder:
        """Load a model for texts that are compared only with each other, not with passages or questions.

        Readings arrive one by one during a run, and need most of a worker's CPU time. 8-bit integers need half of that,
        and the groups are as good; see docs/methods/consolidation.md.

        Raises:
            EmbeddingError: As `get`.
        """
        is_faster = self._device is Device.AUTO and is_packaged(model) and multiplies_int8()
        return await (self._for_readings if is_faster else self).get(model)

    def forget(self, model: str) -> None:
        """Load a model behind an endpoint anew when it is next needed: its server may give other dimensions now."""
        if model.startswith(AT_ENDPOINT):
            self._loaded.pop(model, None)
            self._leaving.pop(model, None)

    async def _load_anew(self, model: str) -> ClosableEmbedder:
        if self._open_at_endpoint is not None and model.startswith(AT_ENDPOINT):
            return await self._open_at_endpoint(model)
        return await super()._load_anew(model)

    def close(self) -> None:
        """Stop the models' threads."""
        self._for_readings.close()
        super().close()
