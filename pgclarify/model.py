"""Frozen data that the packages of pgclarify share. Its methods only derive values from the data itself.

An Interpretation, a Citation and a Verdict here are in the form that a worker writes. `pgclarify.client.records` has
the form that an application reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pgclarify.errors import NotAllowed
from pgclarify.vocabulary import Outcome, RunStatus, StopCode

if TYPE_CHECKING:
    from uuid import UUID

    import numpy as np
    from numpy.typing import NDArray


class Refusal(StrEnum):
    """Why the verdict of a model is refused; docs/methods/quotation.md describes each check."""

    UNPROVEN = "unproven"
    FRAGMENT = "fragment"
    ANSWER_NOT_QUOTED = "answer_not_quoted"
    BESIDE_THE_POINT = "beside_the_point"
    ABOUT_ANOTHER = "about_another"
    NOT_CONFIRMED = "not_confirmed"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a document that becomes a passage.

    Attributes:
        ordinal: Position in the document, from 1.
        heading: Headings above it, outermost first, joined by " > "; None if there are none.
        content: Exactly document.content[start_char:end_char].
        start_char: Offset of its first character in the document, from 0.
        end_char: Offset after its last character.
    """

    ordinal: int
    heading: str | None
    content: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A stored chunk, as retrieval returns it. Its key is (corpus_id, document_id, passage_id)."""

    document_id: str
    passage_id: int
    content: str
    title: str | None = None
    heading: str | None = None
    start_char: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that a search found, before it is chosen.

    Attributes:
        score: The score of the search: cosine similarity, BM25, reciprocal rank fusion, or the similarity to the
            passage that led to it.
        origin: dense, lexical or neighbor.
        signal_score: Its score by the other retrieval signal, in (0, 1); None if it was not requested.
    """

    passage: Passage
    score: float
    origin: str
    signal_score: float | None = None


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The neighborhoods of some passages, limited to passages that the requester may read.

    Attributes:
        edges: By passage_id, the passage_ids of its neighbors, nearest first; every requested passage has an entry.
        passages: The neighbors that were not known yet, each once.
    """

    edges: Mapping[int, Sequence[int]]
    passages: Sequence[Found]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage retrieved for a run.

    Attributes:
        rank: From 1. If passages are explored, the operation defines the order: that of choosing, or that of final
            scores.
        score: The score that the operation ranks by; see `candidate.score`.
        origin: dense, lexical or neighbor.
        via_passage_id: The passage that led to it; None unless its origin is neighbor.
        batch: The batch in which it was chosen, from 1.
        step_ordinal: The step of an investigation that it belongs to; None for other operations.
    """

    rank: int
    passage: Passage
    score: float
    origin: str
    via_passage_id: int | None = None
    batch: int = 1
    step_ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a run, as `explain` shows it.

    Attributes:
        name: detection, relaxation, retrieval, neighbors, reranking, judgement, confirmation, consolidation,
            decomposition, sampling, answering, reasoning, rewriting, questioning, checking or listing.
        started_at: When it began, with its time zone.
        duration_ms: Duration in milliseconds; stages may overlap.
        rows: The number of results: passages, verdicts, interpretations, answers; None if nothing is counted.
        calls: Calls of a model that it paid for.
        reused_calls: Replies that it took from the ledger.
        prompt_tokens: Input tokens that it paid for.
        completion_tokens: Output tokens that it paid for.
        reused_prompt_tokens: Input tokens of the replies that it took from the ledger.
        reused_completion_tokens: Output tokens of the replies that it took from the ledger.
        model_ms: Sum of the milliseconds of all its calls, including those in the ledger.
        batch: The batch, from 1; None without batches.
        step_ordinal: The step of an investigation; None for other operations.
        note: Further facts: the relaxed question, why the stage stopped early.
    """

    name: str
    started_at: datetime
    duration_ms: float
    rows: int | None = None
    calls: int = 0
    reused_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reused_prompt_tokens: int = 0
    reused_completion_tokens: int = 0
    model_ms: float = 0.0
    batch: int | None = None
    step_ordinal: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """The facts that a worker needs to carry out a run.

    Attributes:
        attempt: From 1. Every write names it, so that a worker that lost the run cannot write into it.
        settings: All parameters in use; the keys are the options of `clarify`, and top_k.
        corpus_id: The corpus; None for operations without a corpus.
        embedding_model: The model of the corpus; None if there is no corpus, or no worker has opened its space yet.
        dimensions: The dimensions of that model; None in the same cases.
        parent_run_id: The run whose verdicts a `consolidate` clusters again, or whose question a `reply` answers.
    """

    run_id: int
    attempt: int
    operation: str
    question: str
    settings: Mapping[str, Any]
    corpus_id: int | None
    embedding_model: str | None
    dimensions: int | None
    parent_run_id: int | None = None


def as_ended(
    status: RunStatus, stop_reason: str | None, stop_code: StopCode | None, refusal: NotAllowed | None
) -> tuple[RunStatus, str | None, StopCode | None]:
    """Return how a run ended if a budget did not allow one of its calls: it is never complete, and names the budget.

    Args:
        status: How the run ended, by its results.
        stop_reason: Why the run stopped, by its results.
        stop_code: The code of that reason, if the tables do not show it.
        refusal: The budget's refusal of the first such call; None if no call was refused.

    Returns:
        Status, stop_reason and stop_code to store.
    """
    if refusal is None:
        return status, stop_reason, stop_code
    return RunStatus.PARTIAL if status is RunStatus.SUCCEEDED else status, refusal.message, StopCode.BUDGET


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading that a verifier finds in one passage, with its answer and the quote that proves it.

    Attributes:
        is_weak: True for an answer that only counts in the top passage of a search.
    """

    interpretation: str
    answer: str
    quote: str
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """The span of a passage that answers a question best.

    Attributes:
        start: Offset of its first character in the passage.
        end: Offset after its last character.
        answerable: Logit of the probability that the passage has an answer.
        log_probability: Natural logarithm of the probability of these two ends, given that there is an answer.
    """

    start: int
    end: int
    answerable: float
    log_probability: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on one candidate.

    Attributes:
        rank: The candidate's rank.
        outcome: grounded, abstained or failed.
        interpretation: A question that is complete by itself; null unless grounded.
        answer: Short; null unless grounded.
        quote: Verbatim from the passage; null unless grounded.
        start_char: Offset of the quote in the document; null unless grounded.
        end_char: Offset after the quote in the document; null unless grounded.
        vector: f(interpretation; answer), float32, unit length; null unless grounded.
        completion_id: The ledger row of the verdict.
        is_reused: True if the completion had been paid for before.
        reason: Why it abstained.
        error: The error with the model's reply, which may repeat the passage; set if and only if the outcome is failed.
        error_without_reply: The error without the reply, for the error of the run, which roles without the passage see.
            It is not stored.
        error_code: The SQLSTATE of the error.
        abstention_code: The code of the reason: not_answered, no_language_model, threshold or a Refusal; None if it did
            not abstain.
    """

    rank: int
    outcome: Outcome
    interpretation: str | None = None
    answer: str | None = None
    quote: str | None = None
    start_char: int | None = None
    end_char: int | None = None
    vector: NDArray[np.float32] | None = None
    completion_id: int | None = None
    is_reused: bool = False
    reason: str | None = None
    error: str | None = None
    error_without_reply: str | None = None
    error_code: str | None = None
    abstention_code: StopCode | Refusal | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of readings with the same meaning.

    Attributes:
        members: Indices into the consolidated vectors, ascending.
        medoid: The member that is most similar to all others.
        cohesion: Mean cosine similarity of the members to the medoid, the medoid itself included; 1 for one member.
    """

    members: tuple[int, ...]
    medoid: int
    cohesion: float


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that supports an interpretation; candidate_rank names it within the run."""

    candidate_rank: int
    is_medoid: bool
    quote: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A reading that survived consolidation. The medoid's citation comes first."""

    interpretation: str
    answer: str
    support: int
    cohesion: float
    citations: Sequence[Citation]


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A document whose content is not searchable yet, claimed by this worker.

    Attributes:
        was_indexed: True if an earlier content was indexed, so that the document may have passages.
        embedding_space_id: The space that its vectors are for.
    """

    corpus_id: int
    document_id: str
    title: str | None
    content: str
    content_hash: bytes
    was_indexed: bool
    embedding_space_id: int
    embedding_model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class LongDocument:
    """A document that is indexed part by part, claimed by this worker for the next part.

    Attributes:
        document: The document, as it is claimed for each part.
        batch_id: The batch of staged passages; None if none is staged.
        staged_passages: Number of staged passages.
        staged_chars: Where the next part starts; the document's length if all are staged.
    """

    document: PendingDocument
    batch_id: UUID | None
    staged_passages: int
    staged_chars: int

    @property
    def is_staged(self) -> bool:
        """Return whether only the last step is left: moving the passages into place."""
        return self.staged_chars >= len(self.document.content)


@dataclass(frozen=True, slots=True)
class PendingPassage:
    """A passage without a vector in a space that is being filled, claimed by this worker."""

    embedding_space_id: int
    document_id: str
    passage_id: int
    title: str | None
    heading: str | None
    content: str
    content_hash: bytes
    embedding_model: str
    dimensions: int


def passage_hash(title: str | None, heading: str | None, content: str) -> bytes:
    """Return the SHA-256 of the embedded text of a passage, 32 bytes, as in `passage.content_hash`."""
    # Texts in PostgreSQL have no null character, so it can separate the parts.
    seen = "\0".join((title or "", heading or "", content))
    return hashlib.sha256(seen.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document cut into chunks, with their vectors.

    Attributes:
        vectors: One for each chunk: float32, shape (dimensions,), unit length. None for a chunk if the document already
            has a passage with the same passage_hash, whose vector is kept.
    """

    document: PendingDocument
    chunks: Sequence[Chunk]
    vectors: Sequence[NDArray[np.float32] | None]
