"""Scripts about questions and runs. The docstrings are those of the client's methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pgclarify.client.records import (
    Answer,
    Interpretation,
    Row,
    RunOutcome,
    SearchResult,
    read_interpretation,
    read_outcome,
    read_stop_code,
    record,
)
from pgclarify.client.scripts import Script, Session, Statement, interval, listed, timed, to_json
from pgclarify.errors import InputError
from pgclarify.vocabulary import RunStatus, StopCode


def clarify(
    session: Session,
    /,
    question: str,
    *,
    corpus: str | None = None,
    top_k: int = 20,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[list[Interpretation]]:
    """Ask a vague question, and wait for the readings that the corpus answers.

    If the call is interrupted (Ctrl-C, a cancelled task), it cancels the run. A partial run is also logged as a warning
    of logger "pgclarify.client", since an empty list would not show it. So is a run that found nothing, if the corpus
    may have an answer; the warning gives the reason.

        for reading in client.clarify("rental cars", corpus="insurance"):
            print(reading.interpretation, reading.answer, reading.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: Its name; None means the client's, then the server's (`pgclarify.corpus`, or the only one).
        top_k: Passages to judge, 1 to 1000.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL: search, consolidation, embed, singletons, verify, retrieval, budget, reranker.

    Returns:
        Readings by falling support. The list is empty if no passage answers, or if none could be read; then a warning
        says why.

    Raises:
        InputError: If the question, top_k, the timeout or an option cannot be used.
        NotFound: If there is no such corpus.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run continues, and run_ids names it.
        RunFailed: If the run failed or was cancelled.
    """
    rows = yield Statement(
        "client_clarify",
        {
            "question": question,
            "corpus": corpus or session.corpus,
            "top_k": top_k,
            "timeout": interval(timeout),
            "options": to_json(options, "an option"),
        },
    )
    return [read_interpretation(row) for row in rows]


def clarify_many(
    session: Session,
    /,
    questions: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    corpus: str | None = None,
    top_k: int = 20,
    timeout: float | None = None,
    **options: object,
) -> Script[list[Answer]]:
    """Ask many questions at once, and wait for all. Equal questions are asked once.

    If the run of one question fails, the others are still answered.

        for answer in client.clarify_many(["rental cars", "deductible"]):
            print(answer.question, answer.status, len(answer.interpretations))

    Args:
        questions: At least one; each 1 to 10,000 characters.
        keys: Your own key of each question, returned with its answer.
        corpus: As in clarify.
        top_k: As in clarify.
        timeout: Seconds to wait for all of them together; None waits without limit.
        options: As in clarify.

    Returns:
        One answer for each question, in order, even if nothing was found.

    Raises:
        InputError: As clarify; also if the numbers of keys and questions differ.
        NotFound: If there is no such corpus.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the runs continue.
    """
    asked = listed(questions)
    chosen = [None] * len(asked) if keys is None else listed(keys)
    if len(chosen) != len(asked):
        raise InputError(
            "the numbers of keys and questions differ",
            detail=f"There are {len(chosen)} keys and {len(asked)} questions.",
        )
    rows = yield Statement(
        "client_clarify_many",
        {
            "questions": asked,
            "corpus": corpus or session.corpus,
            "top_k": top_k,
            "timeout": interval(timeout),
            "options": to_json(options, "an option"),
        },
    )
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row["question_ordinal"], []).append(row)
    return [
        _answer(question, key, found.get(ordinal, []))
        for ordinal, (question, key) in enumerate(zip(asked, chosen, strict=True), start=1)
    ]


def _answer(question: str, key: str | None, rows: Sequence[Row]) -> Answer:
    """Read the rows of one question: no row means no answer; a row without a reading has a code for the reason."""
    return Answer(
        question=question,
        key=key,
        status=RunStatus(rows[0]["status"]) if rows else RunStatus.SUCCEEDED,
        run_id=rows[0]["run_id"] if rows else None,
        interpretations=tuple(read_interpretation(row) for row in rows if row["ordinal"] is not None),
        stop_code=read_stop_code(rows[0]) if rows else StopCode.NOT_ANSWERED,
    )


def wait(session: Session, /, run_ids: Sequence[int], *, timeout: float | None = 60.0) -> Script[list[RunOutcome]]:
    """Wait until runs are over or the time is up, and return the state of each.

    If the call is interrupted, the runs continue.

    Args:
        run_ids: From submit, committed.
        timeout: Seconds to wait; None waits without limit.

    Returns:
        One outcome for each run, in order; `is_over` is False if the run continues.

    Raises:
        NotFound: If a run does not exist, or you may not see it.
        NotCommitted: If a run was submitted in a transaction that is still open.
    """
    rows = yield Statement("client_wait", {"run_ids": list(run_ids), "timeout": interval(timeout)})
    return [read_outcome(row) for row in rows]


def cancel(session: Session, /, run_ids: Sequence[int]) -> Script[int]:
    """Cancel runs, all or none. Calls in flight are cancelled; results that were paid for are kept.

    Args:
        run_ids: Yours.

    Returns:
        How many were not over already.

    Raises:
        NotFound: If a run does not exist, or you may not see it.
        PermissionDenied: If another role started one of them.
    """
    (row,) = yield Statement("client_cancel", {"run_ids": list(run_ids)})
    return int(row["cancelled"])


def consolidate(
    session: Session, /, run_id: int, *, timeout: float | None = 60.0, **options: object
) -> Script[list[Interpretation]]:
    """Group a run's verdicts again, in a new run. No model is called.

    Args:
        run_id: A clarify run that succeeded.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL: consolidation, embed, singletons; with consolidation hdbscan, min_cluster_size, min_samples,
            selection.

    Returns:
        As clarify.

    Raises:
        InputError: If the timeout or an option cannot be used.
        NotFound: If the run does not exist, or you may not see it.
        NotReady: If it has no verdicts to group.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up.
        RunFailed: If the new run failed.
    """
    rows = yield Statement(
        "client_consolidate", {"run_id": run_id, "options": to_json(timed(options, timeout), "an option")}
    )
    return [read_interpretation(row) for row in rows]


def search(
    session: Session,
    /,
    question: str,
    *,
    corpus: str | None = None,
    top_k: int = 10,
    method: Literal["hybrid", "dense", "lexical", "adaptive"] = "hybrid",
    timeout: float | None = 60.0,
    **options: object,
) -> Script[list[SearchResult]]:
    """Find the passages that match a question best, without judging them.

    Args:
        question: As in clarify.
        corpus: As in clarify.
        top_k: How many passages, 1 to 1000.
        method: lexical needs no worker; adaptive also searches the neighbors of what it finds.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL: search, reranker, budget.

    Returns:
        Passages, best first.

    Raises:
        InputError: As clarify; or if an option does not belong to the method.
        NotFound: If there is no such corpus.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up.
        RunFailed: If the question could not be embedded, or the reranker failed.
    """
    rows = yield Statement(
        "client_search",
        {
            "question": question,
            "corpus": corpus or session.corpus,
            "top_k": top_k,
            "options": to_json(timed({"method": method, **options}, timeout), "an option"),
        },
    )
    return [record(SearchResult, row) for row in rows]


def closest_passages(session: Session, /, run_id: int, *, top_k: int = 5) -> Script[list[SearchResult]]:
    """Read which passages a run found, in the order of its search. They show what comes closest if no answer was found.

    No model is called, and no run is started.

    Args:
        run_id: A run that you may see, of any operation that searches.
        top_k: Most passages, from 1.

    Returns:
        Best first: the passages that still exist and that you may read.
    """
    rows = yield Statement("client_closest_passages", {"run_id": run_id, "top_k": top_k})
    return [record(SearchResult, row) for row in rows]
