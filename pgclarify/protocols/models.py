"""Interfaces of models on this machine, and of scoring and comparing with them or with a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion
from pgclarify.data.verdicts import AnswerSpan
from pgclarify.errors import EmbeddingError


class TextsFailed(EmbeddingError):
    """Some texts of a call cannot be embedded; it carries the vectors of the others, which are paid for.

    Attributes:
        failed: For each text that failed, by its place in the call: the error.
        vectors: For each other text, by its place in the call: its vector.
    """

    def __init__(self, failed: Mapping[int, EmbeddingError], vectors: Mapping[int, NDArray[np.float32]]) -> None:
        first = next(iter(failed.values()))
        super().__init__(first.message, detail=first.detail, hint=first.hint)
        self.failed = failed
        self.vectors = vectors


class Embedder(Protocol):
    """One embedding model."""

    @property
    def model(self) -> str:
        """The model's name, as in `embedding_space.model`."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, with special tokens; longer texts are cut."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, without truncation or padding; it counts the tokens of texts."""

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        """Embed texts without blocking the event loop.

        Args:
            texts: Any number, also none.
            are_passages: True for passages; False for questions and readings, which are compared with each other and
                with passages. Some models need different prefixes for the two.

        Returns:
            float32, shape (len(texts), dimensions), rows of unit length.

        Raises:
            EmbeddingError: If the model fails. TextsFailed if it can still return the other vectors.
        """


class SpanReader(Protocol):
    """Reads question and passage together, and finds the answer in the passage."""

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan | None:
        """Find the span of a passage that answers a question best.

        Args:
            question: A question, or a few words.
            title: The title and headings of the passage; "" if there are none.
            passage: Any text.

        Returns:
            None if the passage is empty.

        Raises:
            EmbeddingError: If the model fails.
        """


class CrossEncoder(Protocol):
    """One model that reads two texts together: a reranker, or a judge of natural language inference."""

    @property
    def model(self) -> str:
        """The model's name, as it was given."""

    async def relevance(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Score how well texts answer questions, without blocking the event loop.

        Args:
            pairs: Question and text. An empty list checks only whether the model can score relevance.

        Returns:
            A score in (0, 1) for each pair; higher is better.

        Raises:
            EmbeddingError: If the model has no such score, or fails.
        """

    async def entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[bool]:
        """Tell whether texts entail others, without blocking the event loop.

        Args:
            pairs: Premise and hypothesis. An empty list checks only whether the model can tell entailment.

        Raises:
            EmbeddingError: If the model cannot tell entailment, or fails.
        """


class Meter(Protocol):
    """Counts the replies of a stage."""

    note: str | None
    """A note on the stage."""

    def count(self, completion: Completion, *, is_reused: bool) -> None:
        """Count a reply that was paid for, or that came from the ledger."""


class Reranker(Protocol):
    """Scores how relevant passages are to a question."""

    async def __call__(
        self, question: str, passages: Sequence[Passage], *, tally: Meter | None = None
    ) -> Sequence[float]:
        """Score passages without blocking the event loop.

        Args:
            question: The original question.
            passages: Any number, also none.
            tally: Counts the replies; None counts nothing.

        Returns:
            One score for each, in (0, 1); higher is better.

        Raises:
            CompletionError: If a model was called and gave no score.
            EmbeddingError: If a model on this machine failed.
            RunLost: If the run is no longer this worker's.
        """


class Entailment(Protocol):
    """Tells whether one answer to a question entails another."""

    async def __call__(
        self,
        question: str,
        pairs: Sequence[tuple[str, str]],
        *,
        document_ids: Sequence[str] = (),
        tally: Meter | None = None,
    ) -> Sequence[bool]:
        """Judge pairs without blocking the event loop.

        Args:
            question: The question of both answers.
            pairs: Premise and hypothesis: two answers. Any number, also none.
            document_ids: The documents that the answers come from: replies are erased together with any of them.
            tally: Counts the replies; None counts nothing.

        Returns:
            For each pair, whether the first entails the second. It may be neither symmetric nor transitive.

        Raises:
            CompletionError: If a model was called and gave no judgement.
            EmbeddingError: If a model on this machine failed.
            RunLost: If the run is no longer this worker's.

        Source: SUNAR, §3.2.
        """
