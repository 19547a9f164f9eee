"""Frozen data of a dialogue: detections, rewritten questions, clarifying questions, replies and listed answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Final

from pgclarify.data.citations import Citation, Result
from pgclarify.data.vocabulary import AmbiguityType, QuestionForm

MOST_TURNS: Final = 3
"""Most rounds of clarifying questions in one conversation. Source: AT-CoT, §4.2."""

HISTORY_LENGTH: Final = 10
"""Number of elements of a history that a model is shown: the last five turns, each a question and its answer.

Source: Detect, then rewrite (summary), Method Summary.
"""


class Form(StrEnum):
    """The forms in which a model asks. Source: AT-CoT, §4.2."""

    RESPOND = QuestionForm.RESPOND
    SELECT = QuestionForm.SELECT


@dataclass(frozen=True, slots=True)
class Detection(Result):
    """Whether a question is ambiguous.

    Attributes:
        question: The question.
        is_ambiguous: Whether the probability reaches the threshold, or a rule says so.
        probability: The probability that the question is ambiguous, from 0 to 1; 1 if a rule matched; None if the
            question is not in English, which the classifier requires.
        kind: pragmatic, syntactic or lexical; None unless ambiguous.
        reasons: The reasons, strongest first.
        classifier_version: The version of the classifier.
    """

    relation: ClassVar = "detection"

    question: str
    is_ambiguous: bool
    probability: float | None
    kind: str | None
    reasons: tuple[DetectionReason, ...]
    classifier_version: str


@dataclass(frozen=True, slots=True)
class DetectionReason:
    """A reason for or against ambiguity.

    Attributes:
        source: "classifier" (learned from examples), "feature" (counted in the text) or "rule".
        name: The kind of reason, such as "referential_words", "length" or "rule 7".
        text: The reason in words that a user understands.
    """

    source: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class MatchedRule:
    """A row of ambiguity_rule that matched a question.

    Attributes:
        ordinal: Place of the question among the given questions, from 1.
        ambiguity_rule_id: The rule.
        kind: pragmatic, syntactic or lexical.
        note: A note for the user who asked; None if there is none.
        matched: The words that it matched.
    """

    ordinal: int
    ambiguity_rule_id: int
    kind: str
    note: str | None
    matched: str


@dataclass(frozen=True, slots=True)
class TrainedVersion:
    """A version of the classifier that was trained on the labelled questions of a corpus.

    Attributes:
        version: Its number within its corpus, from 1; 0 before it is stored.
        shipped_version: The version of the shipped classifier that it corrects.
        threshold: A question with at least this probability counts as ambiguous, unless the user sets another
            threshold.
        judges_questions: Whether it judges questions without history.
        judges_conversations: Whether it judges questions with history. The shipped classifier judges the kind that this
            version does not judge.
        weights: The learned weights; see algorithms.ambiguity.correction.
    """

    version: int
    shipped_version: str
    threshold: float
    judges_questions: bool
    judges_conversations: bool
    weights: Sequence[float] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rewriting(Result):
    """The result of a run of rewrite or reply.

    Attributes:
        rewritten: The rewritten question; the original question, byte for byte, if it was clear or could not be
            rewritten.
        was_ambiguous: Whether the question was ambiguous, given its history; None for replies.
        reason: Why the question was or was not rewritten; None for a clear question that does not depend on its
            history, and for replies.
    """

    relation: ClassVar = "rewriting"

    rewritten: str
    was_ambiguous: bool | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A clarifying question, or a reformulation to choose, as a model proposed it, or as readings are split.

    Attributes:
        ambiguity_type: The type of ambiguity that it resolves; None for a side of a split.
        reasoning: Why the question has this type; None if the model gave no reason.
        clarifying_question: The question; None if there are reformulations to choose from.
        reformulation: The complete question of a user with this meaning; None if there are questions to answer, or if
            nothing names a side of a split.
    """

    ambiguity_type: AmbiguityType | None
    reasoning: str | None
    clarifying_question: str | None
    reformulation: str | None


@dataclass(frozen=True, slots=True)
class ClarifyingQuestion(Result):
    """A proposed question after its check.

    Attributes:
        ordinal: From 1.
        proposed: As the model gave it.
        is_answerable: Whether a document answers the reformulation. None if it was not checked. None too if no passage
            answers it and some passages could not be judged.
        citations: The passages that answer it, best first; empty unless answerable.
    """

    relation: ClassVar = "clarifying_question"

    ordinal: int
    proposed: ProposedQuestion
    is_answerable: bool | None = None
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation.

    Attributes:
        asked: The clarifying questions, or the reformulations to choose from, in order.
        reply: The reply of the user.
    """

    asked: Sequence[str]
    reply: str


@dataclass(frozen=True, slots=True)
class ListedAnswer(Result):
    """One answer of several.

    Attributes:
        ordinal: The place in the list, from 1.
        answer: The answer in its first spelling.
        variants: All spellings that were found, the answer itself first.
        citations: The passages that prove it, by rank; at least one.
    """

    relation: ClassVar = "listed_answer"

    ordinal: int
    answer: str
    variants: tuple[str, ...]
    citations: tuple[Citation, ...]
