"""An embedding model on this machine, in its own threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pgclarify.algorithms.directions import lengths_of
from pgclarify.embedding.batching import BatchQueue
from pgclarify.language.foreign_text import check_unicode
from pgclarify.language.normalization import normalized

# Characters of padded input in one batch. On a CPU, a batch is about 5 passages and takes 0.1 s. A query may have to
# wait that long. Larger batches are not faster, and the readings of one run fit into one. An accelerator needs larger
# batches.
CPU_BATCH_CHARS = 3072
ACCELERATOR_BATCH_CHARS = 128 * CPU_BATCH_CHARS
# Text beyond this is cut before tokenizing. No ordinary token has so many characters.
MAX_CHARS_PER_TOKEN = 100


@dataclass(frozen=True)
class LoadedModel:
    """An embedding model that a library has loaded.

    Attributes:
        encode: Maps texts to vectors of unit length: float32, shape (len(texts), dimensions). The model cuts texts that
            are too long. Called in `threads` threads.
        tokenizer: The model's tokenizer, without truncation or padding. encode uses another one.
        dimensions: Length of a vector.
        max_tokens: Longest input in tokens, with special tokens, without the prompt.
        batch_chars: Characters of padded input in one batch.
        threads: How many batches to compute at the same time.
        query_prompt: The prefix for a question, as the model's authors set it.
        passage_prompt: The prefix for a passage, as the model's authors set it.
    """

    encode: Callable[[list[str]], NDArray[np.float32]]
    tokenizer: Tokenizer
    dimensions: int
    max_tokens: int
    batch_chars: int = CPU_BATCH_CHARS
    threads: int = 1
    query_prompt: str = ""
    passage_prompt: str = ""


class LocalEmbedder:
    """An embedding model on this machine. Implements protocols.Embedder.

    Calls of encode() that wait at the same time share batches, small ones first. So a query does not wait for a corpus.

    Args:
        name: The model's name, as the user gave it.
        loaded: The model.

    Attributes:
        model: The name.
        dimensions: As of LoadedModel.
        max_tokens: Likewise; longer texts are cut.
        tokenizer: Likewise.
    """

    def __init__(self, name: str, loaded: LoadedModel) -> None:
        self.model = name
        self.dimensions = loaded.dimensions
        self.max_tokens = loaded.max_tokens
        self.tokenizer = loaded.tokenizer
        self._loaded = loaded
        self._queue = BatchQueue(
            self._compute,
            dimensions=loaded.dimensions,
            max_batch_chars=loaded.batch_chars,
            # At 5 characters a token, the model cuts longer texts.
            max_chars=5 * loaded.max_tokens,
            length=len,
            name=f"the embedding model {name}",
            threads=loaded.threads,
        )

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
        # Checked here, so that an invalid text does not fail the other texts of its batch.
        check_unicode(texts)
        cut = self.max_tokens * MAX_CHARS_PER_TOKEN
        # Let other tasks queue their texts first. Otherwise the first of many texts is a batch of its own.
        await asyncio.sleep(0)
        prompt = self._loaded.passage_prompt if are_passages else self._loaded.query_prompt
        return await asyncio.wrap_future(self._queue.submit([prompt + normalized(text[:cut]) for text in texts]))

    def close(self) -> None:
        """Stop the threads after their current batches; waiting calls fail. Can be called twice."""
        self._queue.close()

    def _compute(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = self._loaded.encode(texts)
        # The queue checks the shape of what it gets.
        if vectors.ndim == 2:
            lengths_of(vectors, f"the embedding model {self.model}")
        return vectors
