"""Scripts of submitted runs: start, wait, read, cancel, explain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from pgclarify.client.operations import ROWS, WITHOUT_CORPUS
from pgclarify.client.result_records import RunOutcome
from pgclarify.client.results import Results, results
from pgclarify.client.scripts import Call, Script, Session, Statement, interval, listed, only_value, to_json

# Columns with the place of a row among the rows of its run.
_PLACES: Final = ("ordinal", "rank")


def submit(
    session: Session, /, operation: str, question: str | None = None, *, corpus: str | None = None, **options: object
) -> Script[int]:
    """Start an operation without waiting. Read its rows later, with wait and result.

    The run is part of the connection's transaction: workers see it once that is committed. If no transaction is open,
    it is committed at once.

        run_id = client.submit("list_answers", "Who plays in it?", corpus="films", max_answers=5)
        client.wait([run_id], timeout=None)
        for found in client.result(run_id):
            print(found.answer)

    Args:
        operation: Name of the method that would wait, such as clarify or list_answers.
        question: 1 to 10,000 characters, for the operations that have one.
        corpus: Name of the corpus; None means the client's, else the server chooses.
        options: The further arguments and options of that method, without timeout.

    Returns:
        The run's id.
    """
    rows = yield Call(
        "submit",
        {
            "operation": operation,
            "question": question,
            "corpus": _corpus(session, operation, corpus),
            "options": to_json(options, "an option"),
        },
    )
    return int(only_value(rows))


def submit_many(
    session: Session, /, operation: str, questions: Sequence[str], *, corpus: str | None = None, **options: object
) -> Script[list[int]]:
    """Start an operation for many questions without waiting, as submit does for one.

    Args:
        operation: As in submit.
        questions: Each 1 to 10,000 characters.
        corpus: As in submit.
        options: As in submit.

    Returns:
        The run of each question, in order; equal questions share one, and up to 500 questions of detect_ambiguity do.
    """
    rows = yield Call(
        "submit_many",
        {
            "operation": operation,
            "questions": listed(questions),
            "corpus": _corpus(session, operation, corpus),
            "options": to_json(options, "an option"),
        },
    )
    return list(only_value(rows))


def _corpus(session: Session, operation: str, corpus: str | None) -> str | None:
    return corpus if corpus is not None or operation in WITHOUT_CORPUS else session.corpus


def wait(session: Session, /, run_ids: Sequence[int], *, timeout: float | None = 60.0) -> Script[Results[RunOutcome]]:
    """Wait until runs are over or the time is up, and return the state of each.

    If the call is interrupted, the runs continue.

    Args:
        run_ids: From submit, committed.
        timeout: Seconds to wait; None waits without limit.

    Returns:
        One outcome for each run, in order; `is_over` is False if the run continues.
    """
    rows = yield Call("wait", {"run_ids": listed(run_ids), "timeout": interval(timeout)})
    return results(RunOutcome, rows)


def result(session: Session, /, run_id: int, *, include: str | None = None) -> Script[Results[Any]]:
    """Read the rows of a run, whatever its operation.

    Args:
        run_id: From submit, or any run that you may see.
        include: How sure readings are, of those that were read: certain, likely or all; None means those that the run
            shows.

    Returns:
        The rows of the method of its operation: readings for clarify and consolidate, passages for search, answers for
        list_answers, and so on. An operation that returns one row, such as investigate, has a list with this row.

    Raises:
        NotReady: If it is not over.
        RunFailed: If it failed or was cancelled.
    """
    rows = yield Statement("client_get_operation", {"run_id": run_id})
    # Without a row, the next statement raises the error, whatever the type.
    row_type, kind = ROWS[rows[0]["operation"]] if rows else next(iter(ROWS.values()))
    arguments = {"run_id": run_id, "row_type": row_type, "include": include}
    rows = yield Call("result_rows", arguments, names_caller=True)
    # A run without rows has null.
    ordered = sorted(only_value(rows) or (), key=lambda row: next((row[place] for place in _PLACES if place in row), 0))
    return results(kind, ordered)


def cancel(session: Session, /, run_ids: Sequence[int]) -> Script[int]:
    """Cancel runs, all or none. Calls in flight are cancelled; results that were paid for are kept.

    Args:
        run_ids: Yours.

    Returns:
        How many were not over already.
    """
    return int(only_value((yield Call("cancel", {"run_ids": listed(run_ids)}))))


def explain(
    session: Session, /, run_id: int, *, detail: Literal["passages", "stages"] = "passages"
) -> Script[Results[str]]:
    """Explain what a run did: where time and calls were spent, how each passage was found, why the run stopped.

        for line in client.explain(17):
            print(line)

    Args:
        run_id: Any run that you may see, even if it is not over.
        detail: The depth of the tree.

    Returns:
        Lines for a fixed-width font. Texts of corpora, models and users are sanitized in them.
    """
    rows = yield Call("explain", {"run_id": run_id, "options": to_json({"detail": detail}, "an option")})
    return Results(str, (only_value([row]) for row in rows))


def give_feedback(
    session: Session,
    /,
    run_id: int,
    ordinal: int | None = None,
    rating: Literal["right", "wrong", "useless"] | None = None,
    *,
    comment: str | None = None,
    person: str | None = None,
    missing: str | None = None,
) -> Script[bool]:
    """Rate a reading of a run, or, without an ordinal, say that the right answer is missing.

    Each role and person has one rating of a reading: given again, it replaces the one before. None removes it.

        client.give_feedback(17, 2, "wrong", comment="That was the fee of last year.")
        client.give_feedback(17, missing="13 dollars")

    Args:
        run_id: A run of clarify or consolidate that is over and that you may see.
        ordinal: The reading; None for what is missing.
        rating: Whether its answer is right or wrong, or is no help although it is not wrong; None removes the rating.
        comment: Why, in at most 10,000 characters.
        person: Who says so, if several people share your role, in at most 200 characters; it is not checked.
        missing: Without an ordinal: the right answer, which no reading has; None removes it.

    Returns:
        Whether anything changed.
    """
    given = {"ordinal": ordinal, "rating": rating, "comment": comment, "person": person, "missing": missing}
    return bool(only_value((yield Call("give_feedback", {"run_id": run_id, **given}))))
