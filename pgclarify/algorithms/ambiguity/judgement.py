"""The judgement of a question."""

from __future__ import annotations

from dataclasses import dataclass

from pgclarify.data.dialogue import DetectionReason
from pgclarify.data.vocabulary import AmbiguityKind as AmbiguityKind


@dataclass(frozen=True, slots=True)
class Judgement:
    """The classifier's judgement of one question.

    Attributes:
        probability: The probability that the question is ambiguous, in [0, 1].
        kind: The most probable kind. A clear question has one too; ignore it.
        reasons: The reasons for "ambiguous" if the probability reaches the threshold, else those for "clear"; strongest
            first. Empty if no reason can be put in words.
    """

    probability: float
    kind: AmbiguityKind
    reasons: tuple[DetectionReason, ...]
