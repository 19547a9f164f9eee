"""Clarifying questions: which question, or which more exact question, would show what a vague question means?

Source: AT-CoT, §3.2 and §4.2. What is checked against a corpus is ours: docs/methods/clarifying-questions.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgclarify.data.counting import counted
from pgclarify.data.dialogue import ClarifyingQuestion, Form, ProposedQuestion
from pgclarify.data.interpretations import Interpretation
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import CompletionError, InvalidReply, code_of
from pgclarify.language.catalog import language_of
from pgclarify.language.relations import Side
from pgclarify.language.words import asks_same_words
from pgclarify.ledger.completions import ask_one
from pgclarify.operations.clarification.interpretations import readings_of
from pgclarify.operations.context import Ending, RunContext, code_of_failures
from pgclarify.operations.judging.answerability import Answerability, check_answerability
from pgclarify.operations.missing_models import no_language_model
from pgclarify.prompts.clarifying_questions import clarifying_questions

_UNCHECKED = Answerability(None, (), ())


async def propose_questions(context: RunContext) -> Ending:
    """Propose clarifying questions.

    With form split, the readings of the parent run are split, without a call. Otherwise, or if nothing splits them and
    a count says that the form was left open, one call proposes.
    Reformulations are checked against the run's corpus, unless settings["check"] is none. The run succeeds even if none
    is left. It is partial if passages could not be judged, and fails if the model proposed nothing.

    Args:
        context: The run; settings: form, count (absent if form split was asked for), history (absent if there is none),
            check (none for questions to answer); method and top_k for the check. With check drop, those that no
            document answers are removed.
    """
    run, trace = context.run, context.trace
    if run.settings["form"] == "split":
        unsplit = await _split(context)
        if unsplit is None:
            return Ending()
        if "count" not in run.settings:
            trace.stop_reason, trace.stop_code = unsplit, StopCode.NOT_ANSWERED
            return Ending()
        if context.models.chat is None:
            raise no_language_model(f"{unsplit}, so asking back", "ask pgclarify.clarify of a more exact question")
    check = run.settings["check"]
    # Before a call is paid for, because the model may be missing.
    embedder = await context.embedder() if check != "none" else None
    proposed = await _propose(context)
    checks = [_UNCHECKED] * len(proposed)
    if embedder is not None:
        checks = await check_answerability(context, embedder, list(map(_said, proposed)))
    kept = [
        (one, checked)
        for one, checked in zip(proposed, checks, strict=True)
        if check != "drop" or checked.is_answerable is not False
    ]
    left_out = len(proposed) - len(kept)
    if not kept:
        trace.stop_reason = f"no document answers any of {counted(len(proposed), 'proposal')}"
        trace.stop_code = StopCode.NOT_ANSWERED
    elif left_out:
        trace.stop_reason = f"{counted(left_out, 'proposal')} left out that no document answers"
    questions = [
        ClarifyingQuestion(ordinal, one, checked.is_answerable, checked.citations)
        for ordinal, (one, checked) in enumerate(kept, start=1)
    ]
    await context.store.record_results(run, questions)
    errors = [error for checked in checks for error in checked.errors]
    return Ending(
        RunStatus.PARTIAL if errors else RunStatus.SUCCEEDED, error_code=code_of_failures(map(code_of, errors))
    )


async def _propose(context: RunContext) -> list[ProposedQuestion]:
    """Ask the model, and a second time if the reply cannot be used.

    Raises:
        CompletionError: If there is no usable reply.
    """
    run = context.run
    form = Form.SELECT if run.settings["form"] == Form.SELECT else Form.RESPOND

    def fit(proposed: Sequence[ProposedQuestion]) -> list[ProposedQuestion]:
        others = [one for one in proposed if not asks_same_words(_said(one), run.question)]
        if not others:
            raise InvalidReply("the model proposed nothing but the question itself")
        return others

    with context.trace.stage("questioning") as tally:
        call = clarifying_questions(
            run.question, run.settings.get("history", []), form=form, count=run.settings["count"]
        ).then(fit)
        result = await ask_one(context.store, context.models.completer, call, tally=tally)
        if isinstance(result.value, CompletionError):
            raise result.value
        tally.rows = len(result.value)
        tally.note = str(form)
    return result.value


def _said(one: ProposedQuestion) -> str:
    return one.clarifying_question or one.reformulation or ""


async def _split(context: RunContext) -> str | None:
    """Ask what splits the readings of the parent run best: a row for each side, with its documents.

    A side shows words of the reading that it cites first, and of no other, because a reader may lose access to each.

    Returns:
        Why nothing is asked; None if it is.
    """
    verdicts = await context.store.verdicts(context.run)
    read = await readings_of(context, sorted(verdicts, key=lambda pair: pair[1].rank))
    readings = [one for one in read if one.is_shown]
    question = context.run.question
    language = language_of(question, question)
    found = language.split([one.interpretation for one in readings], [one.support for one in readings])
    if found is None:
        match len(readings):
            case 0:
                return "no reading is left"
            case 1:
                return "only one reading is left"
            case _:
                return "all readings are in the same words"
    *sides, bits = found
    questions = [
        ClarifyingQuestion(
            ordinal,
            _side_of(
                question,
                side,
                readings,
                f"{len(side.readings)} of {len(readings)} readings; {bits:.2f} bits",
            ),
            is_answerable=True,
            citations=tuple(citation for place in side.readings for citation in readings[place].citations),
        )
        for ordinal, side in enumerate(sides, start=1)
    ]
    await context.store.record_results(context.run, questions)
    return None


def _side_of(question: str, side: Side, readings: Sequence[Interpretation], reasoning: str) -> ProposedQuestion:
    asked = "Is it about something else?" if side.label is None else f"Is it about \u201c{side.label}\u201d?"
    if len(side.readings) == 1:
        reformulation: str | None = readings[side.readings[0]].interpretation
    else:
        reformulation = None if side.label is None else f"{question}: {side.label}"
    return ProposedQuestion(None, reasoning, asked, reformulation)
