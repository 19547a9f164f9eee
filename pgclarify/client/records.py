"""Records that a client returns and that are no rows of a function; `result_records` has those that are.

All are frozen, typed, and independent of any connection. `pgclarify.data` also has an Interpretation, a Citation, a
Verdict and a Step. A worker uses those while it executes a run: they have vectors and ranks of candidates, and know
neither their run nor their document. The records here are those of the SQL API; `pgclarify` exports them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from pgclarify.client.result_records import Interpretation
from pgclarify.data.vocabulary import Outcome, RunStatus, StopCode


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
class Answer:
    """The answer to one of several questions.

    Attributes:
        question: The question, as it was passed.
        key: The key that was passed with it; None without keys.
        status: succeeded, partial, failed or cancelled.
        run_id: Its run; `result(run_id)` says why it failed. None if stop_code is not_answered.
        interpretations: The readings, best first. If there is none, stop_code says why.
        stop_code: As in RunOutcome; not_answered if the corpus answers no reading of it.
    """

    question: str
    key: str | None
    status: RunStatus
    run_id: int | None
    interpretations: tuple[Interpretation, ...]
    stop_code: StopCode | None = None


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
        reason: Why it abstained, or why a check doubts the reading; None otherwise.
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
class CorpusStatus:
    """The state of a corpus.

    Attributes:
        corpus: Its name.
        documents: Its documents; only those that every reader may read, unless the caller is its owner or analyst.
            None, as the other counts, if a filter limits the caller.
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
    documents: int | None
    passages: int | None
    pending: int | None
    embedded: int | None
    linked: int | None
    failed: int | None
    lag: timedelta | None
    revision: int | None
    embedding_model: str
    error: str | None
    next_embedding_model: str | None = None
    next_embedded: int | None = None
    pending_passages: int | None = None
