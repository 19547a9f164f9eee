"""Frozen data of an estimate: the calls that a worker expects for some questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """The calls of one purpose.

    Attributes:
        purpose: As in CompletionRequest.
        model: The model to ask.
        calls: Number of calls to make.
        reused_calls: Number of calls that are not needed, because their replies are in the ledger.
        input_bytes: Total length of the inputs of the calls in UTF-8; approximate if some inputs are not known.
        documents: How many documents the inputs of joint calls have, each counted once in a call; approximate, too.
            0 for other purposes, whose inputs differ less in length.
    """

    purpose: str
    model: str
    calls: int
    reused_calls: int
    input_bytes: int
    documents: int = 0


@dataclass(frozen=True, slots=True)
class Prospect:
    """The calls for some questions, with equal inputs counted once.

    Attributes:
        sampled: Number of questions in the sample.
        purposes: The calls by purpose.
        calls_at_most: Most calls for these questions, without second tries after replies that do not fit.
        calls_at_most_each: Most calls for any one question.
    """

    sampled: int
    purposes: Sequence[Expected]
    calls_at_most: int
    calls_at_most_each: int
