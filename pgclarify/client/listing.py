"""Scripts about lists of answers. The docstrings are those of the client's methods."""

from __future__ import annotations

from pgclarify.client.dialogue_records import ListedAnswer, read_listed_answer
from pgclarify.client.scripts import Script, Session, Statement, timed, to_json


def list_answers(
    session: Session, /, question: str, *, corpus: str | None = None, timeout: float | None = 300.0, **options: object
) -> Script[list[ListedAnswer]]:
    """Ask for all answers of a question that has several, each with its evidence. Needs a language model.

        for found in client.list_answers("Who plays in it?", corpus="films"):
            print(found.ordinal, found.answer, found.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: Its name; None means the client's, then the server's (`pgclarify.corpus`, or the only one).
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL: search, top_k, evidence_tokens, max_answers, reranker.

    Returns:
        Answers in the order in which they were found; none if the corpus has none.

    Raises:
        InputError: If the question, the timeout or an option cannot be used.
        NotFound: If there is no such corpus.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run continues.
        RunFailed: If the run failed or was cancelled.
    """
    rows = yield Statement(
        "client_list_answers",
        {
            "question": question,
            "corpus": corpus or session.corpus,
            "options": to_json(timed(options, timeout), "an option"),
        },
    )
    return [read_listed_answer(row) for row in rows]
