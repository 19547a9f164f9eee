"""Scripts of the operations that read documents. The docstrings are those of the client's methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from pgclarify.client.dialogue_records import Ambiguity, ProposedQuestion, RewrittenQuestion
from pgclarify.client.records import (
    Answer,
    CitedPassage,
    Estimate,
    Interpretation,
    Investigation,
    ListedAnswer,
    Neighbor,
    SearchResult,
)
from pgclarify.client.results import Results, results
from pgclarify.client.rows import Row, record
from pgclarify.client.scripts import Call, Script, Session, Statement, interval, listed, timed, to_json
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import InputError

# For each operation: the type of its rows in SQL, and the class of its records.
ROWS: Final[Mapping[str, tuple[str, type[Any]]]] = {
    "clarify": ("clarification", Interpretation),
    "consolidate": ("clarification", Interpretation),
    "search": ("search_result", SearchResult),
    "investigate": ("investigation", Investigation),
    "detect_ambiguity": ("detection", Ambiguity),
    "rewrite": ("rewriting", RewrittenQuestion),
    "reply": ("rewriting", RewrittenQuestion),
    "clarifying_questions": ("proposed_question", ProposedQuestion),
    "list_answers": ("answer", ListedAnswer),
    "estimate": ("estimate", Estimate),
}


def ask(
    session: Session, operation: str, arguments: Mapping[str, object], options: Mapping[str, object]
) -> Script[Results[Any]]:
    """Call the SQL function of an operation, which waits, and read its rows. No corpus means the client's."""
    if "corpus" in arguments:
        arguments = {**arguments, "corpus": arguments["corpus"] or session.corpus}
    # None goes on with a conversation.
    if not isinstance(question := arguments.get("question"), str | None):
        # A list would be asked as one question: "{rental cars}".
        raise InputError(
            "a question is a str",
            detail=f"It is {repr(question)[:100]}.",
            hint="Ask several questions with clarify_many or submit.",
        )
    rows = yield Call(operation, {**arguments, "options": to_json(options, "an option")})
    return results(ROWS[operation][1], rows)


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
    return (yield from ask(session, "clarify", arguments, options))


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
            detail=f"Keys: {len(chosen)}. Questions: {len(asked)}.",
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
    if not rows:
        return Answer(question, key, RunStatus.SUCCEEDED, None, (), StopCode.NOT_ANSWERED)
    readings = [row for row in rows if row["ordinal"] is not None]
    return record(Answer, {**rows[0], "question": question, "key": key, "interpretations": readings})


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
    return (yield from ask(session, "consolidate", {"run_id": run_id}, timed(options, timeout)))


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
    return (yield from ask(session, "search", arguments, timed({"method": method, **options}, timeout)))


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
    return results(Neighbor, rows)


def closest_passages(session: Session, /, run_id: int, *, top_k: int = 3) -> Script[Results[SearchResult]]:
    """Return the best passages of a run's search, as places to look if it found no answer. No model is called.

    Args:
        run_id: Any run that you may see.
        top_k: How many passages.

    Returns:
        Passages that you may read, best first.
    """
    rows = yield Statement("client_closest_passages", {"run_id": run_id, "top_k": top_k})
    return results(SearchResult, rows)


def cited_passages(session: Session, /, run_id: int) -> Script[Results[CitedPassage]]:
    """Return the passages that a run cites, each once. No model is called.

    Args:
        run_id: Any run that you may see.

    Returns:
        Passages that you may read and that still exist, by document.
    """
    rows = yield Statement("client_cited_passages", {"run_id": run_id})
    return results(CitedPassage, rows)


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
    found: list[Investigation] = yield from ask(
        session, "investigate", {"question": question, "corpus": corpus}, timed(options, timeout)
    )
    return found[0]


def list_answers(
    session: Session, /, question: str, *, corpus: str | None = None, timeout: float | None = 300.0, **options: object
) -> Script[Results[ListedAnswer]]:
    """Ask for all answers of a question that has several, each one once, with its evidence.

        for found in client.list_answers("Who plays in it?", corpus="films"):
            print(found.ordinal, found.answer, found.document_ids)

    Args:
        question: 1 to 10,000 characters.
        corpus: As in clarify.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        Answers, those that most documents give first; none if the corpus has none.
    """
    arguments = {"question": question, "corpus": corpus}
    return (yield from ask(session, "list_answers", arguments, timed(options, timeout)))


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
    found: list[Estimate] = yield from ask(session, "estimate", arguments, timed(options, timeout))
    return found[0]
