"""Scripts about asking back. The docstrings are those of the client's methods."""

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
    """Propose what to ask back about a vague question, as far as the corpus can answer it. It needs a language model.

        proposed = client.clarifying_questions("rental cars", corpus="insurance", form="select")
        chosen = client.choose(proposed[0].run_id, proposed[0].ordinal)
        readings = client.clarify(chosen.question, corpus="insurance")

    With form="respond", the default, there are questions to answer freely, with reply. Up to three turns:
    `client.clarifying_questions(conversation=chosen.conversation_id)` asks back about what the last one came to.

    Args:
        question: 1 to 10,000 characters; None only with option conversation.
        history: What was said before, oldest first: one text for what each side said, at most 100 of them.
        corpus: Its name; None means that of the conversation, none at all with check="none", and otherwise the
            client's, then the server's (`pgclarify.corpus`, or the only one).
        timeout: Seconds to wait; None means without end.
        options: As in SQL: scheme, form, count, examples, check, search, top_k, conversation.

    Returns:
        Questions or reformulations, in order; none if no document answers any.

    Raises:
        InputError: If the question, the history, the timeout or an option cannot be used.
        NotFound: If there is no such corpus or conversation.
        NotReady: If the conversation has had its three turns.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run goes on.
        RunFailed: If the run failed, or somebody cancelled it.
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


def proposed_questions(session: Session, /, run_id: int) -> Script[list[ProposedQuestion]]:
    """Read what clarifying_questions proposed.

    Args:
        run_id: From start, or any run of clarifying_questions that you may see.

    Returns:
        As clarifying_questions.

    Raises:
        NotFound: If there is no such run, or none that you may see.
        NotReady: If it is not over, or of another operation.
        RunFailed: If it failed or was cancelled.
    """
    rows = yield Statement("client_proposed_questions", {"run_id": run_id})
    return [read_proposed_question(row) for row in rows]


def choose(session: Session, /, run_id: int, ordinal: int) -> Script[ReformulatedQuestion]:
    """Choose one of the reformulations that clarifying_questions proposed with form="select". It costs no call.

    Args:
        run_id: Of those reformulations.
        ordinal: Of the one that is meant.

    Returns:
        The question since then.

    Raises:
        InputError: If there is no such reformulation.
        NotFound: If there is no such run, or none that you may see.
        NotReady: If the run is not over, proposed questions to answer, or its turn is past.
        PermissionDenied: If somebody else asked.
    """
    (row,) = yield Statement("client_choose", {"run_id": run_id, "ordinal": ordinal})
    return record(ReformulatedQuestion, row)


def reply(
    session: Session, /, run_id: int, text: str, *, timeout: float | None = 60.0, **options: object
) -> Script[ReformulatedQuestion]:
    """Reply to what clarifying_questions asked, in words of your own; the question is put anew from that.

        proposed = client.clarifying_questions("rental cars", corpus="insurance")
        print(client.reply(proposed[0].run_id, "I mean while mine is repaired.").question)

    Args:
        run_id: Of those questions.
        text: What to reply.
        timeout: Seconds to wait; None means without end.
        options: As in SQL.

    Returns:
        The question since then.

    Raises:
        InputError: If the text, the timeout or an option cannot be used.
        NotFound: If there is no such run, or none that you may see.
        NotReady: If the run is not over, or its turn is past.
        PermissionDenied: If somebody else asked.
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run goes on.
        RunFailed: If the run failed, or somebody cancelled it.
    """
    (row,) = yield Statement(
        "client_reply", {"run_id": run_id, "reply": text, "options": to_json(timed(options, timeout), "an option")}
    )
    return record(ReformulatedQuestion, row)
