"""Frozen data of the report of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.runs import Stage


@dataclass(frozen=True, slots=True)
class RunHead:
    """How a run was asked, its state and its cost: columns of table run.

    Attributes:
        is_over_budget: Whether it stopped because a budget allows no further call.
        seen_by: The role that reads it, which may see less than others.
        stop_code: Why it has no result, or only a part of it; None if the result is complete, or if it failed or is not
            over.
        stop_meaning: The meaning of that code, as part of a sentence.
        stop_help: What to do.
    """

    run_id: int
    operation: str
    corpus_id: int | None
    corpus: str | None
    question: str
    relaxed_question: str | None
    history: Sequence[str]
    settings: Mapping[str, Any]
    parent_run_id: int | None
    requested_by: str
    status: str
    error: str | None
    corpus_revision: int | None
    model: str | None
    prompt_version: str | None
    completions: int | None
    reused_completions: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: Decimal | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    stop_reason: str | None
    is_over_budget: bool
    route: str | None
    saved_completions: int | None
    seen_by: str
    stop_code: str | None = None
    stop_meaning: str | None = None
    stop_help: str | None = None

    @property
    def asked_no_model(self) -> bool:
        """Whether the provider extractive judged its passages; its name includes the version of its rules."""
        return (self.prompt_version or "").startswith("extractive-")


@dataclass(frozen=True, slots=True)
class SeenPassage:
    """A passage that a run found, and the verdict on it.

    Attributes:
        rank: From 1; identifies it within the run.
        content: Its current text; None if it is gone, or if this role may not read it.
        start_char: Offset of its text in the document; None likewise.
        via_passage_id: The passage that led to it; None unless its origin is neighbor.
        step_ordinal: The step of an investigation that retrieved it; None for other operations.
        outcome: grounded, abstained or failed; None if it was not judged.
        quote_start_char: Offset of the quote in the document when it was judged; None unless grounded.
        vector: f(interpretation; answer), float32, shape (dimensions,), unit length; None unless grounded.
    """

    rank: int
    document_id: str
    passage_id: int
    heading: str | None
    title: str | None
    uri: str | None
    content: str | None
    start_char: int | None
    score: float
    origin: str
    via_passage_id: int | None
    batch: int
    step_ordinal: int | None
    outcome: str | None = None
    interpretation: str | None = None
    answer: str | None = None
    quote: str | None = None
    quote_start_char: int | None = None
    reason: str | None = None
    error: str | None = None
    is_reused: bool | None = None
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """A citation.

    Attributes:
        candidate_rank: The passage's rank in the run.
        is_medoid: True for the medoid of its reading.
        title: The document's title now; None if it has none, is gone, or if this role may not read it.
        uri: Its address, likewise.
        start_char: Offset of the quote in the document; in the current one if is_current.
        is_current: True if the document still has the quote, and this role may read it.
    """

    rank: int
    candidate_rank: int
    is_medoid: bool
    document_id: str
    passage_id: int
    title: str | None
    uri: str | None
    heading: str | None
    quote: str
    start_char: int
    is_current: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a run: a reading, a step of an investigation, or an answer of a list.

    Attributes:
        question: The reading, or what the step asked; None for listed answers.
        answer: None for steps without one.
        support: How many documents support a reading; None for others.
        cohesion: How near the readings of its cluster are to it, up to 1; None for others.
        is_contested: Whether another reading asks in the same words and has another answer.
        kind: direct, follow_up or conclusion for steps; None for others.
        outcome: The outcome of a step; None for others.
        confidence: The confidence of a step's answer, above 0 and up to 1; None for others.
        reason: A remark on a step; None for others.
        variants: Other spellings of a listed answer.
        proofs: Best first; a reading's medoid first.
    """

    ordinal: int
    question: str | None
    answer: str | None
    proofs: tuple[Proof, ...]
    support: int | None = None
    cohesion: float | None = None
    is_contested: bool = False
    kind: str | None = None
    outcome: str | None = None
    confidence: float | None = None
    reason: str | None = None
    variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunReport:
    """Everything that the page of a run shows.

    Attributes:
        findings: By ordinal.
        passages: By rank.
        stages: In the order in which they began; empty while the run is not over.
        explanation: The lines of `explain`.
        written_at: When the data was read.
    """

    head: RunHead
    findings: tuple[Finding, ...]
    passages: tuple[SeenPassage, ...]
    stages: tuple[Stage, ...]
    explanation: tuple[str, ...]
    written_at: datetime
