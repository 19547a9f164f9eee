# Written by `make generated` from pgclarify/declared. Do not edit.
"""Records of the rows of functions: frozen, typed, and independent of any connection."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pgclarify.client.parts import AmbiguityReason, Citation, Ending
from pgclarify.data.vocabulary import (
    AmbiguityKind,
    AmbiguityType,
    Level,
    Origin,
    Refusal,
    RunStatus,
    StepKind,
    StepOutcome,
    StopCode,
)


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A reading with its answer and its evidence: a row of clarify.

    Attributes:
        run_id: The run.
        status: How the run ended: succeeded, or partial if calls failed or a budget was spent.
        ordinal: Place, from 1: first what a model called the most likely in a reply about several passages; then those
            below the heading nearest to the question, then by falling support; conservative: by falling score. Of those
            that contest each other, the newest is first.
        interpretation: The reading: a question that stands alone.
        answer: Its answer.
        support: How many documents support it; of copies of one text, one counts.
        cohesion: Mean cosine similarity of the readings in its cluster to their medoid; 1 for one.
        document_ids: Documents that prove it, best first.
        citations: The passages that prove it, the medoid first.
        is_contested: Whether another reading of the run asks the same of the same thing, and both answers cannot be
            right.
        dated: The newest date of the documents that it cites; None if none is known.
        older_hidden: How many older readings, which contest it, option prefer has hidden; None without the option.
        doubt: Why a check doubts the reading, which then stands after those that no check doubts: fragment (the quote
            is too short to prove the answer), answer_not_quoted (the quote does not say the answer), beside_the_point
            (the quote does not speak of what the reading asks) or about_another (the passage, or the quote, is about
            another thing than the question); None if none does.
        probability: How probably it is right, by the judge of sentences; None if a language model has read it.
        level: The narrowest value of option include that shows it: certain (it is right so often that consolidation
            conservative shows it), likely (it is shown unless something else is asked for) or all (it is less sure, and
            shown only if nothing surer was read); None before 0.4.0.
    """

    run_id: int
    status: RunStatus
    ordinal: int
    interpretation: str
    answer: str
    support: int
    cohesion: float
    document_ids: tuple[str, ...]
    citations: tuple[Citation, ...]
    is_contested: bool
    dated: datetime | None = None
    older_hidden: int | None = None
    doubt: Refusal | None = None
    probability: float | None = None
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A passage that fits a question: a row of search.

    Attributes:
        rank: Place, from 1.
        passage_id: The passage.
        document_id: The document, by your own id.
        title: The document's title; None if it has none.
        heading: Headings above the passage; None if there are none.
        content: The passage.
        score: dense: cosine similarity; lexical: BM25; hybrid: mean of both, each brought to 0 to 1; a neighbor: its
            similarity to the passage that led to it; with a reranker: its score. Higher is better.
        origin: How it was found: dense (by its meaning), lexical (by its words) or neighbor (near another passage).
        place: Where in the document it begins, such as "page 7"; None if its file has no places.
    """

    rank: int
    passage_id: int
    document_id: str
    title: str | None
    heading: str | None
    content: str
    score: float
    origin: Origin
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Investigation:
    """The result of investigate, in one row.

    Attributes:
        run_id: The run.
        status: How the run ended: succeeded, or partial if calls failed or a budget was spent.
        outcome: The outcome of its conclusion: answered, not_in_corpus, cut_off or failed; None if it has none.
        answer: The answer; None unless answered.
        confidence: Confidence in the answer, above 0 and up to 1; None unless answered.
        steps: The steps, in order; the last one is the conclusion.
        document_ids: Documents that the conclusion cites, best first; empty if there are none.
        citations: The evidence of the conclusion.
    """

    run_id: int
    status: RunStatus
    outcome: StepOutcome | None
    answer: str | None
    confidence: float | None
    steps: tuple[Step, ...]
    document_ids: tuple[str, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A clarifying question, or a reformulation to choose: the row of clarifying_questions.

    Attributes:
        run_id: The run, for reply.
        ordinal: Place in the list, from 1.
        ambiguity_type: semantic (it can mean several things), generalize (something broader may be meant) or specify
            (something narrower may be meant); None for form split.
        clarifying_question: A question to the user; None if there are reformulations to choose from.
        reformulation: What a user who means this would ask; None if there are questions to answer, or if nothing names
            it.
        document_ids: Documents that answer the reformulation, best first; empty if there are none or it was not
            checked.
        reasoning: The model's reasoning; None if it gave none. For form split, how many readings a reply leaves.
        is_answerable: Whether a document of the corpus answers the reformulation; None if it was not checked, or could
            not be checked.
        citations: The evidence of the reformulation.
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


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """One answer of a list: the row of list_answers.

    Attributes:
        run_id: The run.
        ordinal: Place in the list, from 1: answers that more documents give come first.
        answer: The answer, in its first spelling.
        variants: All spellings that were found, the first one first.
        document_ids: Documents that have the answer, best first.
        citations: The evidence of the answer.
    """

    run_id: int
    ordinal: int
    answer: str
    variants: tuple[str, ...]
    document_ids: tuple[str, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A passage near another: a row of neighbors.

    Attributes:
        rank: Place among those that you may read, from 1.
        document_id: The document, by your own id.
        passage_id: The passage.
        similarity: How near it is: cosine similarity.
    """

    rank: int
    document_id: str
    passage_id: int
    similarity: float


