"""What a client hands out: frozen, typed, and free of any connection.

`pgclarify.model` has an Interpretation, a Citation and a Verdict too, and `pgclarify.steps` a Step. Those are what a
worker has in hand while it makes a run: they carry vectors and candidate ranks, and know neither their run nor their
document. These here are rows of the SQL API, as callers see them, and the ones that `pgclarify` exports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from pgclarify.vocabulary import Outcome, RunStatus, StepKind, StepOutcome, StopCode

Row: TypeAlias = Mapping[str, Any]
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that proves an interpretation.

    Attributes:
        rank: Place among the citations of its interpretation, from 1.
        is_medoid: True for the one that speaks for the interpretation.
        document_id: The document, by your own id.
        title: Its title now; None if it has none or is gone.
        uri: Where a person finds it; None if nowhere or gone.
        passage_id: The passage.
        heading: Headings above the passage when it was cited; None if there were none.
        quote: The words that prove the answer, verbatim.
        start_char: Offset of the quote in the document as it is now, from 0; where it stood, if it is gone.
        end_char: Offset after the quote, likewise.
        is_current: True if the quote still stands in the document.
    """

    rank: int
    is_medoid: bool
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
class Interpretation:
    """A reading of the question that the corpus really answers.

    Attributes:
        run_id: The run that found it.
        status: How that run ended: succeeded, or partial if some passages could not be judged.
        ordinal: Place by falling support, from 1.
        interpretation: The reading: a question that stands on its own.
        answer: Its answer, short.
        support: Distinct documents that support it.
        cohesion: How much its evidence agrees: mean cosine similarity to the reading that speaks for it, up to 1.
        document_ids: Those documents by your own ids, best first.
        citations: What proves it; the first one speaks for it.
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


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one question of several.

    Attributes:
        question: The question, as it was passed.
        key: The key that was passed with it; None without keys.
        status: succeeded, partial, failed or cancelled.
        run_id: Its run; `result(run_id)` says why it failed. None if stop_code is not_answered.
        interpretations: What was found, by falling support. Where it is empty, stop_code says why.
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
    """How a run stands.

    Attributes:
        run_id: The run.
        status: Its state; queued or running if it is not over.
        error: Why it failed; None unless it did.
        interpretations: Readings found; None unless succeeded or partial. Where there is none, stop_code says why.
        stop_reason: Why it went no further where it might have, such as a budget that is spent; None if there was
            nothing to decide, or it is not over.
        stop_code: Why it has no result, or not all of it: not_answered if a language model judged what was found and
            none of it answers; other codes if it is not known whether the corpus has an answer. None if it has its
            whole result, has failed, or is not over.
        cost_usd: What it cost, in US dollars: 0 if it paid for no call; None if the cost of one is not known, or it is
            not over.
        error_code: Why it failed, as a SQLSTATE that docs/errors.md lists; of a partial rewrite, why its call failed;
            None otherwise.
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
        """True if nothing more will come of it."""
        return is_over(self.status)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about one passage, while the run may still go on.

    Attributes:
        run_id: The run.
        rank: The passage's place in the ranking, from 1.
        outcome: grounded (it answers a reading), abstained (it does not), failed (it could not be judged) or erased
            (what was decided is gone with its document).
        document_id: The document, by your own id.
        title: Its title now; None if it has none, is gone, or is not yours to read.
        passage_id: The passage.
        heading: Headings above the passage; None if there are none.
        interpretation: The reading; None unless grounded.
        answer: Its answer; None unless grounded.
        quote: The words that prove it, verbatim; None unless grounded.
        start_char: Offset of the quote in the document, from 0; None unless grounded.
        end_char: Offset after the quote; None unless grounded.
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
class StepCitation:
    """A passage that proves the answer of a step.

    Attributes:
        step_ordinal: The step.
        rank: Place among its citations, from 1.
        document_id: The document, by your own id.
        title: Its title now; None if it has none or is gone.
        uri: Where a person finds it; None if nowhere or gone.
        passage_id: The passage.
        heading: Headings above the passage when it was cited; None if there were none.
        quote: The words that prove the answer, verbatim.
        start_char: Offset of the quote in the document as it is now, from 0; where it stood, if it is gone.
        end_char: Offset after the quote, likewise.
        is_current: True if the quote still stands in the document.
    """

    step_ordinal: int
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
class Step:
    """What an investigation asked on its way, while the run may still go on.

    Attributes:
        run_id: The run.
        ordinal: Place in the chain, from 1; the conclusion is the last one.
        kind: direct (the question itself), follow_up (a question that it rests on) or conclusion.
        question: What was asked.
        answer: Its answer; None unless answered.
        outcome: How it ended.
        confidence: How sure the answer is, in (0, 1]; None unless answered.
        reason: Why there is no answer, or what else is worth saying of it; None if nothing is.
        semantic_sets: Into how many groups of one meaning the sampled answers fell; None where none were sampled.
        citations: What proves the answer; empty if there is none.
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
    citations: tuple[StepCitation, ...]
    abstention_code: StopCode | None = None


@dataclass(frozen=True, slots=True)
class Investigation:
    """What an investigation came to.

    Attributes:
        run_id: The run.
        status: How it ended: succeeded, or partial if calls failed or ran out on the way.
        outcome: How its conclusion ended; None if it has none.
        answer: The answer; None unless answered.
        confidence: How sure it is, in (0, 1]; None unless answered.
        steps: In order; the conclusion is the last one.
        document_ids: Documents that the conclusion cites, best first.
        citations: What proves the conclusion.
    """

    run_id: int
    status: RunStatus
    outcome: StepOutcome | None
    answer: str | None
    confidence: float | None
    steps: tuple[Step, ...]
    document_ids: tuple[str, ...]
    citations: tuple[StepCitation, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A passage that fits a question.

    Attributes:
        rank: Place, from 1.
        passage_id: The passage.
        document_id: Its document, by your own id.
        title: The document's title; None if it has none.
        heading: Headings above the passage; None if there are none.
        content: The passage.
        score: Cosine similarity (dense), BM25 (lexical) or reciprocal rank fusion (hybrid); higher is better.
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
class CorpusStatus:
    """How far a corpus is.

    Attributes:
        corpus: Its name.
        documents: Documents in it; only those that every reader may read, unless the caller is its owner or analyst.
        passages: Passages in it, likewise.
        pending: Documents whose present content is not searchable yet, with what waits in attached tables; 0: all that
            was added is. This, lag and revision are None where some documents are not for everyone, unless the caller
            is owner or analyst.
        embedded: Passages with a vector.
        linked: Passages with neighbors in the graph.
        failed: Documents that cannot be indexed; None unless the caller is its owner or analyst.
        lag: Age of the oldest of what is pending; None if there is none.
        revision: How often its searchable content changed.
        embedding_model: Its embedding model.
        error: Why it cannot be searched, its model could not be loaded, say, or why a change of model does not get on;
            None if nothing is wrong.
        next_embedding_model: The model that it changes to; None if to none.
        next_embedded: Passages with a vector of that model.
        pending_passages: Passages that wait to be embedded, about; None where pending is.
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
    """True if a run in this state has ended."""
    return status not in (RunStatus.QUEUED, RunStatus.RUNNING)


