"""Frozen data that the rooms of pgclarify hand to each other. No behaviour beyond what follows from the data itself.

An Interpretation, a Citation and a Verdict are here as a worker makes them; `pgclarify.client.records` has them as an
application reads them.
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
    """Why a verdict that a model gave is not believed; docs/methods/quotation.md says how each is found."""

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
    """A passage that a search came upon, before anybody has chosen it.

    Attributes:
        score: The search's own: cosine similarity, BM25, reciprocal rank fusion, or the similarity to the passage that
            led to it.
        origin: dense, lexical or neighbor.
        signal_score: What the other retrieval signal says of it, in (0, 1); None if it was not asked for.
    """

    passage: Passage
    score: float
    origin: str
    signal_score: float | None = None


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The neighborhoods of some passages, as far as the requester may read them.

    Attributes:
        edges: By passage_id, the passage_ids of its neighbors, nearest first; every passage asked about has its entry.
        passages: Those among them that were not known yet, each once.
    """

    edges: Mapping[int, Sequence[int]]
    passages: Sequence[Found]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage retrieved for a run.

    Attributes:
        rank: From 1. Where passages are explored, the order in which they were chosen, or that of their final scores:
            the operation says which.
        score: As the operation ranks by; see `candidate.score`.
        origin: dense, lexical or neighbor.
        via_passage_id: The passage that led to it; None unless its origin is neighbor.
        batch: The batch that it was chosen in, from 1.
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
    """One stage of a run, as `explain` tells of it.

    Attributes:
        name: detection, relaxation, retrieval, neighbors, reranking, judgement, confirmation, consolidation,
            decomposition, sampling, answering, reasoning, rewriting, questioning, checking or listing.
        started_at: When it began, with its time zone.
        duration_ms: How long it took, in milliseconds; stages may overlap.
        rows: What it came to: passages, verdicts, interpretations, answers; None where nothing is counted.
        calls: Calls of a model that it paid for.
        reused_calls: Replies that it took from the ledger.
        prompt_tokens: Input tokens that it paid for.
        completion_tokens: Output tokens that it paid for.
        reused_prompt_tokens: Input tokens of the replies that it took from the ledger.
        reused_completion_tokens: Output tokens of those.
        model_ms: Milliseconds that all its calls took, those in the ledger included, as if one came after the other.
        batch: The batch, from 1; None where there are none.
        step_ordinal: The step of an investigation; None for other operations.
        note: What else is worth a line: the relaxed question, why it was cut short.
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
    """What a worker needs to know to carry out a run.

    Attributes:
        attempt: From 1; every write names it, so that a worker that lost the run cannot write into it.
        settings: All parameters as used; the keys are those of `clarify`'s options, and top_k.
        corpus_id: None for what is asked of no corpus.
        embedding_model: The corpus's; None if there is no corpus, or no worker has opened its space yet.
        dimensions: Likewise.
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
    """Say how a run ended of which a budget did not let a call through: it is never complete, and names the budget.

    Args:
        status: How it ended by what it came to.
        stop_reason: Why it went no further, by the same.
        stop_code: The same in one word, as far as the tables do not tell it.
        refusal: What it was told when it asked for the first such call; None if there was none.

    Returns:
        Status, stop_reason and stop_code to keep.
    """
    if refusal is None:
        return status, stop_reason, stop_code
    return RunStatus.PARTIAL if status is RunStatus.SUCCEEDED else status, refusal.message, StopCode.BUDGET


@dataclass(frozen=True, slots=True)
class Reading:
    """What a verifier read out of one passage: at most one reading, its answer and the quote that proves it.

    Attributes:
        is_weak: True for an answer that counts only in the passage that a search ranks first.
    """

    interpretation: str
    answer: str
    quote: str
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """Where a passage answers a question best.

    Attributes:
        start: Offset of its first character in the passage.
        end: Offset after its last one.
        answerable: Logit of there being an answer at all.
        log_probability: Natural logarithm of the probability of these two ends, given that there is one.
    """

    start: int
    end: int
    answerable: float
    log_probability: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about one candidate.

    Attributes:
        rank: The candidate's rank.
        outcome: grounded, abstained or failed.
        interpretation: A question that stands on its own; null unless grounded.
        answer: Short; null unless grounded.
        quote: Verbatim from the passage; null unless grounded.
        start_char: Offset of the quote in the document; null unless grounded.
        end_char: Offset after the quote in the document; null unless grounded.
        vector: f(interpretation; answer), float32, unit length; null unless grounded.
        completion_id: The ledger row that the verdict was read from.
        is_reused: True if the completion had been paid for before.
        reason: Why it abstained.
        error: What went wrong; set if and only if the outcome is failed.
        error_code: The same as a SQLSTATE.
        abstention_code: Why it abstained, in one word: not_answered, no_language_model, threshold or a Refusal; None
            unless it did.
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
    error_code: str | None = None
    abstention_code: StopCode | Refusal | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of readings that mean the same.

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
        was_indexed: True if an earlier content of it has been; it may have passages.
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
    """A document that is indexed part by part, claimed by this worker for the next one.

    Attributes:
        document: As it is claimed for each part.
        batch_id: Of the passages that are staged; None if none is.
        staged_passages: How many those are.
        staged_chars: Where the next part starts; the document's length if all are staged.
    """

    document: PendingDocument
    batch_id: UUID | None
    staged_passages: int
    staged_chars: int

    @property
    def is_staged(self) -> bool:
        """Whether all that is left is to move it into place."""
        return self.staged_chars >= len(self.document.content)


@dataclass(frozen=True, slots=True)
class PendingPassage:
    """A passage that a space which is being filled has no vector of yet, claimed by this worker."""

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
    """SHA-256 of what is embedded of a passage, 32 bytes: what `passage.content_hash` keeps."""
    # No text in PostgreSQL has a null character in it.
    seen = "\0".join((title or "", heading or "", content))
    return hashlib.sha256(seen.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document cut into chunks, with their vectors.

    Attributes:
        vectors: One for each chunk: float32, shape (dimensions,), unit length; None for a chunk of which the document
            has a passage with the same passage_hash, whose vector stays.
    """

    document: PendingDocument
    chunks: Sequence[Chunk]
    vectors: Sequence[NDArray[np.float32] | None]
