"""Records of dialogues that a client returns: frozen, typed, and independent of any connection.

`pgclarify.dialogue` also has a ProposedQuestion, an EvidenceCitation and a ListedAnswer, which a worker uses while it
executes a run. The classes here are rows of the SQL API; `pgclarify` exports these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgclarify.client.records import Row, record
from pgclarify.vocabulary import AmbiguityType


@dataclass(frozen=True, slots=True)
class AmbiguityReason:
    """One reason for or against ambiguity.

    Attributes:
        source: classifier, feature, rule (a row of ambiguity_rule) or corpus (the number of readings that it supports).
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
        is_ambiguous: True if the probability reaches the threshold, or a rule says so.
        probability: That the question is ambiguous, from 0 to 1; 1 if a rule matched; None if the question is in
            another language than English, which the classifier cannot read.
        kind: pragmatic (what it refers to is missing or in the history), syntactic (it is vague or under-specified) or
            lexical (a name or word has several meanings); None unless ambiguous.
        reasons: The reasons for this judgement.
    """

    run_id: int
    is_ambiguous: bool
    probability: float | None
    kind: str | None
    reasons: tuple[AmbiguityReason, ...]


@dataclass(frozen=True, slots=True)
class RewrittenQuestion:
    """A question that stands alone.

    Attributes:
        run_id: The run.
        rewritten: The rewritten question. If the original was clear or could not be rewritten, exactly the original.
        was_ambiguous: Whether the question was ambiguous, given the earlier turns.
        reason: Why it was rewritten in this way, or not at all; None if it is clear without its history.
    """

    run_id: int
    rewritten: str
    was_ambiguous: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class EvidenceCitation:
    """A passage that answers a reformulation, or proves an answer of several.

    Attributes:
        rank: Place among the citations of the same reformulation or answer, from 1.
        document_id: The document, by your own id.
        title: Its title now; None if it has none or is gone.
        uri: Its address, for people; None if it has none or is gone.
        passage_id: The passage.
        heading: Headings above the passage when it was cited; None if there were none.
        quote: The words that prove it, verbatim.
        start_char: Offset of the quote in the current document, from 0; its former offset if the quote is gone.
        end_char: Offset of the end of the quote, likewise.
        is_current: True if the document still has the quote.
    """

    rank: int
    document_id: str
    title: str | None
    uri: str | None
    passage_id: int
    heading: str | None
    quote: str
    start_char: int
    end_char: int
    is_current: bool


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A question to ask back, or a reformulation to choose.

    Attributes:
        run_id: The run, for reply.
        ordinal: Place in the list, from 1; for reply.
        ambiguity_type: Which kind of ambiguity it resolves; None for schemes without types.
        clarifying_question: A question to the user; None if there are reformulations to choose from.
        reformulation: What a user who means this would ask; None if the model gave none.
        document_ids: Documents that answer the reformulation, best first; empty unless it is answerable.
        reasoning: The model's reasoning; None for schemes without reasoning.
        is_answerable: Whether a document answers the reformulation. None if there is no reformulation, if it was not
            checked, or if no passage answers it and some could not be judged.
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
    citations: tuple[EvidenceCitation, ...]


@dataclass(frozen=True, slots=True)
class ReformulatedQuestion:
    """The state of a conversation after a turn.

    Attributes:
        conversation_id: The conversation; pass it to clarifying_questions for the next turn.
        turn: The number of this turn, from 1 to 3.
        question: The question as it is now.
        turns_left: How many more turns are possible, from 2 to 0.
    """

    conversation_id: int
    turn: int
    question: str
    turns_left: int


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """One answer of several.

    Attributes:
        run_id: The run.
        ordinal: Place in the order in which the answers were found, from 1.
        answer: The answer in its first spelling.
        variants: All spellings that were found, the first one first.
        document_ids: Documents that have the answer, best first.
        citations: The passages that prove it.
    """

    run_id: int
    ordinal: int
    answer: str
    variants: tuple[str, ...]
    document_ids: tuple[str, ...]
    citations: tuple[EvidenceCitation, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """Which route the router before clarify (option ask_back) chose.

    Attributes:
        run_id: The run.
        route: answered (the question was clear, and one pass answered it) or clarified; None if there was no router, or
            no decision yet.
        saved_completions: How many calls this saved; None likewise.
        ambiguity: The judgement that decided it; None likewise.
    """

    run_id: int
    route: Literal["answered", "clarified"] | None
    saved_completions: int | None
    ambiguity: Ambiguity | None


def read_ambiguity(row: Row) -> Ambiguity:
    """Read a row of type pgclarify.ambiguity."""
    return record(Ambiguity, row, reasons=_read_reasons(row))


def read_proposed_question(row: Row) -> ProposedQuestion:
    """Read a row of type pgclarify.proposed_question."""
    return record(
        ProposedQuestion,
        row,
        ambiguity_type=None if row["ambiguity_type"] is None else AmbiguityType(row["ambiguity_type"]),
        document_ids=tuple(row["document_ids"]),
        citations=_read_evidence(row),
    )


def read_listed_answer(row: Row) -> ListedAnswer:
    """Read a row of type pgclarify.answer."""
    return record(
        ListedAnswer,
        row,
        variants=tuple(row["variants"]),
        document_ids=tuple(row["document_ids"]),
        citations=_read_evidence(row),
    )


def read_route(row: Row) -> Route:
    """Read a row of statement client_get_route."""
    return record(Route, row, ambiguity=None if row["is_ambiguous"] is None else read_ambiguity(row))


def _read_reasons(row: Row) -> tuple[AmbiguityReason, ...]:
    return tuple(record(AmbiguityReason, reason) for reason in row["reasons"] or ())


def _read_evidence(row: Row) -> tuple[EvidenceCitation, ...]:
    return tuple(record(EvidenceCitation, citation) for citation in row["citations"])
