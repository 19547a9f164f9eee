"""An embedding model that computes on this machine, in threads of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pgclarify.embedding.batching import BatchQueue
from pgclarify.errors import DimensionMismatch, EmbeddingError
from pgclarify.foreign_text import check_unicode

# Characters of padded input that are computed at once. On a CPU some 5 passages take 0.1 s, which is how long a query
# may have to wait, and larger batches are no faster; the readings of one run fit into one. An accelerator is idle with
# so few.
CPU_BATCH_CHARS = 3072
ACCELERATOR_BATCH_CHARS = 128 * CPU_BATCH_CHARS
# What is beyond cannot be among the tokens that the model reads: no ordinary token has that many characters.
MAX_CHARS_PER_TOKEN = 100


@dataclass(frozen=True)
class LoadedModel:
    """An embedding model that a library has loaded.

    Attributes:
        encode: Maps texts, each cut by the model where it is too long, to vectors of unit length: float32, shape
            (len(texts), dimensions). Called in as many threads as `threads` says.
        tokenizer: The model's, without truncation or padding. Not the one that encode uses.
        dimensions: Length of a vector.
        max_tokens: Longest input in tokens, special tokens included, and without the prompt.
        batch_chars: Characters of padded input to compute at once.
        threads: How many batches to compute at the same time.
        on_thread_start: Called once in each thread that calls encode, before it.
        query_prompt: What its authors put before a question.
        passage_prompt: What they put before a passage.
    """

    encode: Callable[[list[str]], NDArray[np.float32]]
    tokenizer: Tokenizer
    dimensions: int
    max_tokens: int
    batch_chars: int = CPU_BATCH_CHARS
    threads: int = 1
    on_thread_start: Callable[[], None] | None = None
    query_prompt: str = ""
    passage_prompt: str = ""


class LocalEmbedder:
    """An embedding model on this machine. Implements protocols.Embedder.

    Calls of encode() that wait at the same time share batches; small ones come first, so that a query does not wait
    for a corpus.

    Args:
        name: The model's name, as a user gave it.
        loaded: The model.
    """

    def __init__(self, name: str, loaded: LoadedModel) -> None:
        self._name = name
        self._loaded = loaded
        self._queue = BatchQueue(
            self._compute,
            dimensions=loaded.dimensions,
            max_batch_chars=loaded.batch_chars,
            # 5 characters a token: longer texts are cut by the model, and cost no more.
            max_chars=5 * loaded.max_tokens,
            length=len,
            threads=loaded.threads,
            on_thread_start=loaded.on_thread_start,
        )

    @property
    def model(self) -> str:
        """The model's name, as it was given."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._loaded.dimensions

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included; what is longer is cut."""
        return self._loaded.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, without truncation or padding."""
        return self._loaded.tokenizer

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        """Embed texts without blocking the event loop.

        Args:
            texts: Any number, also none.
            are_passages: Whether they are passages; see protocols.Embedder.

        Returns:
            float32, shape (len(texts), dimensions), rows of unit length, in the order of texts.

        Raises:
            EmbeddingError: If the model fails, a text is not valid Unicode, or the embedder is closed.
        """
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        # Checked here, so that it does not fail those that happen to share its batch.
        check_unicode(texts)
        cut = self.max_tokens * MAX_CHARS_PER_TOKEN
        # Other tasks that have texts to embed hand them in first: otherwise the first of many makes a batch alone.
        await asyncio.sleep(0)
        prompt = self._loaded.passage_prompt if are_passages else self._loaded.query_prompt
        return await asyncio.wrap_future(self._queue.submit([prompt + text[:cut] for text in texts]))

    def close(self) -> None:
        """Stop the threads, after the batches they are at; what still waits fails. Closing twice is fine."""
        self._queue.close()

    def _compute(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = self._loaded.encode(texts)
        if vectors.shape != (len(texts), self.dimensions):
            raise DimensionMismatch(
                f"the embedding model {self._name} returned vectors of another shape",
                detail=f"It returned {vectors.shape}; expected were {(len(texts), self.dimensions)}.",
            )
        if not np.isfinite(vectors).all():
            raise EmbeddingError(f"the embedding model {self._name} returned numbers that are not finite")
        return vectors
