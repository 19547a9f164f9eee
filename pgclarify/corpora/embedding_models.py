"""Embedding models of corpora by name. A model that loads slowly does not block other corpora."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pgclarify.corpora.splitting import chunker_of, is_behind_endpoint
from pgclarify.database.spaces import EmbeddingSpaces
from pgclarify.embedding.packaged import is_packaged
from pgclarify.errors import (
    ConfigurationError,
    DimensionMismatch,
    EmbeddingError,
    EmbeddingUnavailable,
    ModelChanged,
    ModelNotFound,
    PgclarifyError,
    describe,
)
from pgclarify.ingest.chunking import Chunker
from pgclarify.protocols import Embedder, Payer, paid_by

_logger = logging.getLogger(__name__)

# Seconds to wait for a model. A loaded model is there at once; while another one loads, other corpora go on.
_LOADING_SECONDS = 1.0
_MODEL_RETRY_SECONDS = 30.0
# Passages of a space that are embedded again, and the cosine that most of them need at least. The same model has .985
# or more in 8-bit integers, on another processor or from another server; another model is far below.
_MOST_COMPARED = 5
_LEAST_COSINE = 0.95


class CorpusModels:
    """The embedding models of a worker that are loaded; others are loaded in the background.

    Args:
        embedders: Returns the embedding model of a name; raises ModelNotFound.
        forget: Called with the name of a model that has other dimensions than the vectors, so that it is loaded anew.
        chunkers: Makes the chunker for a model; called once for each model.
        turn: Lock that is held during a call of a model on this machine; None for one of their own.
        store: The stored vectors, with which a model is compared before it embeds anything for them; None compares
            nothing.
    """

    def __init__(
        self,
        embedders: Callable[[str], Awaitable[Embedder]],
        forget: Callable[[str], object] = lambda model: None,
        *,
        chunkers: Callable[[Embedder], Chunker] = chunker_of,
        turn: asyncio.Lock | None = None,
        store: EmbeddingSpaces | None = None,
    ) -> None:
        self._embedders = embedders
        self._make_chunker = chunkers
        self._turn = turn or asyncio.Lock()
        # Kept as long as the models themselves.
        self._chunkers: WeakKeyDictionary[Embedder, Chunker] = WeakKeyDictionary()
        self._forget = forget
        self._loading: dict[str, asyncio.Task[Embedder | None]] = {}
        self._left_until: dict[str, float] = {}
        self._store = store
        # Spaces that still have to be compared, the next one last; None before they are known.
        self._waiting: list[dict[str, Any]] | None = None
        # Spaces that have been compared with their model, and whether it was changed.
        self._compared: dict[int, bool] = {}
        # Errors of models that could not be loaded at the last attempt.
        self._failed: dict[str, PgclarifyError] = {}

    def missing(self) -> list[str]:
        """Return the models that are being loaded, or that failed a short while ago."""
        now = asyncio.get_running_loop().time()
        self._left_until = {model: until for model, until in self._left_until.items() if until > now}
        self._loading = {model: task for model, task in self._loading.items() if not task.done()}
        return sorted({*self._left_until, *self._loading})

    async def get(self, model: str, dimensions: int, embedding_space_id: int) -> tuple[Embedder, Chunker] | None:
        """Load a model, with its chunker; None if it is not loaded soon.

        Args:
            model: Its name.
            dimensions: The number of dimensions that its vectors must have.
            embedding_space_id: The space that its vectors are for.

        Raises:
            ModelChanged: If it gives other vectors to texts of this space than those that are stored.
            PgclarifyError: If it could not be loaded, now or at the last attempt; if its chunker cannot be made; if its
                vectors have other dimensions; or if its endpoint does not answer. The model is left to other workers
                for a while.
        """
        if model not in self._loading:
            self._loading[model] = asyncio.create_task(self._load(model), name=f"loading {model}")
        task = self._loading[model]
        await asyncio.wait([task], timeout=_LOADING_SECONDS)
        embedder = task.result() if task.done() else None
        if embedder is None:
            if (error := self._failed.get(model)) is not None:
                # Without its traceback, which would grow each time the error is raised.
                raise error.with_traceback(None)
            return None
        try:
            chunker = self._chunker(embedder, dimensions)
            await self._compare(embedding_space_id, embedder, chunker)
            return embedder, chunker
        except ModelChanged:
            # Other spaces may have vectors of the changed model.
            raise
        except (ConfigurationError, EmbeddingError) as error:
            if isinstance(error, DimensionMismatch):
                self._forget(model)
            self.leave(model, error)
            raise

    def _chunker(self, embedder: Embedder, dimensions: int) -> Chunker:
        if dimensions != embedder.dimensions:
            raise DimensionMismatch(
                f"the embedding model gives {embedder.dimensions} dimensions, and the stored vectors have {dimensions}",
                hint="Have workers load the model that the vectors come from, or change the model of the corpus.",
            )
        if embedder not in self._chunkers:
            self._chunkers[embedder] = self._make_chunker(embedder)
        return self._chunkers[embedder]

    async def look(self) -> None:
        """Compare the models of all spaces with stored vectors, once. Call it again for models that were not ready."""
        if self._store is None:
            return
        if self._waiting is None:
            # The packaged model is always the same. Another one is loaded for that, although nothing may need it yet.
            self._waiting = [space for space in await self._store.to_check() if not is_packaged(space["model"])]
        while self._waiting:
            space = self._waiting[-1]
            if space["model"] in self.missing():
                return
            try:
                if await self.get(space["model"], space["dimensions"], space["embedding_space_id"]) is None:
                    return
            except EmbeddingUnavailable:
                return
            except PgclarifyError as error:
                # What is claimed for the space will meet it again.
                _logger.warning("embedding model %s: %s", space["model"], describe(error))
            self._waiting.pop()

    async def _compare(self, space_id: int, embedder: Embedder, chunker: Chunker) -> None:
        """Compare a model with stored vectors of a space, the first time that it is used for it.

        Raises:
            ModelChanged: If they differ.
            EmbeddingUnavailable: If its endpoint does not answer.
        """
        if self._store is None:
            return
        if space_id not in self._compared:
            is_changed = await self._is_changed(self._store, space_id, embedder, chunker)
            await self._store.note_model_change(
                space_id, public_reason(embedder.model, _changed()) if is_changed else None
            )
            self._compared[space_id] = is_changed
        if self._compared[space_id]:
            raise _changed()

    async def _is_changed(self, store: EmbeddingSpaces, space_id: int, embedder: Embedder, chunker: Chunker) -> bool:
        rows = await store.stored_vectors(space_id, _MOST_COMPARED)
        if not rows:
            return False
        texts = [chunker.embedding_text(row["title"], row["heading"], row["content"]) for row in rows]
        before = np.array([row["vector"] for row in rows], dtype=np.float32)
        try:
            with paid_by(Payer(embedding_space_id=space_id)):
                now = await self.encode(embedder, texts)
        except EmbeddingUnavailable:
            raise
        except EmbeddingError as error:
            # It says nothing about the others, which their documents will show.
            _logger.warning("embedding model %s cannot be compared: %s", embedder.model, describe(error))
            return False
        lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(now, axis=1)
        cosines = (before * now).sum(axis=1) / np.maximum(lengths, np.finfo(np.float32).tiny)
        return bool(np.median(cosines) < _LEAST_COSINE)

    async def encode(self, embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages. Claims take turns at models of this machine, so that none waits for a whole long document."""
        if is_behind_endpoint(embedder):
            return await embedder.encode(texts, are_passages=True)
        # The lock is fair: a waiting task gets it before the task that has just released it.
        async with self._turn:
            return await embedder.encode(texts, are_passages=True)

    def leave(self, model: str, error: Exception) -> None:
        """Leave the work that needs a model to other workers for a while."""
        # The log has it already if the hub does not have the model.
        if not (isinstance(error, ModelNotFound) and error.is_lasting):
            _logger.warning("embedding model %s is left to other workers: %s", model, describe(error))
        self._left_until[model] = asyncio.get_running_loop().time() + _MODEL_RETRY_SECONDS

    async def pause(self, model: str, error: Exception) -> None:
        """Leave other work that needs a model to other workers, and wait until it may be tried again."""
        self.leave(model, error)
        await asyncio.sleep(_MODEL_RETRY_SECONDS)

    async def close(self) -> None:
        """Stop waiting for models that are being loaded."""
        tasks = list(self._loading.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _load(self, model: str) -> Embedder | None:
        try:
            embedder = await self._embedders(model)
        except Exception as error:  # any: one model must not stop the others
            self.leave(model, error)
            self._failed.pop(model, None)
            if isinstance(error, PgclarifyError):
                self._failed[model] = error
            return None
        self._failed.pop(model, None)
        return embedder


def _changed() -> ModelChanged:
    return ModelChanged(
        "the embedding model gives other vectors than before, so nothing is embedded or compared with it",
        hint="Serve the earlier model under this name again, and restart the workers; or set option embedding_model of"
        " pgclarify.alter_corpus to this model, and all passages are embedded anew.",
    )


def public_reason(model: str, error: Exception) -> str:
    """Say why a model cannot be used, without secrets.

    Readers of the corpus may not see its documents or a worker's files. So this has message and hint of our own
    errors, without the detail, which may quote the endpoint (and so a text) or contain a path. The reason is the same
    whether or not a path exists.
    """
    if isinstance(error, ModelNotFound):
        return (
            f"no embedding model {model}: No worker can load a model of that name or path; its log says why. A name"
            " that its hub does not have is looked for again when a worker starts."
        )
    if isinstance(error, PgclarifyError):
        error = PgclarifyError(error.message, detail=error.hint)
    return describe(error)
