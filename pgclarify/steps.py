"""Frozen data of an investigation: its steps, and what the replies of a model say about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pgclarify.vocabulary import StepKind, StepOutcome

LEAST_CONFIDENCE: Final = 1e-6
"""The least that a confidence is: a share of a share of a share stays above 0 in a column of single precision."""


@dataclass(frozen=True, slots=True)
class StepCitation:
    """A passage that proves a step's answer.

    Attributes:
        candidate_rank: Names the candidate within the run; a conclusion cites candidates of other steps.
        quote: As the document spells it.
        start_char: Offset of the quote in the document.
        end_char: Offset after the quote.
    """

    candidate_rank: int
    quote: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an investigation.

    Attributes:
        ordinal: From 1.
        kind: direct, follow_up or conclusion.
        question: What was asked; the run's question unless the kind is follow_up.
        outcome: How it ended.
        answer: Short; set if and only if the outcome is answered.
        confidence: At least LEAST_CONFIDENCE, at most 1; set if and only if there is an answer.
            docs/methods/investigation.md says what it is.
        reason: Why there is no answer, or what else is worth saying of it, in plain words; None if nothing is.
        abstention_code: Why there is no evidence, a StopCode; None unless the outcome is not_in_corpus.
        semantic_sets: Into how many groups the answers fell that were sampled from the batch of the cited passage;
            None where nothing was sampled or nothing is cited.
        citations: What proves the answer; empty if and only if there is none.
    """

    ordinal: int
    kind: StepKind
    question: str
    outcome: StepOutcome
    answer: str | None = None
    confidence: float | None = None
    reason: str | None = None
    semantic_sets: int | None = None
    citations: tuple[StepCitation, ...] = ()
    abstention_code: str | None = None


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What a model wants to know next.

    Attributes:
        question: The next follow-up question; None if none is needed (any more).
        answer: The answer to the whole question, where the chain gives it; None if it does not, or not yet.
    """

    question: str | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote that a model gives as its proof. Whether it is in that passage is the caller's to check.

    Attributes:
        passage: The passage's number among those that were shown, from 1.
        quote: As the model wrote it.
    """

    passage: int
    quote: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What a model read out of several passages.

    Attributes:
        answer: Short; None if the passages do not give it.
        evidence: What proves it; empty if there is no answer.
        contradiction: What contradicts what, in the model's words; None if nothing does. Only a conclusion has one.
    """

    answer: str | None = None
    evidence: tuple[Evidence, ...] = ()
    contradiction: str | None = None
