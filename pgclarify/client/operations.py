"""Scripts of the operations, and of runs that nobody waits for. The docstrings are those of the client's methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

from pgclarify.client.records import (
    Ambiguity,
    Answer,
    CitedPassage,
    Estimate,
    Interpretation,
    Investigation,
    ListedAnswer,
    Neighbor,
    ProposedQuestion,
    ReformulatedQuestion,
    RewrittenQuestion,
    Row,
    RunOutcome,
    SearchResult,
    read_ambiguity,
    read_estimate,
    read_interpretation,
    read_investigation,
    read_listed_answer,
    read_outcome,
    read_proposed_question,
    read_stop_code,
    record,
)
from pgclarify.client.results import Results
from pgclarify.client.scripts import Call, Script, Session, Statement, interval, listed, only_value, timed, to_json
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import InputError

_READINGS: Final = ("clarification", Interpretation, read_interpretation)
_REWRITTEN: Final = ("rewritten_question", RewrittenQuestion, partial(record, RewrittenQuestion))
# For each operation: the type of its rows in SQL, the class of its records, and what makes a record of a row.
_ROWS: Final[Mapping[str, tuple[str, type[Any], Callable[[Row], Any]]]] = {
    "clarify": _READINGS,
    "consolidate": _READINGS,
    "search": ("search_result", SearchResult, partial(record, SearchResult)),
    "investigate": ("investigation", Investigation, read_investigation),
    "detect_ambiguity": ("ambiguity", Ambiguity, read_ambiguity),
    "rewrite": _REWRITTEN,
    # Its run rewrites the question; the method reply returns the turn of the conversation.
    "reply": _REWRITTEN,
    "clarifying_questions": ("proposed_question", ProposedQuestion, read_proposed_question),
    "list_answers": ("answer", ListedAnswer, read_listed_answer),
    "estimate": ("estimation", Estimate, read_estimate),
}
# These continue a run, or count readings only of a corpus that is named.
_WITHOUT_CORPUS: Final = frozenset({"consolidate", "reply", "detect_ambiguity", "rewrite"})
# Columns with the place of a row among the rows of its run.
_PLACES: Final = ("ordinal", "rank")


def _ask(
    session: Session, operation: str, arguments: Mapping[str, object], options: Mapping[str, object]
) -> Script[Results[Any]]:
    """Call the SQL function of an operation, which waits, and read its rows. No corpus means the client's."""
    if "corpus" in arguments:
        arguments = {**arguments, "corpus": arguments["corpus"] or session.corpus}
    rows = yield Call(operation, {**arguments, "options": to_json(options, "an option")})
    _, kind, read = _ROWS[operation]
    return Results(kind, (read(row) for row in rows))


