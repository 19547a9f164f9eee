"""Scripts of what is said before an answer: is the question ambiguous, and what is meant."""

from __future__ import annotations

from collections.abc import Sequence

from pgclarify.client.dialogue_records import Ambiguity, ProposedQuestion, RewrittenQuestion
from pgclarify.client.operations import ask
from pgclarify.client.results import Results
from pgclarify.client.scripts import Script, Session, listed, timed


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
        corpus: The corpus whose rules and classifier judge; None for none, even if the client has a corpus.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        The judgement with its reasons.
    """
    found: list[Ambiguity] = yield from ask(
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
    found: list[RewrittenQuestion] = yield from ask(session, "rewrite", arguments, timed(options, timeout))
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
    """Propose clarifying questions for a vague question. Needs a language model.

        proposed = client.clarifying_questions("rental cars", corpus="insurance", form="select")
        chosen = client.reply(proposed[0].run_id, ordinal=proposed[0].ordinal)
        readings = client.clarify(chosen.rewritten, corpus="insurance")

    form="select" gives reformulations that the corpus answers, to choose from. form="respond", the default, gives
    questions to answer in your own words, with reply. A conversation has up to three turns:
    `client.clarifying_questions(reply=chosen.run_id)` asks back about the question of that reply.

    Args:
        question: 1 to 10,000 characters; None only with option reply.
        history: As in detect_ambiguity.
        corpus: Its name. None means the client's, then the server's (`pgclarify.corpus`, or the only one), or no corpus
            if there is nothing to check. A conversation keeps its corpus.
        timeout: Seconds to wait; None waits without limit.
        options: As in SQL.

    Returns:
        Questions or reformulations, in order; none if no document answers any reformulation.
    """
    goes_without = options.get("reply") is not None or options.get("check") == "none"
    arguments: dict[str, object] = {"question": question, "history": listed(history)}
    if corpus is not None or not goes_without:
        arguments["corpus"] = corpus
    return (yield from ask(session, "clarifying_questions", arguments, timed(options, timeout)))


def reply(
    session: Session,
    /,
    run_id: int,
    reply: str | None = None,
    *,
    ordinal: int | None = None,
    timeout: float | None = 60.0,
    **options: object,
) -> Script[RewrittenQuestion]:
    """Reply to clarifying_questions: in your own words, from which the question is then rewritten, or by a choice.

        proposed = client.clarifying_questions("rental cars", corpus="insurance")
        print(client.reply(proposed[0].run_id, "I mean while mine is repaired.").rewritten)

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
    arguments = {"run_id": run_id, "reply": reply, "ordinal": ordinal}
    found: list[RewrittenQuestion] = yield from ask(session, "reply", arguments, timed(options, timeout))
    return found[0]
