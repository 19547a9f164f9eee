"""Scripts about single questions: is a question ambiguous, and how is it rewritten so that it stands alone?

The docstrings are those of the client's methods.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgclarify.client.dialogue_records import (
    Ambiguity,
    RewrittenQuestion,
    Route,
    read_ambiguity,
    read_route,
)
from pgclarify.client.records import record
from pgclarify.client.scripts import Script, Session, Statement, listed, timed, to_json
from pgclarify.errors import NotFound


def detect_ambiguity(
    session: Session,
    /,
    question: str,
    history: Sequence[str] = (),
    *,
    corpus: str | None = None,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[Ambiguity]:
    """Say whether a question is ambiguous, and why. No language model is needed.

        found = client.detect_ambiguity("How much does it cost?")
        print(found.is_ambiguous, found.probability, found.kind)
        for reason in found.reasons:
            print(reason.text)

    Args:
        question: 1 to 10,000 characters.
        history: Earlier turns, oldest first: one text for each turn, at most 100.
        corpus: Also count the readings that this corpus supports. None counts none, even if the client has a corpus.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL: threshold, top_k.

    Returns:
        The judgement.

    Raises:
        InputError: If the question, the history, the timeout or an option cannot be used.
        NotFound: If there is no such corpus.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run continues.
        RunFailed: If the run failed or was cancelled.
    """
    given = options if corpus is None else {**options, "corpus": corpus}
    (row,) = yield Statement(
        "client_detect_ambiguity",
        {"question": question, "history": listed(history), "options": to_json(timed(given, timeout), "an option")},
    )
    return read_ambiguity(row)


def rewrite(
    session: Session,
    /,
    question: str,
    history: Sequence[str] = (),
    *,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[RewrittenQuestion]:
    """Rewrite a question so that it stands alone, using the earlier turns.

    A clear question is returned unchanged, without a call. An ambiguous one needs a language model; without one, it is
    also returned unchanged.

        said = ["Who wrote Emma?", "Jane Austen."]
        print(client.rewrite("When was she born?", said).rewritten)

    Args:
        question: 1 to 10,000 characters.
        history: Earlier turns, oldest first: one text for each turn, at most 100.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL: threshold, corpus.

    Returns:
        The rewritten question; or the original one, with the reason, if it could not be rewritten.

    Raises:
        InputError: If the question, the history, the timeout or an option cannot be used.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run continues.
        RunFailed: If the run failed or was cancelled.
    """
    (row,) = yield Statement(
        "client_rewrite",
        {"question": question, "history": listed(history), "options": to_json(timed(options, timeout), "an option")},
    )
    return record(RewrittenQuestion, row)


def route(session: Session, /, run_id: int) -> Script[Route]:
    """Say which route the router before clarify chose, why, and how many calls it saved.

        run_id = client.submit("clarify", "Who is the landlord?", ask_back="auto")
        client.wait([run_id])
        print(client.route(run_id).route, client.route(run_id).saved_completions)

    Args:
        run_id: A run of clarify with option ask_back that you may see.

    Returns:
        The route; its fields are None for a run without that option.

    Raises:
        NotFound: If the run does not exist, or you may not see it.
    """
    rows = yield Statement("client_get_route", {"run_id": run_id})
    if not rows:
        raise NotFound(f"run {run_id} does not exist, or you may not see it")
    return read_route(rows[0])
