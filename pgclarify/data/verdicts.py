"""Frozen data of judging: the reading in one passage, and the verdict on one candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pgclarify.data.model_calls import Completion
from pgclarify.data.vocabulary import Outcome, StopCode
from pgclarify.data.vocabulary import Refusal as Refusal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# A logit: the probability 0.12.
_LEAST_ANSWERABLE: Final = -2.0

LEAST_SURE: Final = 0.25
"""A reading with a lower score is shown only where nothing surer is."""


LEAST_CERTAIN: Final = 0.5
"""A sentence with this score answers a question also in other words."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading that a verifier finds in one passage, with its answer and the quote that proves it.

    Attributes:
        score: The probability of the answer that a trained network gives, in [0, 1]; None if none did.
        ordinal: Its place among the readings of the reply, from 1: the most likely first.
        leans_on: Other documents whose words it has.
    """

    interpretation: str
    answer: str
    quote: str
    score: float | None = None
    ordinal: int = 1
    leans_on: tuple[str, ...] = ()

    @property
    def is_sure(self) -> bool:
        """Whether the answer is probable enough to stand beside others."""
        return self.score is None or self.score >= LEAST_SURE

    @property
    def is_certain(self) -> bool:
        """Whether the judge of sentences needs no common words to say that it answers."""
        return self.score is not None and self.score >= LEAST_CERTAIN


@dataclass(frozen=True, slots=True)
class KnownSaying:
    """What an earlier reply about several passages says of one of them.

    Attributes:
        readings: Most likely first; empty if the passage answers none. None if it is to be asked about alone.
        completion_id: The ledger row of the reply.
        completion: What the reply cost, without its text.
        is_own: Whether this run has paid for it before this attempt.
    """

    readings: tuple[Reading, ...] | None
    completion_id: int
    completion: Completion
    is_own: bool


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

    @property
    def is_answerable(self) -> bool:
        """Whether the passage may have an answer: its probability is at least 0.12."""
        return self.answerable > _LEAST_ANSWERABLE


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
        reason: Why it abstained, or why a check doubts the reading.
        error: The error with the model's reply, which may repeat the passage; set if and only if the outcome is failed.
        error_without_reply: The error without the reply, for the error of the run, which roles without the passage see.
            It is not stored.
        error_code: The SQLSTATE of the error.
        abstention_code: The code of the reason: not_answered, no_language_model, language, threshold or a Refusal; None
            if it did not abstain.
        score: As in Reading.
        doubt_code: Why a check doubts the reading, a Refusal; None if none does.
        reading_ordinal: As Reading.ordinal; 1 unless grounded.
        leans_on: As Reading.leans_on; None if there are none.
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
    score: float | None = None
    doubt_code: Refusal | None = None
    reading_ordinal: int = 1
    leans_on: tuple[str, ...] | None = None
