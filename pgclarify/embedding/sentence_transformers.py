"""Sentence-transformers models, computing in one thread of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pgclarify.config import EmbeddingBackend
from pgclarify.embedding.batching import BatchQueue
from pgclarify.embedding.loading import load_model
from pgclarify.errors import ConfigurationError, DimensionMismatch, EmbeddingError

# Characters of padded input that are computed at once. On a CPU some 5 passages take 0.1 s, which is how long a query
# may have to wait, and larger batches are no faster; the readings of one run fit into one. An accelerator is idle with
# so few.
CPU_BATCH_CHARS = 3072
ACCELERATOR_BATCH_CHARS = 128 * CPU_BATCH_CHARS
# What is beyond cannot be among the tokens that the model reads: no ordinary token has that many characters.
MAX_CHARS_PER_TOKEN = 100


class SentenceTransformerEmbedder:
    """A sentence-transformers model.

    Calls of encode() that wait at the same time share batches; small ones come first, so that a query does not wait
    for a corpus. Loads the model at once, which takes seconds.

    Args:
        model: "all-MiniLM-L6-v2" (taken from an installed package if there is one), another sentence-transformers
            name, or a local path.
        threads: CPU threads that the model computes with; None leaves that to torch.
        backend: In what precision it computes on a CPU.

    Raises:
        ModelNotFound: If there is no such model.
        EmbeddingError: If the model is not what it should be.
        ConfigurationError: If threads is not positive, or the backend cannot be used with this model or processor.
    """

    def __init__(
        self, model: str, *, threads: int | None = None, backend: EmbeddingBackend = EmbeddingBackend.TORCH
    ) -> None:
        if threads is not None and threads < 1:
            raise ConfigurationError("threads must be at least 1", detail=f"threads is {threads}.")
        self._name = model
        self._transformer: Any = load_model(model)
        dimensions = self._transformer.get_embedding_dimension()
        tokenizer = getattr(self._transformer.tokenizer, "backend_tokenizer", None)
        if dimensions is None or tokenizer is None:
            raise EmbeddingError(
                f"the embedding model {model} cannot be used",
                detail="It has no fixed number of dimensions, or no tokenizer of the library tokenizers.",
                hint="Choose a sentence-transformers text model.",
            )
        self._dimensions = int(dimensions)
        limit = self._transformer.max_seq_length or self._transformer.tokenizer.model_max_length
        self._max_tokens = int(limit)
        # A copy, since the model's own is set to truncate, and is in use in the thread.
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        is_cpu = self._transformer.device.type == "cpu"
        if is_cpu:
            # Here, since torch takes a second to import.
            from pgclarify.embedding.linear import bound_caches, use_onednn

            bound_caches()
            if backend is not EmbeddingBackend.TORCH:
                use_onednn(self._transformer, backend)
        elif backend is not EmbeddingBackend.TORCH:
            raise ConfigurationError(
                f"the embedding backend {backend} is for processors",
                detail=f"The embedding model is on the device {self._transformer.device}.",
                hint=f"Set PGCLARIFY_EMBEDDING_BACKEND={EmbeddingBackend.TORCH}.",
            )
        self._queue = BatchQueue(
            self._compute,
            dimensions=self._dimensions,
            max_batch_chars=CPU_BATCH_CHARS if is_cpu else ACCELERATOR_BATCH_CHARS,
            # 5 characters a token: longer texts are cut by the model, and cost no more.
            max_chars=5 * self._max_tokens,
            length=len,
            # Nothing of this embedder: its thread would hold it for as long as it runs.
            on_thread_start=None if threads is None else partial(set_threads, threads),
        )

    @property
    def model(self) -> str:
        """The model's name, as it was given."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included; what is longer is cut."""
        return self._max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, without truncation or padding."""
        return self._tokenizer

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts without blocking the event loop.

        Args:
            texts: Any number, also none.

        Returns:
            float32, shape (len(texts), dimensions), rows of unit length, in the order of texts.

        Raises:
            EmbeddingError: If the model fails, a text is not valid Unicode, or the embedder is closed.
        """
        if not texts:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        # Checked here, so that it does not fail those that happen to share its batch.
        check_unicode(texts)
        cut = self._max_tokens * MAX_CHARS_PER_TOKEN
        # Whoever else is about to embed something gets as far as this, or the first of many texts makes a batch alone.
        await asyncio.sleep(0)
        return await asyncio.wrap_future(self._queue.submit([text[:cut] for text in texts]))

    def close(self) -> None:
        """Stop the thread, after the batch it is at; what still waits fails. Closing twice is fine."""
        self._queue.close()

    def _compute(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = np.asarray(
            self._transformer.encode(
                texts,
                batch_size=len(texts),
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            ),
            dtype=np.float32,
        )
        if vectors.shape != (len(texts), self._dimensions):
            raise DimensionMismatch(
                f"the embedding model {self._name} returned vectors of another shape",
                detail=f"It returned {vectors.shape}; expected were {(len(texts), self._dimensions)}.",
            )
        if not np.isfinite(vectors).all():
            raise EmbeddingError(f"the embedding model {self._name} returned numbers that are not finite")
        return vectors


def check_unicode(texts: Iterable[str]) -> None:
    """Check that texts are such as a model can read.

    Raises:
        EmbeddingError: If one is not valid Unicode.
    """
    for position, text in enumerate(texts):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise EmbeddingError(
                "a text to embed is not valid Unicode",
                detail=f"Text {position} has half a surrogate pair at offset {error.start}.",
            ) from error


def set_threads(threads: int) -> None:
    """Set with how many threads torch computes what it is asked for in the thread that calls this."""
    import torch

    torch.set_num_threads(threads)