@dataclass(frozen=True, slots=True)
class RunOutcome(Ending):
    """The state of a run: a row of wait.

    Attributes:
        run_id: The run.
        status: Its state; queued or running if the timeout came first.
        error: Why it failed; None unless it did.
        interpretations: Number of readings found; 0 means that none was found, and stop_code says why. None unless
            succeeded or partial, and for operations without readings, such as investigations.
        stop_reason: Why it stopped early; None if it did not, or is not over.
        cost_usd: What it cost, in US dollars: 0 if it paid for no call; None if the cost of a call is unknown, or
            before its end.
        stop_code: Why it has no result, or only a part of it: not_answered if a language model judged the passages and
            none answers; with other codes, it is unknown whether the corpus has an answer. None if the result is
            complete, or if it has failed or is not over.
        error_code: Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed; else
            None.
    """

    run_id: int
    status: RunStatus
    error: str | None
    interpretations: int | None
    stop_reason: str | None = None
    cost_usd: Decimal | None = None
    stop_code: StopCode | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A question of an investigation with its answer, also while the run is not over.

    Attributes:
        run_id: The run.
        ordinal: Place in the order, from 1; the conclusion is the last one.
        kind: direct (the question itself), follow_up (a question of the plan) or conclusion (the answer to it).
        question: The question.
        answer: Its answer; None unless answered.
        outcome: answered (a quote proves the answer), not_in_corpus (there is no evidence), cut_off (the limit on calls
            was reached) or failed (the model could not be reached or understood). A step that needs the answer of
            another one has its outcome.
        confidence: Confidence in the answer, above 0 and up to 1; None unless answered.
        reason: Why there is no answer, or a remark on the answer; None if there is nothing to say.
        semantic_sets: How many groups of equal meaning the sampled answers form; None if no answers were sampled.
        citations: The passages that prove the answer.
        abstention_code: Why there is no evidence: not_answered, no_passage or unproven; None for other outcomes.
    """

    run_id: int
    ordinal: int
    kind: StepKind
    question: str
    answer: str | None
    outcome: StepOutcome
    confidence: float | None
    reason: str | None
    semantic_sets: int | None
    citations: tuple[Citation, ...]
    abstention_code: StopCode | None = None


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Whether a question is ambiguous, and why: from detect_ambiguity, rewrite, and clarify with option ask_back.

    Attributes:
        run_id: The run.
        is_ambiguous: True if the probability reaches the threshold of the run, or a rule says so.
        probability: Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; None for a question in another
            language than English.
        kind: pragmatic (what it refers to is missing), syntactic (it is vague) or lexical (a name or word in it has
            several meanings); None unless ambiguous.
        reasons: The reasons.
        question: The question.
        ordinal: Place of the question in the run, from 1.
    """

    run_id: int
    is_ambiguous: bool
    probability: float | None
    kind: AmbiguityKind | None
    reasons: tuple[AmbiguityReason, ...]
    question: str | None = None
    ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class RewrittenQuestion:
    """The result of rewrite or reply, or of clarify with a history: a question that stands alone.

    Attributes:
        run_id: The run.
        rewritten: The rewritten question; exactly the original one if it was clear or could not be rewritten.
        was_ambiguous: True if it was ambiguous even with its history; None for replies. False if it was clear. A
            question that was clear only with its history has a reason.
        reason: Why it was rewritten in this way, or not at all; None if there is nothing to say.
    """

    run_id: int
    rewritten: str
    was_ambiguous: bool | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The result of a run of estimate: what questions would cost.

    Attributes:
        run_id: The run.
        questions: How many questions were given.
        distinct_questions: How many of them are different.
        answered: How many of these an earlier run has answered, so that they need no call.
        sampled: How many of the others were examined. If not all were, the figures are scaled up from these.
        calls: About how many calls of the language model would be made and paid for; equal calls count once.
        calls_at_most: At most so many calls, except for calls that are repeated because their reply was invalid.
        reused_calls: About how many further calls are needed whose replies are in the ledger.
        prompt_tokens: About how many input tokens the calls have.
        completion_tokens: About how many output tokens they have.
        cost_usd: About what the calls cost in US dollars, by the model's price at the time of the estimate; None if it
            had none.
        model: The model that would be called.
    """

    run_id: int
    questions: int
    distinct_questions: int
    answered: int
    sampled: int
    calls: int
    calls_at_most: int
    reused_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Decimal | None
    model: str
