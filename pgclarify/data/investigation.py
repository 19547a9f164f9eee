"""Frozen data of an investigation: its steps, and the parsed replies of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from pgclarify.data.citations import Citation, Result
from pgclarify.data.vocabulary import StepKind, StepOutcome

LEAST_CONFIDENCE: Final = 1e-6
"""Lower bound of a confidence, so that a product of several stays above 0 in a single-precision column."""


@dataclass(frozen=True, slots=True)
class Step(Result):
    """One step of an investigation.

    Attributes:
        ordinal: From 1.
        kind: direct, follow_up or conclusion.
        question: The question of the step; the run's question unless the kind is follow_up.
        outcome: How it ended.
        answer: Short; set if and only if the outcome is answered.
        confidence: At least LEAST_CONFIDENCE, at most 1; set if and only if there is an answer.
            docs/methods/investigation.md defines it.
        reason: Why there is no answer, or a note on the answer, in plain words; None if there is none.
        abstention_code: Why there is no evidence, a StopCode; None unless the outcome is not_in_corpus.
        semantic_sets: Number of groups of the answers that were sampled from the batch of the cited passage; None if
            nothing was sampled or cited.
        citations: The passages that prove the answer; empty if and only if there is no answer.
    """

    relation: ClassVar = "step"

    ordinal: int
    kind: StepKind
    question: str
    outcome: StepOutcome
    answer: str | None = None
    confidence: float | None = None
    reason: str | None = None
    semantic_sets: int | None = None
    citations: tuple[Citation, ...] = ()
    abstention_code: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote that a model gives as its proof. The caller must check that the passage has it.

    Attributes:
        passage: The number of the passage among the shown ones, from 1.
        quote: The quote as the model wrote it.
    """

    passage: int
    quote: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of a model from several passages.

    Attributes:
        answer: Short; None if the passages do not give it.
        evidence: The quotes that prove it; empty if there is no answer.
    """

    answer: str | None = None
    evidence: tuple[Evidence, ...] = ()
