"""Frozen data of an estimate: what a worker saw of what some questions would ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """The calls of one purpose.

    Attributes:
        purpose: As in CompletionRequest.
        model: Who would be asked.
        calls: How many would be made.
        reused_calls: How many need not be, since their replies are in the ledger.
        input_bytes: How long the inputs of the calls are together, in UTF-8; about, where some are not known.
    """

    purpose: str
    model: str
    calls: int
    reused_calls: int
    input_bytes: int


@dataclass(frozen=True, slots=True)
class Prospect:
    """What some questions would ask, equal inputs counted once.

    Attributes:
        sampled: How many questions were looked at.
        purposes: The calls.
        calls_at_most: No more calls than that are made for them, but for replies that do not fit and are asked again.
        calls_at_most_each: Nor more than that for any question.
    """

    sampled: int
    purposes: Sequence[Expected]
    calls_at_most: int
    calls_at_most_each: int
