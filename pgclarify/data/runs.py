"""Frozen data of runs: what a worker is given, and the stages that `explain` shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pgclarify.data.model_calls import Completion
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import NotAllowed


@dataclass(slots=True)
class Tally:
    """The work of one stage.

    Attributes:
        rows: The number of results: passages, verdicts, interpretations, answers; None if nothing is counted.
        calls: Calls of a model that it paid for.
        reused_calls: Replies that it took from the ledger.
        prompt_tokens: Input tokens that it paid for.
        completion_tokens: Output tokens that it paid for.
        reused_prompt_tokens: Input tokens of the replies that it took from the ledger.
        reused_completion_tokens: Output tokens of the replies that it took from the ledger.
        model_ms: Sum of the milliseconds of all its calls, including those in the ledger.
        waited_ms: How long its calls waited for the limits of an endpoint. It is in no table.
        note: Further facts: the relaxed question, why the stage stopped early.
        mends: How many replies were mended, by kind; None if none was.
    """

    rows: int | None = None
    calls: int = 0
    reused_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reused_prompt_tokens: int = 0
    reused_completion_tokens: int = 0
    model_ms: float = 0.0
    waited_ms: float = 0.0
    note: str | None = None
    mends: dict[str, int] | None = None

    def count(self, completion: Completion, *, is_reused: bool) -> None:
        """Count a reply that was paid for, or that came from the ledger. Unknown token counts are taken as zero."""
        if is_reused:
            self.reused_calls += 1
            self.reused_prompt_tokens += completion.prompt_tokens or 0
            self.reused_completion_tokens += completion.completion_tokens or 0
        else:
            self.calls += 1
            self.prompt_tokens += completion.prompt_tokens or 0
            self.completion_tokens += completion.completion_tokens or 0
        self.model_ms += completion.latency_ms
        self.waited_ms += completion.waited_ms
        for kind in completion.mends:
            self.count_mend(kind)

    def count_mend(self, kind: str) -> None:
        """Count a reply that was mended."""
        self.mends = {kind: 0, **(self.mends or {})}
        self.mends[kind] += 1


@dataclass(slots=True, kw_only=True)
class Stage(Tally):
    """One stage of a run, as `explain` shows it.

    Attributes:
        name: detection, relaxation, retrieval, neighbors, reranking, judgement, confirmation, consolidation,
            decomposition, sampling, answering, rewriting, questioning, checking or listing.
        started_at: When it began, with its time zone.
        duration_ms: Duration in milliseconds; stages may overlap.
        batch: The batch, from 1; None without batches.
        step_ordinal: The step of an investigation; None for other operations.
    """

    name: str
    started_at: datetime
    duration_ms: float = 0.0
    batch: int | None = None
    step_ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """The facts that a worker needs to carry out a run.

    Attributes:
        attempt: From 1. Every write names it, so that a worker that lost the run cannot write into it.
        settings: All parameters in use; the keys are the options of `clarify`, and top_k.
        corpus_id: The corpus; None for operations without a corpus.
        embedding_model: The model of the corpus; None if there is no corpus, or no worker has opened its space yet.
        dimensions: The dimensions of that model; None in the same cases.
        parent_run_id: The run that this one goes on from, such as that whose verdicts a `consolidate` clusters again.
        traceparent: The span that asked, in the form of W3C Trace Context; None if none was named.
    """

    run_id: int
    attempt: int
    operation: str
    question: str
    settings: Mapping[str, Any]
    corpus_id: int | None
    embedding_model: str | None
    dimensions: int | None
    parent_run_id: int | None = None
    traceparent: str | None = None


def as_ended(
    status: RunStatus, stop_reason: str | None, stop_code: StopCode | None, refusal: NotAllowed | None
) -> tuple[RunStatus, str | None, StopCode | None]:
    """Return how a run ended if a budget did not allow one of its calls: it is never complete, and names the budget.

    Args:
        status: How the run ended, by its results.
        stop_reason: Why the run stopped, by its results.
        stop_code: The code of that reason, if the tables do not show it.
        refusal: The budget's refusal of the first such call; None if no call was refused.

    Returns:
        Status, stop_reason and stop_code to store.
    """
    if refusal is None:
        return status, stop_reason, stop_code
    return RunStatus.PARTIAL if status is RunStatus.SUCCEEDED else status, refusal.message, StopCode.BUDGET
