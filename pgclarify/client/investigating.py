"""Scripts about investigations. The docstrings are those of the client's methods."""

from __future__ import annotations

from pgclarify.client.records import Investigation, read_investigation
from pgclarify.client.scripts import Script, Session, Statement, timed, to_json


def investigate(
    session: Session, /, question: str, *, corpus: str | None = None, timeout: float | None = 300.0, **options: object
) -> Script[Investigation]:
    """Ask a question that may take several steps, and wait for the answer. Needs a language model.

    If the call is interrupted (Ctrl-C, a cancelled task), it cancels the run.

        found = client.investigate("Who owns the company that insures the rental cars?", corpus="insurance")
        print(found.answer or found.outcome, found.confidence, found.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: Its name; None means the client's, then the server's (`pgclarify.corpus`, or the only one).
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL: search, retrieval, reranker, top_k, budget, batch, max_steps, max_calls, samples, penalty,
            reasoner, entailment.

    Returns:
        The answer with its steps and evidence. If there is no answer, outcome says why.

    Raises:
        InputError: If the question, the timeout or an option cannot be used.
        NotFound: If there is no such corpus.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run continues, and run_ids names it.
        RunFailed: If the run failed or was cancelled.
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