def record(kind: type[R], row: Row, /, **converted: object) -> R:
    """Make a record of a row that has its fields by name, and perhaps others.

    Args:
        kind: A dataclass of this module.
        row: The row; what it has beyond the fields is left out, so that a newer server may send more.
        converted: Fields that are not taken from the row as they are.
    """
    # The caller passes a dataclass; the type system has no name for those.
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: converted[name] if name in converted else row[name] for name in names})


def read_interpretation(row: Row) -> Interpretation:
    """Read a row of type pgclarify.clarification."""
    return record(
        Interpretation,
        row,
        status=RunStatus(row["status"]),
        document_ids=tuple(row["document_ids"]),
        citations=tuple(record(Citation, citation) for citation in row["citations"]),
    )


def read_stop_code(row: Row) -> StopCode | None:
    """Read the stop code of a run."""
    return None if row["stop_code"] is None else StopCode(row["stop_code"])


def read_outcome(row: Row) -> RunOutcome:
    """Read a row of type pgclarify.run_outcome."""
    return record(RunOutcome, row, status=RunStatus(row["status"]), stop_code=read_stop_code(row))


def read_verdict(row: Row) -> Verdict:
    """Read a row of statement client_watch_run."""
    return record(Verdict, row, outcome=Outcome(row["outcome"]))


def read_step(row: Row) -> Step:
    """Read a row of view pgclarify.investigation_step with its citations."""
    return record(
        Step,
        row,
        kind=StepKind(row["kind"]),
        outcome=StepOutcome(row["outcome"]),
        citations=_read_step_citations(row),
        abstention_code=None if row["abstention_code"] is None else StopCode(row["abstention_code"]),
    )


def read_investigation(row: Row) -> Investigation:
    """Read a row of type pgclarify.investigation."""
    return record(
        Investigation,
        row,
        status=RunStatus(row["status"]),
        outcome=None if row["outcome"] is None else StepOutcome(row["outcome"]),
        steps=tuple(read_step(step) for step in row["steps"]),
        document_ids=tuple(row["document_ids"]),
        citations=_read_step_citations(row),
    )


def _read_step_citations(row: Row) -> tuple[StepCitation, ...]:
    return tuple(record(StepCitation, citation) for citation in row["citations"])
