"""Models that run here, and whoever scores or compares with them or with a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pgclarify.model import AnswerSpan, Passage
from pgclarify.model_calls import Completion


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
        """Longest input in tokens, special tokens included; what is longer is cut."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, without truncation or padding: counts what a text costs."""

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        """Embed texts without blocking the event loop.

        Args:
            texts: Any number, also none.
            are_passages: Whether they are passages to be found, or else questions and readings, which are compared
                with each other and with passages. Some models put another prefix before each.

        Returns:
            float32, shape (len(texts), dimensions), rows of unit length.

        Raises:
            EmbeddingError: If the model fails.
        """


class SpanReader(Protocol):
    """Reads question and passage together, and points at the answer."""

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan | None:
        """Find the span of a passage that answers a question best.

        Args:
            question: A question, or a few words.
            title: What stands above the passage; "" if nothing does.
            passage: Any text.

        Returns:
            None if there is nothing to read.

        Raises:
            EmbeddingError: If the model fails.
        """


class CrossEncoder(Protocol):
    """One model that reads two texts together: a reranker, or a judge of natural language inference."""

    @property
    def model(self) -> str:
        """The model's name, as it was given."""

    async def relevance(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Say how well texts answer questions, without blocking the event loop.

        Args:
            pairs: Question and text. Any number, also none: that tells whether the model is made for it.

        Returns:
            For each pair, in (0, 1); higher is better.

        Raises:
            EmbeddingError: If the model gives no such score, or fails.
        """

    async def entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[bool]:
        """Say whether texts entail others, without blocking the event loop.

        Args:
            pairs: Premise and hypothesis. Any number, also none: that tells whether the model is made for it.

        Raises:
            EmbeddingError: If the model does not tell entailment, or fails.
        """


class Meter(Protocol):
    """Where a stage counts the replies that it got."""

    note: str | None
    """What else is to be said of the stage."""

    def count(self, completion: Completion, *, is_reused: bool) -> None:
        """Count a reply: one that was paid for, or one that was there."""


class Reranker(Protocol):
    """Whoever says how relevant passages are to a question."""

    async def score(self, question: str, passages: Sequence[Passage], *, tally: Meter | None = None) -> Sequence[float]:
        """Score passages without blocking the event loop.

        Args:
            question: As it was asked.
            passages: Any number, also none.
            tally: Where replies are counted; None to count nowhere.

        Returns:
            One score for each, in (0, 1); higher is better.

        Raises:
            CompletionError: If a model was asked and gave no score.
            EmbeddingError: If a model that runs here failed.
            RunLost: If the run is no longer this worker's.
        """


class Entailment(Protocol):
    """Whoever says whether one answer to a question entails another."""

    async def entails(
        self, question: str, pairs: Sequence[tuple[str, str]], *, tally: Meter | None = None
    ) -> Sequence[bool]:
        """Judge pairs without blocking the event loop.

        Args:
            question: What both answer.
            pairs: Premise and hypothesis: two answers. Any number, also none.
            tally: Where replies are counted; None to count nowhere.

        Returns:
            For each pair, whether the first entails the second. Neither symmetry nor transitivity is promised.

        Raises:
            CompletionError: If a model was asked and gave no judgement.
            EmbeddingError: If a model that runs here failed.
            RunLost: If the run is no longer this worker's.

        Source: SUNAR, §3.2.
        """


class Said(Protocol):
    """One thing that spoke for or against ambiguity, in words a user understands."""

    @property
    def source(self) -> str:
        """The classifier as a whole, or a feature: classifier or feature."""

    @property
    def name(self) -> str:
        """Which of them."""

    @property
    def text(self) -> str:
        """What it says."""


class Judged(Protocol):
    """What a classifier makes of a question."""

    @property
    def probability(self) -> float:
        """Of being ambiguous, from 0 to 1."""

    @property
    def kind(self) -> str:
        """pragmatic, syntactic or lexical: the most probable one; of a clear question it means nothing."""

    @property
    def reasons(self) -> Sequence[Said]:
        """What spoke for "ambiguous" from the threshold on, or below it for "clear"; none if nothing did."""


class Classifier(Protocol):
    """Whoever tells ambiguous questions from clear ones by their vectors and words."""

    @property
    def embedding_model(self) -> str:
        """The model whose vectors it takes."""

    @property
    def version(self) -> str:
        """Changes when its judgements do."""

    @property
    def threshold(self) -> float:
        """The probability from which a question counts as ambiguous, unless a user says otherwise."""

    def inputs(self, question: str, history: Sequence[str]) -> list[str]:
        """The texts whose vectors it takes for a question; at least one."""

    def judge(
        self,
        asked: Sequence[tuple[str, Sequence[str]]],
        vectors: NDArray[np.float32],
        *,
        threshold: float | None = None,
    ) -> Sequence[Judged]:
        """Judge questions, each with what was said before it.

        Args:
            asked: Questions with their histories.
            vectors: float32, shape (number of all inputs of all questions, dimensions), in order, of unit length.
            threshold: The probability that decides which side reasons are given for; None for its own.

        Returns:
            One judgement for each.
        """
