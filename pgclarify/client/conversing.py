"""Scripts about clarifying questions. The docstrings are those of the client's methods."""

from __future__ import annotations

from collections.abc import Sequence

from pgclarify.client.dialogue_records import ProposedQuestion, ReformulatedQuestion, read_proposed_question
from pgclarify.client.records import record
from pgclarify.client.scripts import Script, Session, Statement, listed, timed, to_json


def clarifying_questions(
    session: Session,
    /,
    question: str | None = None,
    history: Sequence[str] = (),
    *,
    corpus: str | None = None,
    timeout: float | None = 300.0,
    **options: object,
) -> Script[list[ProposedQuestion]]:
    """Propose clarifying questions for a vague question that the corpus can answer. Needs a language model.

        proposed = client.clarifying_questions("rental cars", corpus="insurance", form="select")
        chosen = client.reply(proposed[0].run_id, ordinal=proposed[0].ordinal)
        readings = client.clarify(chosen.question, corpus="insurance")

    form="respond", the default, gives questions to answer in your own words, with reply. A conversation has up to three
    turns: `client.clarifying_questions(conversation=chosen.conversation_id)` asks about the latest question.

    Args:
        question: 1 to 10,000 characters; None only with option conversation.
        history: Earlier turns, oldest first: one text for each turn, at most 100.
        corpus: Its name. None means the corpus of the conversation; without one, no corpus if check="none", else the
            client's, then the server's (`pgclarify.corpus`, or the only one).
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL: scheme, form, count, examples, check, search, top_k, conversation.

    Returns:
        Questions or reformulations, in order; none if no document answers any of them.

    Raises:
        InputError: If the question, the history, the timeout or an option cannot be used.
        NotFound: If there is no such corpus or conversation.
        NotReady: If the conversation already had three turns.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run continues.
        RunFailed: If the run failed or was cancelled.
    """
    goes_without = options.get("conversation") is not None or options.get("check") == "none"
    rows = yield Statement(
        "client_clarifying_questions",
        {
            "question": question,
            "corpus": corpus or (None if goes_without else session.corpus),
            "history": listed(history),
            "options": to_json(timed(options, timeout), "an option"),
        },
    )
    return [read_proposed_question(row) for row in rows]


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

    Raises:
        InputError: If the reply, the ordinal, the timeout or an option cannot be used.
        NotFound: If the run does not exist, or you may not see it.
        NotReady: If the run is not over, has nothing to choose from, or is not the latest turn.
        PermissionDenied: If another role started it.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run continues.
        RunFailed: If the run failed or was cancelled.
    """
    (row,) = yield Statement(
        "client_reply",
        {
            "run_id": run_id,
            "reply": reply,
            "ordinal": ordinal,
            "options": to_json(timed(options, timeout), "an option"),
        },
    )
    return record(ReformulatedQuestion, row)
