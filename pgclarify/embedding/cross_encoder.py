"""Cross-encoders: models that read two texts together, each in its own thread. A few are kept, by name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.uncertainty import to_unit_interval
from pgclarify.config import Device
from pgclarify.embedding.batching import BatchQueue
from pgclarify.embedding.devices import telling_out_of_memory
from pgclarify.embedding.embedder import (
    ACCELERATOR_BATCH_CHARS,
    CPU_BATCH_CHARS,
    MAX_CHARS_PER_TOKEN,
)
from pgclarify.embedding.loading import load_cross_encoder
from pgclarify.embedding.registry import Registry
from pgclarify.errors import EmbeddingError
from pgclarify.language.foreign_text import check_unicode

_ENTAILMENT = "entailment"
_HEAD = "ForSequenceClassification"
# For models without a limit of their own.
_MOST_TOKENS = 8192
# Any user who may ask a question can name models, and must not be able to fill the memory of all workers.
_MOST_LOADED = 2
_MOST_LOADING = 2
# How many models may be in use besides the kept ones. A further model is refused and does not wait. Otherwise two runs
# that each use one model and want another would wait for each other.
_MOST_LEAVING = 4
# Long enough for callers that retry all the time, short enough for a user who has just installed the model.
_RETRY_AFTER = 300.0

Pair = tuple[str, str]


class SentenceTransformerCrossEncoder:
    """A CrossEncoder of sentence-transformers: a reranker or a judge of natural language inference.

    Calls that wait at the same time share batches, small ones first. The constructor loads the model, which takes
    seconds. Implements protocols.CrossEncoder.

    Args:
        model: A model's name, or a local path.
        device: The device.

    Attributes:
        model: As given.

    Raises:
        ModelNotFound: If there is no such model.
        EmbeddingError: If it is not a cross-encoder.
    """

    def __init__(self, model: str, *, device: Device = Device.AUTO) -> None:
        self.model = model
        self._encoder: Any = load_cross_encoder(model, device)
        # Some models of the library have no transformer with a head, and no such configuration.
        config = self._encoder.config
        self._check_head(getattr(config, "architectures", None) or [])
        names = getattr(config, "id2label", None) or {}
        self._labels = [str(names.get(number, number)) for number in range(self._encoder.num_labels)]
        # float32: a CPU is slow in half precision, and on a GPU half precision gives many equal scores.
        self._encoder.float()
        is_cpu = self._encoder.device.type == "cpu"
        max_tokens = min(int(self._encoder.max_seq_length or _MOST_TOKENS), _MOST_TOKENS)
        self._max_chars = max_tokens * MAX_CHARS_PER_TOKEN
        self._queue: BatchQueue[Pair] = BatchQueue(
            telling_out_of_memory(self._compute),
            dimensions=len(self._labels),
            max_batch_chars=CPU_BATCH_CHARS if is_cpu else ACCELERATOR_BATCH_CHARS,
            # At 5 characters a token, the model cuts longer pairs.
            max_chars=5 * max_tokens,
            length=_length,
            name=f"the cross-encoder {model}",
        )

    async def relevance(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """Score how well texts answer questions, without blocking the event loop.

        Args:
            pairs: Question and text. An empty list checks only whether the model can score relevance.

        Returns:
            A score in (0, 1) for each pair: the logistic function of the model's one output, even if the model's
            authors apply another function.

        Raises:
            EmbeddingError: If the model does not have exactly one output, a text is not valid Unicode, or the model
                fails.
        """
        if len(self._labels) != 1:
            raise EmbeddingError(
                f"the cross-encoder {self.model} does not score relevance",
                detail=f"A reranker has one output; this model has {len(self._labels)}: {', '.join(self._labels)}.",
                hint="Choose a cross-encoder that was trained to rank passages.",
            )
        scores: list[float] = to_unit_interval((await self._outputs(pairs))[:, 0]).tolist()
        return scores

    async def entails(self, pairs: Sequence[Pair]) -> Sequence[bool]:
        """Tell whether texts entail others, without blocking the event loop.

        Args:
            pairs: Premise and hypothesis. An empty list checks only whether the model can tell entailment.

        Returns:
            For each pair, whether entailment is the most likely label.

        Raises:
            EmbeddingError: If no label, or the only label, is called entailment; if a text is not valid Unicode; or if
                the model fails.
        """
        labels = [label.casefold() for label in self._labels]
        if len(labels) < 2 or _ENTAILMENT not in labels:
            raise EmbeddingError(
                f"the cross-encoder {self.model} does not tell entailment",
                detail=f"It needs a label {_ENTAILMENT} and at least one other; it has: {', '.join(self._labels)}.",
                hint="Choose a cross-encoder for natural language inference.",
            )
        likeliest = (await self._outputs(pairs)).argmax(axis=1)
        is_entailed: list[bool] = (likeliest == labels.index(_ENTAILMENT)).tolist()
        return is_entailed

    def close(self) -> None:
        """Stop the thread after its current batch; waiting calls fail. Can be called twice."""
        self._queue.close()

    async def _outputs(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """The model's outputs: float32, shape (len(pairs), number of labels)."""
        if not pairs:
            return np.zeros((0, len(self._labels)), dtype=np.float32)
        # Checked here, so that an invalid text does not fail the other texts of its batch.
        check_unicode(text for pair in pairs for text in pair)
        cut = self._max_chars
        # Let other tasks queue their pairs first. Otherwise the first of many pairs is a batch of its own.
        await asyncio.sleep(0)
        return await asyncio.wrap_future(self._queue.submit([(one[:cut], other[:cut]) for one, other in pairs]))

    def _compute(self, pairs: list[Pair]) -> NDArray[np.float32]:
        outputs = self._encoder.predict(pairs, batch_size=len(pairs), show_progress_bar=False)
        # With one label, the library returns a number for each pair.
        return np.asarray(outputs, dtype=np.float32).reshape(len(pairs), -1)

    def _check_head(self, architectures: Sequence[str]) -> None:
        """Refuse a model without a trained last layer: the library would initialize it at random."""
        head = type(self._encoder.model).__name__
        if head.endswith(_HEAD) and not any(name.endswith(_HEAD) for name in architectures):
            raise EmbeddingError(
                f"the model {self.model} is not a cross-encoder",
                detail=f"It is a {', '.join(architectures) or 'model of no known kind'}, which cannot score pairs.",
                hint="Choose a cross-encoder; an embedding model does not work here.",
            )


def _length(pair: Pair) -> int:
    return len(pair[0]) + len(pair[1])


class CrossEncoders(Registry[SentenceTransformerCrossEncoder]):
    """The cross-encoders of a process: usually one that ranks passages and one that tells entailment.

    Args:
        device: Their device.
    """

    def __init__(self, device: Device = Device.AUTO) -> None:
        super().__init__(
            partial(SentenceTransformerCrossEncoder, device=device),
            most_loaded=_MOST_LOADED,
            most_loading=_MOST_LOADING,
            most_leaving=_MOST_LEAVING,
            retry_after=_RETRY_AFTER,
        )
