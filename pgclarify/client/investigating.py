"""Scripts about investigations. The docstrings are those of the client's methods."""

from __future__ import annotations

from pgclarify.client.records import Investigation, read_investigation
from pgclarify.client.scripts import Script, Session, Statement, timed, to_json


def investigate(
    session: Session, /, question: str, *, corpus: str | None = None, timeout: float | None = 300.0, **options: object
) -> Script[Investigation]:
    """Ask a question that may take several steps, and wait for the answer. It needs a language model.

    Interrupted (Ctrl-C, a cancelled task), it cancels the run.

        found = client.investigate("Who owns the company that insures the rental cars?", corpus="insurance")
        print(found.answer or found.outcome, found.confidence, found.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: Its name; None means the client's, then the server's (`pgclarify.corpus`, or the only one).
        timeout: Seconds to wait; None means without end.
        options: As in SQL: search, retrieval, reranker, top_k, budget, batch, max_steps, max_calls, samples, penalty,
            reasoner, entailment.

    Returns:
        The answer with its steps and what proves it; outcome says why there is none, if there is none.

    Raises:
        InputError: If the question, the timeout or an option cannot be used.
        NotFound: If there is no such corpus.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run goes on, and run_ids names it.
        RunFailed: If the run failed, or somebody cancelled it.
    """
    (row,) = yield Statement(
        "client_investigate",
        {
            "question": question,
            "corpus": corpus or session.corpus,
            "options": to_json(timed(options, timeout), "an option"),
        },
    )
    return read_investigation(row)


def submit_investigation(
    session: Session, /, question: str, *, corpus: str | None = None, **options: object
) -> Script[int]:
    """Have a question investigated and come back for the answer, with steps, wait and investigation.

    The run is part of the connection's transaction: workers see it once that commits. Without an open transaction it
    is committed at once.

    Args:
        question: As in investigate.
        corpus: As in investigate.
        options: As in investigate.

    Returns:
        The run's id.

    Raises:
        InputError: If the question or an option cannot be used.
        NotFound: If there is no such corpus.
    """
    (row,) = yield Statement(
        "client_submit_investigation",
        {"question": question, "corpus": corpus or session.corpus, "options": to_json(options, "an option")},
    )
    return int(row["run_id"])


def investigation(session: Session, /, run_id: int) -> Script[Investigation]:
    """Read what an investigation came to.

    Args:
        run_id: From submit_investigation, or any investigation that you may see.

    Returns:
        As investigate.

    Raises:
        NotFound: If there is no such run, or none that you may see.
        NotReady: If it is not over, or no investigation.
        RunFailed: If it failed or was cancelled.
    """
    (row,) = yield Statement("client_investigation", {"run_id": run_id})
    return read_investigation(row)
