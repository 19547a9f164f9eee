"""Embeds each distinct text once: many passages give one reading, and many runs have one question."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pgclarify.protocols import Embedder

# By digest, so that no text is kept that somebody erases: the vectors, or what is done when they are there.
_Kept: TypeAlias = OrderedDict[bytes, "NDArray[np.float32] | asyncio.Future[None]"]

# Some 6 MB of vectors with 384 dimensions.
_MOST_TEXTS = 4096


class RememberedTexts:
    """The texts that the models of a process have embedded one at a time.

    Args:
        get: Gives the embedding model of a name.
        most: Most texts of each model, those that were asked for last.
    """

    def __init__(self, get: Callable[[str], Awaitable[Embedder]], *, most: int = _MOST_TEXTS) -> None:
        self._get = get
        self._most = most
        # A model that is dropped takes its vectors with it.
        self._kept: WeakKeyDictionary[Embedder, _Kept] = WeakKeyDictionary()

    async def get(self, model: str) -> Embedder:
        """Give the embedding model of a name, which remembers texts.

        Raises:
            EmbeddingError: If it cannot be loaded.
            ConfigurationError: If it cannot be used on this processor.
        """
        embedder = await self._get(model)
        return _RememberingEmbedder(embedder, self._kept.setdefault(embedder, OrderedDict()), self._most)


class _RememberingEmbedder:
    """An embedding model that remembers texts which it is given one at a time. Implements protocols.Embedder.

    Many at once are most often texts that do not come again, and would displace all others.
    """

    def __init__(self, embedder: Embedder, kept: _Kept, most: int) -> None:
        self._embedder = embedder
        self._kept = kept
        self._most = most

    @property
    def model(self) -> str:
        """The model's name."""
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._embedder.dimensions

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included; what is longer is cut."""
        return self._embedder.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, without truncation or padding."""
        return self._embedder.tokenizer

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
        while (kept := self._kept.get(key)) is not None:
            if isinstance(kept, np.ndarray):
                self._kept.move_to_end(key)
                # As a model does: the stages of a run that is made again come in the same order.
                await asyncio.sleep(0)
                return kept
            # Another caller is embedding it. If that fails, or the caller is cancelled, this one tries itself.
            await asyncio.wait([kept])
        return await self._embed(key, texts, are_passages=are_passages)

    async def _embed(self, key: bytes, texts: Sequence[str], *, are_passages: bool) -> NDArray[np.float32]:
        over = asyncio.get_running_loop().create_future()
        self._kept[key] = over
        try:
            vectors = await self._embedder.encode(texts, are_passages=are_passages)
        except BaseException:
            self._kept.pop(key, None)
            raise
        else:
            # Many callers share them.
            vectors.setflags(write=False)
            self._kept[key] = vectors
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return vectors
        finally:
            over.set_result(None)
