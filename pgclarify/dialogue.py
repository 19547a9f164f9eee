"""Frozen data of a dialogue: what was found ambiguous, rewritten, asked back, replied, and listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from pgclarify.vocabulary import AmbiguityType

MOST_TURNS: Final = 3
"""How often one may ask back in one conversation. Source: AT-CoT, §4.2."""

HISTORY_LENGTH: Final = 10
"""How many elements of a history a model is shown: the last five turns, each a question and its answer.

Source: Detect, then rewrite (summary), Method Summary.
"""


class PromptScheme(StrEnum):
    """How a model is asked for clarifying questions. Source: AT-CoT, §3.2 and Table 2, Equations 1 to 4."""

    STANDARD = "standard"
    """Questions, and nothing before them."""

    AT_STANDARD = "at_standard"
    """The types of ambiguity are explained, and questions follow at once."""

    AT_TYPES = "at_types"
    """The types are explained, and each question names its type: AT-CoT without its reasoning. Ours."""

    COT = "cot"
    """Free reasoning, then questions."""

    AT_COT = "at_cot"
    """Which types apply and why, then questions for each."""

    @property
    def explains_types(self) -> bool:
        """Whether the model is told what types of ambiguity there are."""
        return self in (PromptScheme.AT_STANDARD, PromptScheme.AT_TYPES, PromptScheme.AT_COT)

    @property
    def names_types(self) -> bool:
        """Whether its questions have a type."""
        return self in (PromptScheme.AT_TYPES, PromptScheme.AT_COT)

    @property
    def reasons(self) -> bool:
        """Whether the model says why."""
        return self in (PromptScheme.COT, PromptScheme.AT_COT)


class Form(StrEnum):
    """What is asked back with. Source: AT-CoT, §4.2."""

    RESPOND = "respond"
    """Questions to answer freely."""

    SELECT = "select"
    """Reformulations to choose from."""


@dataclass(frozen=True, slots=True)
class Detection:
    """Whether a question is ambiguous.

    Attributes:
        question: The question.
        is_ambiguous: Whether the probability reaches the threshold, or a rule says so.
        probability: Of being ambiguous, from 0 to 1; 1 if a rule matched; None if the question is in another language
            than English, which the classifier does not read.
        kind: pragmatic, syntactic or lexical; None unless ambiguous.
        reasons: What spoke, each with its source (classifier, feature, rule, corpus), name and text. What a corpus
            supports is said, and decides nothing.
        classifier_version: Of the classifier.
    """

    question: str
    is_ambiguous: bool
    probability: float | None
    kind: str | None
    reasons: tuple[DetectionReason, ...]
    classifier_version: str


@dataclass(frozen=True, slots=True)
class DetectionReason:
    """One thing that spoke for or against ambiguity, in words a user understands.

    Attributes:
        document_ids: The documents that the text was read from; None if it is of no corpus.
    """

    source: str
    name: str
    text: str
    document_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class MatchedRule:
    """A row of ambiguity_rule that matched a question.

    Attributes:
        ordinal: Place of the question among those that were asked about, from 1.
        ambiguity_rule_id: The rule.
        kind: pragmatic, syntactic or lexical.
        note: For whoever asked; None if there is none.
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
        version: Its number among those of its corpus, from 1; 0 before it is stored.
        shipped_version: The version of the classifier that ships, which it corrects.
        threshold: The probability from which a question counts as ambiguous, unless a user says otherwise.
        judges_questions: Whether it judges questions before which nothing was said.
        judges_conversations: Whether it judges questions with turns before them. The classifier that ships judges
            what it does not judge.
        weights: What was learned: see algorithms.ambiguity.correction.
    """

    version: int
    shipped_version: str
    threshold: float
    judges_questions: bool
    judges_conversations: bool
    weights: Sequence[float] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The question that a run of rewrite or reply came to.

    Attributes:
        rewritten: The question; the one that was asked, to the byte, if it was clear or could not be rewritten.
        was_ambiguous: Whether it was so with what was said before it; None for replies.
        reason: Why it was rewritten as it was, or not at all; None of a clear question that does not lean on what was
            said, and of replies.
    """

    rewritten: str
    was_ambiguous: bool | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A question to ask back, or a reformulation to choose, as a model proposed it.

    Attributes:
        ambiguity_type: None for schemes that name no types.
        reasoning: Why; None for schemes without reasoning.
        clarifying_question: None where there are reformulations to choose from.
        reformulation: The question of somebody who means this; None if the model gave none.
    """

    ambiguity_type: AmbiguityType | None
    reasoning: str | None
    clarifying_question: str | None
    reformulation: str | None


@dataclass(frozen=True, slots=True)
class EvidenceCitation:
    """A passage that proves something that a run lists.

    Attributes:
        candidate_rank: Names the candidate within the run.
        quote: As the document spells it.
        start_char: Offset of the quote in the document.
        end_char: Offset after the quote.
    """

    candidate_rank: int
    quote: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class ClarifyingQuestion:
    """A proposed question, checked.

    Attributes:
        ordinal: From 1.
        proposed: As the model gave it.
        is_answerable: Whether a document answers the reformulation; None if there is no reformulation, if it was not
            checked, or if no passage answers it and some could not be judged.
        citations: What answers it, best first; empty unless answerable.
    """

    ordinal: int
    proposed: ProposedQuestion
    is_answerable: bool | None = None
    citations: tuple[EvidenceCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation.

    Attributes:
        asked: What was asked back: clarifying questions, or reformulations to choose from, in order.
        reply: What came back.
    """

    asked: Sequence[str]
    reply: str


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """One answer of several.

    Attributes:
        ordinal: The order in which they were found, from 1.
        answer: As it was first found.
        variants: Spellings in which it was found, the answer itself first.
        citations: What proves it, in the order in which it was found; at least one.
    """

    ordinal: int
    answer: str
    variants: tuple[str, ...]
    citations: tuple[EvidenceCitation, ...]
