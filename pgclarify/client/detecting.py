"""Scripts about questions before they are asked: ambiguous or not, and rewritten to stand on their own.

The docstrings are those of the client's methods.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgclarify.client.dialogue_records import (
    Ambiguity,
    QuestionAmbiguity,
    RewrittenQuestion,
    Route,
    read_ambiguity,
    read_question_ambiguity,
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
    """Say whether a question is ambiguous, and why. It needs no language model.

        found = client.detect_ambiguity("How much does it cost?")
        print(found.is_ambiguous, found.probability, found.kind)
        for reason in found.reasons:
            print(reason.text)

    Args:
        question: 1 to 10,000 characters.
        history: What was said before, oldest first: one text for what each side said, at most 100 of them.
        corpus: Also ask how many readings of it this corpus supports; None asks none, also where the client has one.
        timeout: Seconds to wait; None means without end.
        options: As in SQL: threshold, top_k.

    Returns:
        What was found.

    Raises:
        InputError: If the question, the history, the timeout or an option cannot be used.
        NotFound: If there is no such corpus.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run goes on.
        RunFailed: If the run failed, or somebody cancelled it.
    """
    given = options if corpus is None else {**options, "corpus": corpus}
    (row,) = yield Statement(
        "client_detect_ambiguity",
        {"question": question, "history": listed(history), "options": to_json(timed(given, timeout), "an option")},
    )
    return read_ambiguity(row)


def detect_ambiguity_many(
    session: Session, /, questions: Sequence[str], *, timeout: float | None = None, **options: object
) -> Script[list[QuestionAmbiguity]]:
    """Say of each of many questions whether it is ambiguous: detect_ambiguity for a log of searches.

        for found in client.detect_ambiguity_many(["How much is it?", "Who wrote Emma?"]):
            print(found.question, found.is_ambiguous, found.kind)

    Args:
        questions: At least one; each 1 to 10,000 characters.
        timeout: Seconds to wait for all of them together; None means without end.
        options: As in SQL: threshold.

    Returns:
        One record for each question, in order; status says of which the run failed or was cancelled.

    Raises:
        InputError: If a question, the timeout or an option cannot be used.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; detail says how many are done, and hint how to read them.
    """
    rows = yield Statement(
        "client_detect_ambiguity_many",
        {"questions": listed(questions), "options": to_json(timed(options, timeout), "an option")},
    )
    return [read_question_ambiguity(row) for row in rows]


def rewrite(
    session: Session,
    /,
    question: str,
    history: Sequence[str] = (),
    *,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[RewrittenQuestion]:
    """Make a question stand on its own, from what was said before. A clear one comes back untouched, with no call.

    It takes a language model; without one, an ambiguous question comes back as it was asked, too.

        said = ["Who wrote Emma?", "Jane Austen."]
        print(client.rewrite("When was she born?", said).rewritten)

    Args:
        question: 1 to 10,000 characters.
        history: What was said before, oldest first: one text for what each side said, at most 100 of them.
        timeout: Seconds to wait; None means without end.
        options: As in SQL: threshold.

    Returns:
        The question; as it was asked, with the reason, if it could not be rewritten.

    Raises:
        InputError: If the question, the history, the timeout or an option cannot be used.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run goes on.
        RunFailed: If the run failed, or somebody cancelled it.
    """
    (row,) = yield Statement(
        "client_rewrite",
        {"question": question, "history": listed(history), "options": to_json(timed(options, timeout), "an option")},
    )
    return record(RewrittenQuestion, row)


def ambiguity(session: Session, /, run_id: int) -> Script[Ambiguity]:
    """Read what detect_ambiguity found.

    Args:
        run_id: From start, or any run of detect_ambiguity that you may see.

    Returns:
        As detect_ambiguity.

    Raises:
        NotFound: If there is no such run, or none that you may see.
        NotReady: If it is not over, or of another operation.
        RunFailed: If it failed or was cancelled.
    """
    (row,) = yield Statement("client_ambiguity", {"run_id": run_id})
    return read_ambiguity(row)


def question_ambiguities(session: Session, /, run_id: int) -> Script[list[QuestionAmbiguity]]:
    """Read what detect_ambiguity_many found.

    Args:
        run_id: From start, or any run of detect_ambiguity_many that you may see.

    Returns:
        One record for each different question, in order.

    Raises:
        NotFound: If there is no such run, or none that you may see.
        NotReady: If it is not over, or of another operation.
        RunFailed: If it failed or was cancelled.
    """
    rows = yield Statement("client_question_ambiguities", {"run_id": run_id})
    return [read_question_ambiguity(row) for row in rows]


def rewritten_question(session: Session, /, run_id: int) -> Script[RewrittenQuestion]:
    """Read what a question was rewritten to.

    Args:
        run_id: From start, or any run of rewrite, or reply, that you may see.

    Returns:
        As rewrite.

    Raises:
        NotFound: If there is no such run, or none that you may see.
        NotReady: If it is not over, or of another operation.
        RunFailed: If it failed or was cancelled.
    """
    (row,) = yield Statement("client_rewritten_question", {"run_id": run_id})
    return record(RewrittenQuestion, row)


def route(session: Session, /, run_id: int) -> Script[Route]:
    """Say which way the router in front of clarify went, why, and what that spared.

        run_id = client.submit("Who is the landlord?", ask_back="auto")
        client.wait([run_id])
        print(client.route(run_id).route, client.route(run_id).saved_completions)

    Args:
        run_id: A run of clarify with option ask_back; any run that you may see.

    Returns:
        The way; with nothing in it for a run without that option.

    Raises:
        NotFound: If there is no such run, or none that you may see.
    """
    rows = yield Statement("client_get_route", {"run_id": run_id})
    if not rows:
        raise NotFound(f"there is no run {run_id}, or none that you may see")
    return read_route(rows[0])
