"""What the scripts of operations have in common: they call a function that waits, and read its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pgclarify.client.records import Answer
from pgclarify.client.results import Results, results
from pgclarify.client.rows import Row, record
from pgclarify.client.scripts import Call, Rows, Script, Session, to_json
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import InputError

T = TypeVar("T")


def ask(
    session: Session, kind: type[T], function: str, arguments: Mapping[str, object], options: Mapping[str, object]
) -> Script[Results[T]]:
    """Call a function, and make records of its rows.

    Args:
        session: The client.
        kind: The class of the records.
        function: Its name.
        arguments: Its arguments. Without a corpus, the client's is passed.
        options: Its options.
    """
    return results(kind, (yield from _rows(session, function, arguments, options)))


def ask_one(
    session: Session, kind: type[T], function: str, arguments: Mapping[str, object], options: Mapping[str, object]
) -> Script[T]:
    """Call a function that returns one row, and make a record of it. Arguments are those of ask."""
    (found,) = yield from ask(session, kind, function, arguments, options)
    return found


def ask_many(
    session: Session,
    kind: type[Answer],
    function: str,
    arguments: Mapping[str, Any],
    options: Mapping[str, object],
) -> Script[Results[Answer]]:
    """Call a function with many questions, and make an answer to each of its rows. Arguments are those of ask.

    Raises:
        InputError: If there is not one key for each question.
    """
    asked, chosen = arguments["questions"], arguments["keys"]
    keys = [None] * len(asked) if chosen is None else chosen
    if len(keys) != len(asked):
        raise InputError(
            "the numbers of keys and questions differ",
            detail=f"Keys: {len(keys)}. Questions: {len(asked)}.",
        )
    # The keys need not be sent, because rows have the places of their questions.
    rows = yield from _rows(session, function, {**arguments, "keys": None}, options)
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row["question_ordinal"], []).append(row)
    return Results(
        kind,
        (
            _answer(question, key, found.get(ordinal, []))
            for ordinal, (question, key) in enumerate(zip(asked, keys, strict=True), start=1)
        ),
    )


def _rows(
    session: Session, function: str, arguments: Mapping[str, object], options: Mapping[str, object]
) -> Script[Rows]:
    # A conversation keeps its corpus. Questions that are not checked need none.
    needs_corpus = options.get("reply") is None and options.get("check") != "none"
    if "corpus" in arguments and needs_corpus:
        arguments = {**arguments, "corpus": arguments["corpus"] or session.corpus}
    # None goes on with a conversation.
    if not isinstance(question := arguments.get("question"), str | None):
        # A list would be asked as one question: "{rental cars}".
        raise InputError(
            "a question is a str",
            detail=f"It is {repr(question)[:100]}.",
            hint="Ask several questions with clarify_many or submit.",
        )
    return (yield Call(function, {**arguments, "options": to_json(options, "an option")}))


def _answer(question: str, key: str | None, rows: Sequence[Row]) -> Answer:
    """Read the rows of one question: no row means no answer; a row without a reading has a code for the reason."""
    if not rows:
        return Answer(question, key, RunStatus.SUCCEEDED, None, (), StopCode.NOT_ANSWERED)
    readings = [row for row in rows if row["ordinal"] is not None]
    return record(Answer, {**rows[0], "question": question, "key": key, "interpretations": readings})
