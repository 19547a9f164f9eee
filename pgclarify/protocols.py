"""The interfaces of models and endpoints, and what the code between a run and a model reads of the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.data.runs import Tally
from pgclarify.data.verdicts import AnswerSpan
from pgclarify.errors import EmbeddingError

T = TypeVar("T")


class Sending(Protocol):
    """Notes which requests of one call are sent, because an endpoint may charge for them from the first byte on."""

    def prepare(self) -> None:
        """Begin to note the call, because it will be sent soon. Without this, `begin` takes longer."""

    async def begin(self) -> None:
        """Note that a request is sent now; awaited right before each request. If it raises, the request is not sent."""

    def note_free(self) -> None:
        """Note that the endpoint provably charges nothing for the last request. The next one takes its place."""


class Completer(Protocol):
    """A provider of completions; it keeps no state between calls.

    A call is a `ModelCall`, which `pgclarify.prompts` renders. A chat model answers every call. Other providers answer
    some calls in their own way; only `adapt` decides which.
    """

    @property
    def provider(self) -> str:
        """The kind of provider: openai or extractive."""

    @property
    def model(self) -> str:
        """Name of the model that answers."""

    @property
    def turns_free(self) -> int | None:
        """How many calls could be sent now, less those that wait; None for a provider that sends none."""

    def adapt(self, call: ModelCall[T]) -> ModelCall[T] | None:
        """Render a call for this provider.

        Returns:
            The call itself, or this provider's own version of it with its own way to read the reply; None if this
            provider cannot answer such calls.
        """

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Make the request of an adapted call for this provider's model. The ledger identifies the call by it."""

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        """Make the call.

        Args:
            request: The request.
            sending: Notes what is sent to an endpoint; its errors are passed on.

        Raises:
            EndpointUnavailable: If the endpoint does not answer, after all retries.
        """


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


