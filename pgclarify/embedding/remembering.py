"""Embeds each distinct text once: many passages give the same reading, and many runs have the same question."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pgclarify.protocols import Embedder

# Keys are digests, so that no erased text stays in memory.
_Kept: TypeAlias = OrderedDict[bytes, "asyncio.Task[NDArray[np.float32]]"]

# About 6 MB of vectors with 384 dimensions.
_MOST_TEXTS = 4096


class RememberedTexts:
    """Remembers the vectors of texts that the models of a process embedded one at a time.

    Args:
        get: Returns the embedding model of a name.
        most: Most texts for each model; the most recently used ones are kept.
    """

    def __init__(self, get: Callable[[str], Awaitable[Embedder]], *, most: int = _MOST_TEXTS) -> None:
        self._get = get
        self._most = most
        # The vectors of a model are freed with the model.
        self._kept: WeakKeyDictionary[Embedder, _Kept] = WeakKeyDictionary()

    async def get(self, model: str) -> Embedder:
        """Return the embedding model of a name; it remembers texts.

        Raises:
            EmbeddingError: If it cannot be loaded.
            ConfigurationError: If this processor does not support it.
        """
        embedder = await self._get(model)
        return _RememberingEmbedder(embedder, self._kept.setdefault(embedder, OrderedDict()), self._most)


class _RememberingEmbedder:
    """An embedding model that remembers texts if it gets them one at a time. Implements protocols.Embedder.

    Many texts in one call usually do not repeat, and would displace all others.
    """

    def __init__(self, embedder: Embedder, kept: _Kept, most: int) -> None:
        self.model = embedder.model
        self.dimensions = embedder.dimensions
        self.max_tokens = embedder.max_tokens
        self.tokenizer = embedder.tokenizer
        self._embedder = embedder
        self._kept = kept
        self._most = most

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        """Embed texts without blocking the event loop; see protocols.Embedder.

        Raises:
            EmbeddingError: If the model fails.
        """
        if len(texts) != 1:
            return await self._embedder.encode(texts, are_passages=are_passages)
        key = hashlib.blake2b(
            texts[0].encode("utf-8", "surrogatepass"), digest_size=16, person=b"passage" if are_passages else b""
        ).digest()
        task = self._kept.get(key)
        if task is None:
            task = self._kept[key] = asyncio.create_task(self._embed(texts, are_passages=are_passages))
            task.add_done_callback(partial(self._forget_failure, key))
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
            # As in a model, so that the stages of a repeated run have the same order.
            await asyncio.sleep(0)
        # If a caller is cancelled, others may wait for the same text.
        return await asyncio.shield(task)

    async def _embed(self, texts: Sequence[str], *, are_passages: bool) -> NDArray[np.float32]:
        vectors = await self._embedder.encode(texts, are_passages=are_passages)
        # Callers share these arrays, so they must not be changed.
        vectors.setflags(write=False)
        return vectors

    def _forget_failure(self, key: bytes, task: asyncio.Task[NDArray[np.float32]]) -> None:
        # Reading the exception also keeps asyncio from logging it if all callers were cancelled before.
        if task.cancelled() or task.exception() is not None:
            self._kept.pop(key, None)
