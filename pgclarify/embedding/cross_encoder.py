"""Cross-encoders: models that read two texts together, computing in one thread of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms import to_unit_interval
from pgclarify.config import Device
from pgclarify.embedding.batching import BatchQueue
from pgclarify.embedding.devices import telling_out_of_memory
from pgclarify.embedding.embedder import (
    ACCELERATOR_BATCH_CHARS,
    CPU_BATCH_CHARS,
    MAX_CHARS_PER_TOKEN,
)
from pgclarify.embedding.loading import load_cross_encoder
from pgclarify.embedding.sentence_transformers import set_threads
from pgclarify.errors import ConfigurationError, DimensionMismatch, EmbeddingError
from pgclarify.foreign_text import check_unicode

_ENTAILMENT = "entailment"
_HEAD = "ForSequenceClassification"
# Of models that set no limit of their own.
_MOST_TOKENS = 8192

Pair = tuple[str, str]


class SentenceTransformerCrossEncoder:
    """A CrossEncoder of sentence-transformers: a reranker or a judge of natural language inference.

    Calls that wait at the same time share batches, and small ones come first. Loads the model at once, which takes
    seconds. Implements protocols.CrossEncoder.

    Args:
        model: A name of a model, or a local path.
        threads: CPU threads that the model computes with; None leaves that to torch.
        device: What it computes on.

    Raises:
        ModelNotFound: If there is no such model.
        EmbeddingError: If it is no cross-encoder.
        ConfigurationError: If threads is not positive.
    """

    def __init__(self, model: str, *, threads: int | None = None, device: Device = Device.AUTO) -> None:
        if threads is not None and threads < 1:
            raise ConfigurationError("threads must be at least 1", detail=f"threads is {threads}.")
        self._name = model
        self._encoder: Any = load_cross_encoder(model, device)
        # Not every model of the library has a transformer with a head, and so a configuration that says all this.
        config = self._encoder.config
        self._check_head(getattr(config, "architectures", None) or [])
        names = getattr(config, "id2label", None) or {}
        self._labels = [str(names.get(number, number)) for number in range(self._encoder.num_labels)]
        # As they come: what the library would make of them differs from model to model.
        self._raw = _identity()
        # A model may be published in half precision, in which a CPU is slow; and equal scores are many, on a GPU, too.
        self._encoder.float()
        is_cpu = self._encoder.device.type == "cpu"
        max_tokens = min(int(self._encoder.max_seq_length or _MOST_TOKENS), _MOST_TOKENS)
        self._max_chars = max_tokens * MAX_CHARS_PER_TOKEN
        self._queue: BatchQueue[Pair] = BatchQueue(
            telling_out_of_memory(self._compute),
            dimensions=len(self._labels),
            max_batch_chars=CPU_BATCH_CHARS if is_cpu else ACCELERATOR_BATCH_CHARS,
            # 5 characters a token: longer pairs are cut by the model, and cost no more.
            max_chars=5 * max_tokens,
            length=_length,
            name="the cross-encoder",
            # Nothing of this encoder: its thread would hold it for as long as it runs.
            on_thread_start=None if threads is None else partial(set_threads, threads),
        )

    @property
    def model(self) -> str:
        """The model's name, as it was given."""
        return self._name

    async def relevance(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """Say how well texts answer questions, without blocking the event loop.

        Args:
            pairs: Question and text. Any number, also none: that tells whether the model is made for it.

        Returns:
            For each pair, in (0, 1): the logistic function of the model's one output, whatever function the model's
            authors put behind it.

        Raises:
            EmbeddingError: If the model has other than one output, a text is not valid Unicode, or the model fails.
        """
        if len(self._labels) != 1:
            raise EmbeddingError(
                f"the cross-encoder {self._name} does not score relevance",
                detail=f"A reranker has one output; this model has {len(self._labels)}: {', '.join(self._labels)}.",
                hint="Choose a cross-encoder that was trained to rank passages.",
            )
        scores: list[float] = to_unit_interval((await self._outputs(pairs))[:, 0]).tolist()
        return scores

    async def entails(self, pairs: Sequence[Pair]) -> Sequence[bool]:
        """Say whether texts entail others, without blocking the event loop.

        Args:
            pairs: Premise and hypothesis. Any number, also none: that tells whether the model is made for it.

        Returns:
            For each pair, whether entailment is the likeliest of the model's labels.

        Raises:
            EmbeddingError: If the model has no label of that name, or no other; if a text is not valid Unicode; or if
                the model fails.
        """
        labels = [label.casefold() for label in self._labels]
        if len(labels) < 2 or _ENTAILMENT not in labels:
            raise EmbeddingError(
                f"the cross-encoder {self._name} does not tell entailment",
                detail=f"None of its labels, or its only one, is called {_ENTAILMENT}: {', '.join(self._labels)}.",
                hint="Choose a cross-encoder for natural language inference.",
            )
        likeliest = (await self._outputs(pairs)).argmax(axis=1)
        is_entailed: list[bool] = (likeliest == labels.index(_ENTAILMENT)).tolist()
        return is_entailed

    def close(self) -> None:
        """Stop the thread, after the batch it is at; what still waits fails. Closing twice is fine."""
        self._queue.close()

    async def _outputs(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """The model's outputs: float32, shape (len(pairs), number of labels)."""
        if not pairs:
            return np.zeros((0, len(self._labels)), dtype=np.float32)
        # Checked here, so that it does not fail those that happen to share its batch.
        check_unicode(text for pair in pairs for text in pair)
        cut = self._max_chars
        # Whoever else is about to score something gets as far as this, or the first of many pairs makes a batch alone.
        await asyncio.sleep(0)
        return await asyncio.wrap_future(self._queue.submit([(one[:cut], other[:cut]) for one, other in pairs]))

    def _compute(self, pairs: list[Pair]) -> NDArray[np.float32]:
        outputs = np.asarray(
            self._encoder.predict(pairs, batch_size=len(pairs), show_progress_bar=False, activation_fn=self._raw),
            dtype=np.float32,
        ).reshape(len(pairs), -1)
        if outputs.shape[1] != len(self._labels):
            raise DimensionMismatch(
                f"the cross-encoder {self._name} returned another number of outputs",
                detail=f"It returned {outputs.shape[1]}; expected were {len(self._labels)}.",
            )
        if not np.isfinite(outputs).all():
            raise EmbeddingError(f"the cross-encoder {self._name} returned numbers that are not finite")
        return outputs

    def _check_head(self, architectures: Sequence[str]) -> None:
        """Refuse a model whose last layer was never trained: the library would draw it at random."""
        head = type(self._encoder.model).__name__
        if head.endswith(_HEAD) and not any(name.endswith(_HEAD) for name in architectures):
            raise EmbeddingError(
                f"the model {self._name} is no cross-encoder",
                detail=f"It is a {', '.join(architectures) or 'model of no known kind'}, which scores no pairs.",
                hint="Choose a cross-encoder; an embedding model is none.",
            )


def _length(pair: Pair) -> int:
    return len(pair[0]) + len(pair[1])


def _identity() -> Any:  # noqa: ANN401 - a module of torch, which is slow to import
    import torch

    return torch.nn.Identity()