class PassageReader(SpanReader, Protocol):
    """A reader of spans that also judges sentences."""

    async def judge(
        self, question: str, title: str, passage: str, sentences: Sequence[tuple[int, int]]
    ) -> Sequence[float]:
        """Tell how probably each sentence of a passage answers a question.

        Args:
            question: A question, or a few words.
            title: The title and headings of the passage; "" if there are none.
            passage: Any text.
            sentences: Start and end of each sentence in the passage, in characters.

        Returns:
            A probability in [0, 1] for each sentence.

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


class Reranker(Protocol):
    """Scores how relevant passages are to a question."""

    async def __call__(
        self, question: str, passages: Sequence[Passage], *, tally: Tally | None = None
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
        tally: Tally | None = None,
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


@dataclass(frozen=True, slots=True)
class Booking:
    """What a worker books of one limit, in seconds: of a limit of 60 calls a minute, a call is a second.

    Attributes:
        seconds: What the worker wants to send; 0 if it needs nothing of this limit now.
        accepted: What the endpoint reported that it still accepts, less a reserve; negative if it accepts nothing for
            so long. None if it did not report it.
        spare: What may be sent at once if no worker has called for so long; None for no more than usual.
    """

    seconds: float = 0.0
    accepted: float | None = None
    spare: float | None = None


class Rates(Protocol):
    """The rates at which all workers together may call endpoints."""

    async def book(self, endpoint: str, requests: Booking, tokens: Booking) -> float:
        """Book requests and tokens of an endpoint for this worker, after what all workers have booked before.

        It does not fail: without the database, the worker's runs fail elsewhere.

        Args:
            endpoint: The name of the endpoint.
            requests: What is booked of the limit of requests.
            tokens: What is booked of the limit of tokens.

        Returns:
            Seconds after which they may be sent; 0 or less for at once.
        """


@dataclass(frozen=True, slots=True)
class Payer:
    """The payer of embedded texts; both None if unknown.

    Attributes:
        run_id: The run that compares or searches with them.
        embedding_space_id: The space that is filled with them.
    """

    run_id: int | None = None
    embedding_space_id: int | None = None


# A context variable instead of an argument of Embedder.encode, so that the code between does not have to know the
# payer.
_payer: ContextVar[Payer] = ContextVar("payer", default=Payer())  # noqa: B039 - it is frozen


@contextmanager
def paid_by(payer: Payer) -> Iterator[None]:
    """Charge a payer for the texts that this task, and tasks that it creates, embed in the block."""
    token = _payer.set(payer)
    try:
        yield
    finally:
        _payer.reset(token)


def current_payer() -> Payer:
    """Return the payer of the texts that this task embeds."""
    return _payer.get()


@dataclass(frozen=True, slots=True)
class PaidTexts:
    """The texts that one model embedded for one payer.

    Attributes:
        payer: The payer.
        model: The model, as in `embedding_space.model`.
        texts: The number of texts.
        tokens: The number of their tokens.
    """

    payer: Payer
    model: str
    texts: int
    tokens: int


class EmbeddingTally:
    """Sums of embedded texts that are not stored yet."""

    def __init__(self) -> None:
        self._sums: dict[tuple[Payer, str], PaidTexts] = {}

    def add(self, paid: Iterable[PaidTexts]) -> None:
        """Add embedded texts, or sums that could not be stored."""
        for each in paid:
            key = (each.payer, each.model)
            known = self._sums.get(key, PaidTexts(*key, 0, 0))
            self._sums[key] = PaidTexts(*key, known.texts + each.texts, known.tokens + each.tokens)

    def take(self) -> list[PaidTexts]:
        """Return the sums, and start from zero."""
        taken = list(self._sums.values())
        self._sums.clear()
        return taken


class Urgency:
    """Whether a caller waits for some work. This may change while the work waits for its turn.

    Args:
        is_waited_for: Whether a caller waits for it now.
        whole: Other work that this work is a part of.

    Attributes:
        changes: How often work of this process became, or stopped being, work that a caller waits for. A line of calls
            compares it with the number that it saw last, so that it sorts its calls again only after a change.
    """

    __slots__ = ("_is_waited_for", "_needed_by")

    changes: ClassVar[int] = 0

    def __init__(self, is_waited_for: bool = False, *, whole: Urgency | None = None) -> None:
        self._is_waited_for = is_waited_for
        self._needed_by = [whole] if whole is not None else []

    @property
    def is_waited_for(self) -> bool:
        """Whether a caller waits for this work, or for other work that needs it."""
        return self._is_waited_for or any(other.is_waited_for for other in self._needed_by)

    def set(self, is_waited_for: bool) -> None:
        """Note whether a caller waits for this work now."""
        if is_waited_for != self._is_waited_for:
            self._is_waited_for = is_waited_for
            Urgency.changes += 1

    def join(self, other: Urgency) -> None:
        """Note that other work needs the result of this work."""
        if other not in self._needed_by:
            self._needed_by.append(other)
            Urgency.changes += other.is_waited_for


# The urgency of tasks that belong to no run. It never changes.
_OF_NO_RUN: Final = Urgency()
# A context variable, so that the code between a run and the line of its endpoint needs no argument for it.
_urgency: ContextVar[Urgency] = ContextVar("urgency", default=_OF_NO_RUN)


@contextmanager
def urgent(urgency: Urgency) -> Iterator[None]:
    """Set the urgency of this task in the block, and of tasks that are created in it."""
    token = _urgency.set(urgency)
    try:
        yield
    finally:
        _urgency.reset(token)


@contextmanager
def waited_for(is_waited_for: bool) -> Iterator[None]:
    """Set whether a caller waits for the work of this task in the block, and of tasks that are created in it."""
    with urgent(Urgency(is_waited_for)):
        yield


def current_urgency() -> Urgency:
    """Return the urgency of this task. Without one, no caller waits."""
    return _urgency.get()


def is_waited_for() -> bool:
    """Return whether a caller waits for the work of this task."""
    return current_urgency().is_waited_for
