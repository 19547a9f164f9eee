"""Frozen data that the rooms of pgclarify hand to each other. No behaviour beyond what follows from the data itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray


class RunStatus(StrEnum):
    """States of a run; see docs/run-states.md for the diagram."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Outcome(StrEnum):
    """What was decided about one candidate."""

    GROUNDED = "grounded"
    ABSTAINED = "abstained"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Document:
    """One citable document, as a reader of files hands it over.

    Attributes:
        document_id: The user's own id; unique in its corpus.
        content: Plain text or Markdown. Offsets of passages and citations count in it.
        title: Null if the document has none.
        uri: Where a person finds the original.
        metadata: Any JSON object.
        readers: Roles that may read it; None means every reader of the corpus.
    """

    document_id: str
    content: str
    title: str | None = None
    uri: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    readers: tuple[str, ...] | None = None


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
class Candidate:
    """A passage retrieved for a run; rank counts from 1."""

    rank: int
    passage: Passage
    score: float
    origin: str


@dataclass(frozen=True, slots=True)
class Run:
    """What a worker needs to know to carry out a run.

    Attributes:
        attempt: From 1; every write names it, so that a worker that lost the run cannot write into it.
        settings: All parameters as used; the keys are those of `clarify`'s options, and top_k.
        parent_run_id: The run whose verdicts a `consolidate` clusters again.
    """

    run_id: int
    attempt: int
    operation: str
    question: str
    settings: Mapping[str, Any]
    corpus_id: int
    embedding_model: str
    dimensions: int
    parent_run_id: int | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat: role is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One rendered input for one model: what the ledger `completion` is keyed by.

    Attributes:
        purpose: What the reply is for: relaxation, verdict.
        model: Name of the model that is asked.
        parameters: Decoding parameters (temperature, ...); a JSON object.
        prompt_version: Version of the prompt that rendered the messages.
        messages: The rendered input.
        schema: JSON schema that the reply must fit; None for free text.
        sample: 0 for the first reply to this input, 1 for the next, ...
        payload: What a provider that is no chat model works on (the extractive one); part of the input.
    """

    purpose: str
    model: str
    parameters: Mapping[str, Any]
    prompt_version: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    sample: int = 0
    payload: Mapping[str, Any] | None = None

    @property
    def input_hash(self) -> bytes:
        """SHA-256 of the rendered input, 32 bytes."""
        rendered = json.dumps(
            {
                "messages": [[message.role, message.content] for message in self.messages],
                "schema": self.schema,
                "payload": self.payload,
            },
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
        )
        return hashlib.sha256(rendered.encode("utf-8", "surrogatepass")).digest()

    @property
    def key(self) -> tuple[str, str, str, str, bytes, int]:
        """What is unique in the ledger: purpose, model, parameters as JSON, prompt version, input hash, sample."""
        parameters = json.dumps(self.parameters, sort_keys=True, separators=(",", ":"))
        return (self.purpose, self.model, parameters, self.prompt_version, self.input_hash, self.sample)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said; latency in milliseconds."""

    reply: str
    prompt_tokens: int
    completion_tokens: int
    latency_ms: float


@dataclass(frozen=True, slots=True)
class Claim:
    """Where one request stands in the ledger.

    Attributes:
        completion_id: The row of the ledger.
        completion: What the model said, if it was already paid for.
        is_ours: True if this worker holds the lease and has to make the call; with no completion and not
            ours, another worker is making it.
    """

    completion_id: int
    completion: Completion | None
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """What a verifier read out of one passage: at most one reading, its answer and the quote that proves it."""

    interpretation: str
    answer: str
    quote: str


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