def clarify(
    session: Session,
    /,
    question: str,
    *,
    corpus: str | None = None,
    top_k: int = 20,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[Results[Interpretation]]:
    """Ask a vague question, and wait for the readings that the corpus answers.

    A partial run is also logged as a warning of logger "pgclarify.client", since an empty list would not show it. So is
    a run that found nothing, if the corpus may have an answer.

        for reading in client.clarify("rental cars", corpus="insurance"):
            print(reading.interpretation, reading.answer, reading.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: Its name; None means the client's, then the server's (`pgclarify.corpus`, or the only one).
        top_k: Passages to judge, 1 to 1000.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL; `select * from pgclarify.help('clarify')` lists them.

    Returns:
        Readings by falling support. The list is empty if no passage answers, or if none could be read; then a warning
        says why.
    """
    arguments = {"question": question, "corpus": corpus, "top_k": top_k, "timeout": interval(timeout)}
    return (yield from _ask(session, "clarify", arguments, options))


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
) -> Script[Results[Answer]]:
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
    """
    asked = listed(questions)
    chosen = [None] * len(asked) if keys is None else listed(keys)
    if len(chosen) != len(asked):
        raise InputError(
            "the numbers of keys and questions differ",
            detail=f"There are {len(chosen)} keys and {len(asked)} questions.",
        )
    rows = yield Call(
        "clarify_many",
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
    return Results(
        Answer,
        (
            _answer(question, key, found.get(ordinal, []))
            for ordinal, (question, key) in enumerate(zip(asked, chosen, strict=True), start=1)
        ),
    )


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


def consolidate(
    session: Session, /, run_id: int, *, timeout: float | None = 60.0, **options: object
) -> Script[Results[Interpretation]]:
    """Group a run's verdicts again, in a new run. No model is called.

    Args:
        run_id: A clarify run that succeeded.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        As clarify.
    """
    return (yield from _ask(session, "consolidate", {"run_id": run_id}, timed(options, timeout)))


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
) -> Script[Results[SearchResult]]:
    """Find the passages that match a question best, without judging them.

    Args:
        question: As in clarify.
        corpus: As in clarify.
        top_k: How many passages, 1 to 1000.
        method: lexical needs no worker; adaptive also searches the neighbors of what it finds.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        Passages, best first.
    """
    arguments = {"question": question, "corpus": corpus, "top_k": top_k}
    return (yield from _ask(session, "search", arguments, timed({"method": method, **options}, timeout)))


def neighbors(
    session: Session, /, document_id: str, passage_id: int, *, corpus: str | None = None, k: int = 10
) -> Script[Results[Neighbor]]:
    """Return the passages that are nearest to a passage in the corpus's graph. No model is called.

    Args:
        document_id: The passage's document.
        passage_id: The passage.
        corpus: Its name; None means the client's.
        k: How many, from 1.

    Returns:
        Nearest first.
    """
    rows = yield Call(
        "neighbors",
        {"corpus": corpus or session.corpus, "document_id": document_id, "passage_id": passage_id, "k": k},
    )
    return Results(Neighbor, (record(Neighbor, row) for row in rows))


def closest_passages(session: Session, /, run_id: int, *, top_k: int = 3) -> Script[Results[SearchResult]]:
    """Return the best passages of a run's search, as places to look if it found no answer. No model is called.

    Args:
        run_id: Any run that you may see.
        top_k: How many passages.

    Returns:
        Passages that you may read, best first.
    """
    rows = yield Statement("client_closest_passages", {"run_id": run_id, "top_k": top_k})
    return Results(SearchResult, (record(SearchResult, row) for row in rows))


def cited_passages(session: Session, /, run_id: int) -> Script[Results[CitedPassage]]:
    """Return the passages that a run cites, each once. No model is called.

    Args:
        run_id: Any run that you may see.

    Returns:
        Passages that you may read and that still exist, by document.
    """
    rows = yield Statement("client_cited_passages", {"run_id": run_id})
    return Results(CitedPassage, (record(CitedPassage, row) for row in rows))


def investigate(
    session: Session, /, question: str, *, corpus: str | None = None, timeout: float | None = 300.0, **options: object
) -> Script[Investigation]:
    """Ask a question that may take several steps, and wait for the answer. Needs a language model.

        found = client.investigate("Who owns the company that insures the rental cars?", corpus="insurance")
        print(found.answer or found.outcome, found.confidence, found.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: As in clarify.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        The answer with its steps and evidence. If there is no answer, outcome says why.
    """
    found: list[Investigation] = yield from _ask(
        session, "investigate", {"question": question, "corpus": corpus}, timed(options, timeout)
    )
    return found[0]


def list_answers(
    session: Session, /, question: str, *, corpus: str | None = None, timeout: float | None = 300.0, **options: object
) -> Script[Results[ListedAnswer]]:
    """Ask for all answers of a question that has several, each with its evidence. Needs a language model.

        for found in client.list_answers("Who plays in it?", corpus="films"):
            print(found.ordinal, found.answer, found.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: As in clarify.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        Answers in the order in which they were found; none if the corpus has none.
    """
    arguments = {"question": question, "corpus": corpus}
    return (yield from _ask(session, "list_answers", arguments, timed(options, timeout)))


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

    For a log of many searches, use submit_many("detect_ambiguity", questions).

        found = client.detect_ambiguity("How much does it cost?")
        print(found.is_ambiguous, found.probability, found.kind)

    Args:
        question: 1 to 10,000 characters.
        history: Earlier turns, oldest first: one text for each turn, at most 100.
        corpus: Also count the readings that this corpus supports. None counts none, even if the client has a corpus.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        The judgement with its reasons.
    """
    found: list[Ambiguity] = yield from _ask(
        session,
        "detect_ambiguity",
        {"question": question, "history": listed(history)},
        timed(options if corpus is None else {**options, "corpus": corpus}, timeout),
    )
    return found[0]


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
        history: As in detect_ambiguity.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        The rewritten question; or the original one, with the reason, if it could not be rewritten.
    """
    arguments = {"question": question, "history": listed(history)}
    found: list[RewrittenQuestion] = yield from _ask(session, "rewrite", arguments, timed(options, timeout))
    return found[0]


def clarifying_questions(
    session: Session,
    /,
    question: str | None = None,
    history: Sequence[str] = (),
    *,
    corpus: str | None = None,
    timeout: float | None = 300.0,
    **options: object,
) -> Script[Results[ProposedQuestion]]:
    """Propose clarifying questions for a vague question that the corpus can answer. Needs a language model.

        proposed = client.clarifying_questions("rental cars", corpus="insurance", form="select")
        chosen = client.reply(proposed[0].run_id, ordinal=proposed[0].ordinal)
        readings = client.clarify(chosen.question, corpus="insurance")

    form="respond", the default, gives questions to answer in your own words, with reply. A conversation has up to three
    turns: `client.clarifying_questions(conversation=chosen.conversation_id)` asks about the latest question.

    Args:
        question: 1 to 10,000 characters; None only with option conversation.
        history: As in detect_ambiguity.
        corpus: Its name. None means the corpus of the conversation; without one, no corpus if check="none", else the
            client's, then the server's (`pgclarify.corpus`, or the only one).
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        Questions or reformulations, in order; none if no document answers any of them.
    """
    goes_without = options.get("conversation") is not None or options.get("check") == "none"
    rows = yield Call(
        "clarifying_questions",
        {
            "question": question,
            "corpus": corpus or (None if goes_without else session.corpus),
            "history": listed(history),
            "options": to_json(timed(options, timeout), "an option"),
        },
    )
    return Results(ProposedQuestion, (read_proposed_question(row) for row in rows))


def reply(
    session: Session,
    /,
    run_id: int,
    reply: str | None = None,
    *,
    ordinal: int | None = None,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[ReformulatedQuestion]:
    """Reply to clarifying_questions: in your own words, from which the question is then rewritten, or by a choice.

        proposed = client.clarifying_questions("rental cars", corpus="insurance")
        print(client.reply(proposed[0].run_id, "I mean while mine is repaired.").question)

    Args:
        run_id: The run that asked the questions.
        reply: Your answer, in words.
        ordinal: Instead of a reply, the reformulation that you choose of those that clarifying_questions proposed with
            form="select". No model is called.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        The question as it is now.
    """
    (row,) = yield Call(
        "reply",
        {
            "run_id": run_id,
            "reply": reply,
            "ordinal": ordinal,
            "options": to_json(timed(options, timeout), "an option"),
        },
    )
    return record(ReformulatedQuestion, row)


def estimate(
    session: Session,
    /,
    questions: Sequence[str],
    *,
    corpus: str | None = None,
    top_k: int = 20,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[Estimate]:
    """Estimate what clarify would cost for these questions. No language model is called.

        expected = client.estimate(["rental cars", "deductible"])
        print(expected.calls, expected.reused_calls, expected.cost_usd)

    Args:
        questions: At least one; each 1 to 10,000 characters.
        corpus: As in clarify.
        top_k: As in clarify.
        timeout: Seconds to wait; None waits without limit.
        options: As in clarify.
    """
    arguments = {"questions": listed(questions), "corpus": corpus, "top_k": top_k}
    found: list[Estimate] = yield from _ask(session, "estimate", arguments, timed(options, timeout))
    return found[0]


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
    return corpus if corpus is not None or operation in _WITHOUT_CORPUS else session.corpus


def wait(session: Session, /, run_ids: Sequence[int], *, timeout: float | None = 60.0) -> Script[Results[RunOutcome]]:
    """Wait until runs are over or the time is up, and return the state of each.

    If the call is interrupted, the runs continue.

    Args:
        run_ids: From submit, committed.
        timeout: Seconds to wait; None waits without limit.

    Returns:
        One outcome for each run, in order; `is_over` is False if the run continues.
    """
    rows = yield Call("wait", {"run_ids": list(run_ids), "timeout": interval(timeout)})
    return Results(RunOutcome, (read_outcome(row) for row in rows))


def result(session: Session, /, run_id: int) -> Script[Results[Any]]:
    """Read the rows of a run, whatever its operation.

    Args:
        run_id: From submit, or any run that you may see.

    Returns:
        The rows of the method of its operation: readings for clarify and consolidate, passages for search, answers for
        list_answers, and so on. An operation that returns one row, such as investigate, has a list with this row.

    Raises:
        NotReady: If it is not over.
        RunFailed: If it failed or was cancelled.
    """
    rows = yield Statement("client_get_operation", {"run_id": run_id})
    # Without a row, the next statement raises the error.
    row_type, kind, read = _ROWS[rows[0]["operation"]] if rows else _READINGS
    (found,) = yield Statement("client_result", {"run_id": run_id, "row_type": row_type})
    # A run without rows has null.
    ordered = sorted(found["found"] or (), key=lambda row: next((row[place] for place in _PLACES if place in row), 0))
    return Results(kind, (read(row) for row in ordered))


def cancel(session: Session, /, run_ids: Sequence[int]) -> Script[int]:
    """Cancel runs, all or none. Calls in flight are cancelled; results that were paid for are kept.

    Args:
        run_ids: Yours.

    Returns:
        How many were not over already.
    """
    return int(only_value((yield Call("cancel", {"run_ids": list(run_ids)}))))


def explain(
    session: Session, /, run_id: int, *, detail: Literal["passages", "batches", "stages"] = "passages"
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
