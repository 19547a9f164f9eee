"""Records of what is said before an answer: is a question ambiguous, and what is meant."""

from __future__ import annotations

from dataclasses import dataclass

from pgclarify.client.records import Citation
from pgclarify.data.vocabulary import AmbiguityType


@dataclass(frozen=True, slots=True)
class AmbiguityReason:
    """One reason for or against ambiguity.

    Attributes:
        source: classifier, feature or rule (a row of ambiguity_rule).
        name: Name of the reason within its source.
        text: The reason in words.
    """

    source: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Whether a question is ambiguous.

    Attributes:
        run_id: The run.
        is_ambiguous: True if the probability reaches the threshold, or a rule says so; None if the run did not succeed.
        probability: That the question is ambiguous, from 0 to 1; 1 if a rule matched; None if the question is in
            another language than English, which the classifier cannot read.
        kind: pragmatic (what it refers to is missing or in the history), syntactic (it is vague or under-specified) or
            lexical (a name or word has several meanings); None unless ambiguous.
        reasons: The reasons for this judgement.
        question: The question, if the run has several.
        ordinal: Its place among the different questions of the run, from 1, likewise.
    """

    run_id: int
    is_ambiguous: bool | None
    probability: float | None
    kind: str | None
    reasons: tuple[AmbiguityReason, ...]
    question: str | None = None
    ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class RewrittenQuestion:
    """A question that stands alone.

    Attributes:
        run_id: The run. To go on from a reply, pass it to clarifying_questions as option reply.
        rewritten: The rewritten question. If the original was clear or could not be rewritten, exactly the original.
        was_ambiguous: Whether the question was ambiguous, given the earlier turns; None for a reply.
        reason: Why it was rewritten in this way, or not at all; None if it is clear without its history.
    """

    run_id: int
    rewritten: str
    was_ambiguous: bool | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A question to ask back, or a reformulation to choose.

    Attributes:
        run_id: The run, for reply.
        ordinal: Place in the list, from 1; for reply.
        ambiguity_type: Which kind of ambiguity it resolves.
        clarifying_question: A question to the user; None if there are reformulations to choose from.
        reformulation: What a user who means this would ask; None if there are questions to answer.
        document_ids: Documents that answer the reformulation, best first; empty unless it is answerable.
        reasoning: The model's reasoning; None if it gave none.
        is_answerable: Whether a document answers the reformulation. None if it was not checked, or if no passage
            answers it and some could not be judged.
        citations: The passages that answer it.
    """

    run_id: int
    ordinal: int
    ambiguity_type: AmbiguityType | None
    clarifying_question: str | None
    reformulation: str | None
    document_ids: tuple[str, ...]
    reasoning: str | None
    is_answerable: bool | None
    citations: tuple[Citation, ...]
