"""Records that a client returns: frozen, typed, and independent of any connection.

`pgclarify.data` also has an Interpretation, a Citation, a Verdict and a Step. A worker uses those while it executes a
run: they have vectors and ranks of candidates, and know neither their run nor their document. The classes here are rows
of the SQL API; `pgclarify` exports these.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from pgclarify.data.vocabulary import Outcome, RunStatus, StepKind, StepOutcome, StopCode


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that proves a reading, an answer, a reformulation or a step.

    Attributes:
        rank: Place among the citations of the same item, from 1.
        document_id: The document, by your own id.
        title: Its title now; None if it has none or is gone.
        uri: Its address, for people; None if it has none or is gone.
        passage_id: The passage.
        heading: Headings above the passage when it was cited; None if there were none.
        quote: The words that prove the answer, verbatim.
        start_char: Offset of the quote in the current document, from 0; its former offset if the quote is gone.
        end_char: Offset of the end of the quote, likewise.
        is_current: True if the document still has the quote.
        is_medoid: True for the citation that represents its reading; None unless it is of a reading.
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
    is_medoid: bool | None = None


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that a run cites, as it is now.

    Attributes:
        document_id: The document, by your own id.
        passage_id: The passage.
        content: Its text.
        start_char: Its offset in the document, from 0.
    """

    document_id: str
    passage_id: int
    content: str
    start_char: int


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A reading of the question that the corpus answers.

    Attributes:
        run_id: The run that found it.
        status: How that run ended: succeeded, or partial if some passages could not be judged.
        ordinal: Place by falling support, from 1; conservative: by falling score.
        interpretation: The reading: a question that stands alone.
        answer: Its answer, short.
        support: How many documents support it.
        cohesion: How much its evidence agrees: mean cosine similarity to its medoid, up to 1.
        document_ids: Those documents by your own ids, best first.
        citations: The passages that prove it; the first one is the medoid.
        is_contested: Whether another reading of the run may mean the same and has another answer.
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


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one of several questions.

    Attributes:
        question: The question, as it was passed.
        key: The key that was passed with it; None without keys.
        status: succeeded, partial, failed or cancelled.
        run_id: Its run; `result(run_id)` says why it failed. None if stop_code is not_answered.
        interpretations: The readings, by falling support. If there is none, stop_code says why.
        stop_code: As in RunOutcome; not_answered if the corpus answers no reading of it.
    """

    question: str
    key: str | None
    status: RunStatus
    run_id: int | None
    interpretations: tuple[Interpretation, ...]
    stop_code: StopCode | None = None


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The state of a run.

    Attributes:
        run_id: The run.
        status: Its state; queued or running if it is not over.
        error: Why it failed; None unless it did.
        interpretations: How many readings it found; None unless succeeded or partial. If it is 0, stop_code says why.
        stop_reason: Why it stopped early, such as a spent budget; None if it did not, or is not over.
        stop_code: Why it has no result, or only a part of it. not_answered: a language model judged the passages, and
            none answers. Other codes: it is unknown whether the corpus has an answer. None if the result is complete,
            or if the run failed or is not over.
        cost_usd: What it cost, in US dollars: 0 if it paid for no call; None if the cost of a call is unknown, or the
            run is not over.
        error_code: Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed;
            else None.
    """

    run_id: int
    status: RunStatus
    error: str | None
    interpretations: int | None
    stop_reason: str | None = None
    cost_usd: Decimal | None = None
    stop_code: StopCode | None = None
    error_code: str | None = None

    @property
    def is_over(self) -> bool:
        """Tell whether the run has ended."""
        return is_over(self.status)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one passage. The run may not be over yet.

    Attributes:
        run_id: The run.
        rank: The passage's place in the ranking, from 1.
        outcome: grounded (it answers a reading), abstained (it does not), failed (it could not be judged) or erased
            (the verdict was erased with its document).
        document_id: The document, by your own id.
        title: Its title now; None if it has none, is gone, or if you may not read it.
        passage_id: The passage.
        heading: Headings above the passage; None if there are none.
        interpretation: The reading; None unless grounded.
        answer: Its answer; None unless grounded.
        quote: The words that prove it, verbatim; None unless grounded.
        start_char: Offset of the quote in the document, from 0; None unless grounded.
        end_char: Offset of the end of the quote; None unless grounded.
        reason: Why it abstained; None unless it did.
        error: What went wrong; None unless it failed.
    """

    run_id: int
    rank: int
    outcome: Outcome
    document_id: str
    title: str | None
    passage_id: int
    heading: str | None
    interpretation: str | None
    answer: str | None
    quote: str | None
    start_char: int | None
    end_char: int | None
    reason: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """One question of an investigation. The run may not be over yet.

    Attributes:
        run_id: The run.
        ordinal: Place in the order, from 1; the conclusion is the last one.
        kind: follow_up (a question of the plan), direct (the question itself) or conclusion.
        question: What was asked.
        answer: Its answer; None unless answered.
        outcome: How it ended.
        confidence: How sure the answer is, in (0, 1]; None unless answered.
        reason: Why there is no answer, or a remark on the answer; None if there is nothing to say.
        semantic_sets: How many groups of equal meaning the sampled answers form; None if no answers were sampled.
        citations: The passages that prove the answer; empty if there is none.
        abstention_code: Why there is no evidence, in one word; None unless that is the outcome.
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
class Investigation:
    """The result of an investigation.

    Attributes:
        run_id: The run.
        status: How it ended: succeeded, or partial if calls failed or the budget was spent.
        outcome: How its conclusion ended; None if it has none.
        answer: The answer; None unless answered.
        confidence: How sure it is, in (0, 1]; None unless answered.
        steps: In order; the conclusion is the last one.
        document_ids: Documents that the conclusion cites, best first.
        citations: The passages that prove the conclusion.
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
class SearchResult:
    """A passage that matches a question.

    Attributes:
        rank: Place, from 1.
        passage_id: The passage.
        document_id: Its document, by your own id.
        title: The document's title; None if it has none.
        heading: Headings above the passage; None if there are none.
        content: The passage.
        score: Cosine similarity (dense), BM25 (lexical) or the mean of both, each brought to 0 to 1 (hybrid); higher is
            better.
        origin: How it was found: dense or lexical.
    """

    rank: int
    passage_id: int
    document_id: str
    title: str | None
    heading: str | None
    content: str
    score: float
    origin: str


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """One answer of several.

    Attributes:
        run_id: The run.
        ordinal: Place in the list, from 1: answers that more documents give come first.
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
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What questions would cost.

    Attributes:
        run_id: The run that made the estimate.
        questions: How many questions were given.
        distinct_questions: How many of them are different.
        answered: How many of these an earlier run has answered, so that they need no call.
        sampled: How many of the others were examined. If not all were, the figures are scaled up from these.
        calls: About how many calls would be made and paid for.
        calls_at_most: The upper bound of calls, without those that are repeated because their reply was invalid.
        reused_calls: About how many further calls are needed whose replies are paid for already.
        prompt_tokens: About how many input tokens the calls have.
        completion_tokens: About how many output tokens they have.
        cost_usd: About what they cost in US dollars; None if the model has no price.
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


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A passage that is near another one.

    Attributes:
        rank: Place, from 1.
        document_id: Its document, by your own id.
        passage_id: The passage.
        similarity: Cosine similarity, up to 1.
    """

    rank: int
    document_id: str
    passage_id: int
    similarity: float


@dataclass(frozen=True, slots=True)
class CorpusStatus:
    """The state of a corpus.

    Attributes:
        corpus: Its name.
        documents: Its documents; only those that every reader may read, unless the caller is its owner or analyst.
        passages: Its passages, likewise.
        pending: Documents whose current content is not searchable yet, including rows of attached tables; 0 if
            everything is searchable. If some documents are not for everyone, pending, lag and revision are None unless
            the caller is owner or analyst.
        embedded: Passages with a vector.
        linked: Passages with neighbors in the graph.
        failed: Documents that cannot be indexed; None unless the caller is its owner or analyst.
        lag: How long the oldest pending document has waited; None if nothing is pending.
        revision: How often its searchable content changed.
        embedding_model: Its embedding model.
        error: Why it cannot be searched (such as a model that could not be loaded), or why a change of model does not
            proceed; None if nothing is wrong.
        next_embedding_model: The model that it changes to; None if it does not change.
        next_embedded: Passages with a vector of that model.
        pending_passages: About how many passages wait to be embedded; None if pending is None.
    """

    corpus: str
    documents: int
    passages: int
    pending: int | None
    embedded: int
    linked: int
    failed: int | None
    lag: timedelta | None
    revision: int | None
    embedding_model: str
    error: str | None
    next_embedding_model: str | None = None
    next_embedded: int | None = None
    pending_passages: int | None = None


def is_over(status: RunStatus) -> bool:
    """Tell whether a run in this state has ended."""
    return status not in (RunStatus.QUEUED, RunStatus.RUNNING)
