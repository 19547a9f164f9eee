"""What is judged of a question."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AmbiguityKind(StrEnum):
    """What makes a question ambiguous.

    Source: Detect, then rewrite (summary): its taxonomy.
    """

    PRAGMATIC = "pragmatic"
    """What a word stands for is missing, or only said in earlier turns."""
    SYNTACTIC = "syntactic"
    """Vague or under-specified: it leaves open which one, where, when, or for whom."""
    LEXICAL = "lexical"
    """A name or word has several bearers or meanings."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that spoke for the judgement.

    Attributes:
        source: Who says so: "classifier" (what was learned from examples) or "feature" (what was counted).
        name: What spoke: "referential_words", "length", "readability", "names", "time", "form", "asking_words",
            "history", "wording" or "meaning".
        text: The same in words that a user understands.
    """

    source: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the classifier says of one question.

    Attributes:
        probability: That the question is ambiguous, in [0, 1].
        kind: The most probable kind; of a clear question too, where it means nothing.
        reasons: What spoke for "ambiguous" from the threshold on, or below it for "clear", strongest first. None if
            nothing that can be put in words did.
    """

    probability: float
    kind: AmbiguityKind
    reasons: tuple[Reason, ...]
