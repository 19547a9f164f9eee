"""Scripts for callers that do not wait. The docstrings are those of the client's methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pgclarify.client.dialogue_records import (
    RewrittenQuestion,
    read_ambiguity,
    read_listed_answer,
    read_proposed_question,
)
from pgclarify.client.estimating import Estimate
from pgclarify.client.records import Row, SearchResult, read_interpretation, read_investigation, record
from pgclarify.client.scripts import Script, Session, Statement, listed, to_json

# These continue a run, or count readings only of a corpus that is named.
_WITHOUT_CORPUS: Final = frozenset({"consolidate", "reply", "detect_ambiguity", "rewrite"})


@dataclass(frozen=True, slots=True)
class _Result:
    """The statement that reads the rows of an operation's run, and the reader of a row."""

    statement: str
    read: Callable[[Row], Any]


_READINGS: Final = _Result("client_result", read_interpretation)
_REWRITTEN: Final = _Result("client_result_of_rewrite", partial(record, RewrittenQuestion))
_RESULTS: Final[Mapping[str, _Result]] = {
    "clarify": _READINGS,
    "consolidate": _READINGS,
    "search": _Result("client_result_of_search", partial(record, SearchResult)),
    "investigate": _Result("client_result_of_investigate", read_investigation),
    "detect_ambiguity": _Result("client_result_of_detect_ambiguity", read_ambiguity),
    "rewrite": _REWRITTEN,
    "reply": _REWRITTEN,
    "clarifying_questions": _Result("client_result_of_clarifying_questions", read_proposed_question),
    "list_answers": _Result("client_result_of_list_answers", read_listed_answer),
    "estimate": _Result("client_result_of_estimate", partial(record, Estimate)),
}


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
        operation: Name of the method that would wait: clarify, consolidate, search, investigate, detect_ambiguity,
            rewrite, clarifying_questions, reply, list_answers or estimate.
        question: 1 to 10,000 characters, for the operations that have one.
        corpus: Name of the corpus; None means the client's, else the server chooses.
        options: The further arguments and options of that method; pass timeout to wait instead.

    Returns:
        The run's id.

    Raises:
        InputError: If there is no such operation, or an argument or option cannot be used.
        NotFound: If there is no such corpus.
    """
    (row,) = yield Statement(
        "client_submit",
        {
            "operation": operation,
            "question": question,
            "corpus": _corpus(session, operation, corpus),
            "options": to_json(options, "an option"),
        },
    )
    return int(row["run_id"])


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

    Raises:
        InputError: As submit.
        NotFound: If there is no such corpus.
    """
    (row,) = yield Statement(
        "client_submit_many",
        {
            "operation": operation,
            "questions": listed(questions),
            "corpus": _corpus(session, operation, corpus),
            "options": to_json(options, "an option"),
        },
    )
    return list(row["run_ids"])


def _corpus(session: Session, operation: str, corpus: str | None) -> str | None:
    return corpus if corpus is not None or operation in _WITHOUT_CORPUS else session.corpus


def result(session: Session, /, run_id: int) -> Script[list[Any]]:
    """Read the rows of a run, whatever its operation.

    Args:
        run_id: From submit, or any run that you may see.

    Returns:
        The rows of the method of its operation: readings for clarify and consolidate, passages for search, answers for
        list_answers, and so on. An operation that returns one row, such as investigate, has a list with this row.

    Raises:
        NotFound: If the run does not exist, or you may not see it.
        NotReady: If it is not over.
        RunFailed: If it failed or was cancelled.
    """
    rows = yield Statement("client_get_operation", {"run_id": run_id})
    # Without a row, the statement for readings raises the error.
    known = _RESULTS[rows[0]["operation"]] if rows else _READINGS
    rows = yield Statement(known.statement, {"run_id": run_id})
    return [known.read(row) for row in rows]
