"""Rewrites questions of a conversation so that they stand alone, if they are ambiguous or unclear alone.

Source: Detect, then rewrite (summary): a clear question is not changed, because rewriting may damage it. Ours are: a
question may be clear and still depend on earlier turns; and the rules of what a rewrite must keep.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from enum import Enum
from textwrap import shorten
from typing import Final

from pgclarify.algorithms.ambiguity.wording import stands_alone, take_apart
from pgclarify.data.dialogue import HISTORY_LENGTH, Detection, DetectionReason, Rewriting
from pgclarify.data.runs import Tally
from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import CompletionError, InvalidReply, NotAllowed, code_of, describe
from pgclarify.language.catalog import language_of
from pgclarify.language.languages import is_foreign
from pgclarify.language.quotes import fold
from pgclarify.ledger.completions import ask_one
from pgclarify.operations.context import Ending, RunContext, code_of_failures
from pgclarify.operations.detector import LANGUAGE, summarize
from pgclarify.prompts.rewriting import rewriting as rewriting_call
from pgclarify.protocols import Completer

_LONGEST_SHOWN: Final = 200
# "And in 1950?", "What about the museum?"
_GOES_ON: Final = re.compile(r"\s*(and|or|but|(?:and )?(?:what|how) about|what of|else)\b", re.IGNORECASE)
# How many referring words a reason names at most.
_MOST_NAMED: Final = 3
# Reasons about the history. They are left out of a judgement that was made without it.
_OF_HISTORY: Final = frozenset({"referential_words", "history", "threshold"})
# With at least this many content words, a search finds the right passages for a dependent question as often as for a
# clear one: docs/methods/rewriting.md.
_ENOUGH_WORDS: Final = 3


class QuestionClass(Enum):
    """The class of a question in its conversation."""

    CLEAR = "clear"
    LEANING = "leaning"
    """It is clear with its history, and unclear alone."""
    AMBIGUOUS = "ambiguous"


async def rewrite(context: RunContext) -> Ending:
    """Rewrite a run's question so that it stands alone.

    There are three classes: ambiguous with its history; clear with its history, but ambiguous alone; and clear. A
    question is returned unchanged, without a call, if it is clear, if it has no history, or if it depends on the
    history but says enough itself. Others are rewritten by the model, from the last five turns. A rewrite that is not
    faithful is refused. Then, and without a model, the original question is returned, with the reason. The run is
    partial, with the code of the error, if the model could not be reached or understood. It fails if the question could
    not be embedded.

    A question in another language than English is not judged and counts as clear, with that as the reason. If a rule
    makes it ambiguous, it is returned unchanged, too.

    Args:
        context: The run. It uses the settings history and threshold.

    Source: Detect, then rewrite (summary), Method Summary.
    """
    rewrite = _Rewrite(context)
    await context.store.record_results(context.run, [await rewrite.detect()])
    rewriting, failure = await rewrite.carry_out()
    await context.store.record_results(context.run, [rewriting])
    return unless_failed(context, failure, Ending())


def unless_failed(context: RunContext, failure: CompletionError | None, ending: Ending) -> Ending:
    """Return how a run ends whose question could not be rewritten: it is never complete, and says why.

    Args:
        context: The run.
        failure: The error of the call; None if it did not fail.
        ending: How the run ended otherwise.
    """
    if failure is None or ending.status is not RunStatus.SUCCEEDED:
        return ending
    context.trace.stop_reason = describe(failure)
    return replace(ending, status=RunStatus.PARTIAL, error_code=code_of_failures([code_of(failure)]))


async def follow_up(context: RunContext) -> tuple[RunContext, CompletionError | None]:
    """Make the question of a run stand alone, as `rewrite` does, and record how.

    Without a history nothing is done.

    Returns:
        The context for the rest of the run, with the rewritten question. If the question stays as it was although it
        points back, a search that no model relaxes gets what was said before, too. And the error of the call, if its
        reply could not be read or no budget allowed it.

    Raises:
        CompletionError: If the model could not be reached.
        EmbeddingError: If the question could not be embedded.
        RunLost: If the run is no longer this worker's.
    """
    run = context.run
    if not run.settings.get("history"):
        return context, None
    rewrite = _Rewrite(context)
    await rewrite.detect()
    rewriting, failure = await rewrite.carry_out()
    if failure is not None and not isinstance(failure, InvalidReply | NotAllowed):
        raise failure
    await context.store.record_results(run, [rewriting])
    if rewriting.rewritten != run.question:
        context = replace(context, run=replace(run, question=rewriting.rewritten))
    elif points_back(run.question):
        context = replace(context, said=take_apart(run.question, run.settings["history"]).recent)
    return context, failure


class _Rewrite:
    """Makes the question of a run stand alone: `detect` first, and then `carry_out`."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._run = context.run
        self._trace = context.trace
        self._history: list[str] = [said for said in self._run.settings.get("history", []) if said.strip()]
        self._class = QuestionClass.CLEAR
        self._unread: str | None = None

    async def carry_out(self) -> tuple[Rewriting, CompletionError | None]:
        """Rewrite the question if that is needed and possible; also return the error of the call, if it failed."""
        chat = self._context.models.chat
        if self._class is QuestionClass.CLEAR:
            return Rewriting(self._run.question, False, self._unread), None
        if self._class is QuestionClass.LEANING and says_enough(self._run.question):
            return self._as_it_was("it leans on what was said before, and says enough by itself"), None
        if not self._history:
            return self._as_it_was("nothing was said before it that could tell what is meant"), None
        if is_foreign(self._run.question):
            return self._as_it_was("it is not in English, and only English questions are rewritten"), None
        if chat is None:
            return self._as_it_was("there is no language model that could rewrite it"), None
        return await self._by_model(chat)

    async def detect(self) -> Detection:
        """Judge the question; nothing is recorded."""
        question, threshold = self._run.question, self._run.settings.get("threshold")
        with self._trace.stage("detection") as tally:
            # With its history and, because the rewritten question will stand alone, without.
            asked = [(question, self._history), (question, ())] if self._history else [(question, ())]
            detector, dialogue = self._context.models.detector, self._context.dialogue
            detection, *alone = await detector.detect(self._run, dialogue, asked, threshold)
            self._class = classify(
                question, is_ambiguous=detection.is_ambiguous, kind_alone=alone[0].kind if alone else None
            )
            if self._class is QuestionClass.LEANING:
                detection = replace(detection, reasons=_reasons_alone(alone[0]))
            self._unread = next((reason.text for reason in detection.reasons if reason.name == LANGUAGE), None)
            tally.rows = 1
            tally.note = summarize([detection])
        return detection

    async def _by_model(self, chat: Completer) -> tuple[Rewriting, CompletionError | None]:
        """Have the model rewrite the question; also return the error of the call, if it failed."""
        failure = None
        with self._trace.stage("rewriting") as tally:
            call = rewriting_call(self._run.question, self._last_said)
            rewritten = (await ask_one(self._context.store, chat, call, tally=tally)).value
            if isinstance(rewritten, CompletionError):
                failure = rewritten
                rewriting = self._as_it_was(f"the model did not rewrite it: {describe(failure)}")
            elif rewritten is None:
                rewriting = self._as_it_was("what was said before does not tell what is meant")
            elif fold(rewritten) == fold(self._run.question):
                rewriting = self._as_it_was("the model left it as it was")
            else:
                rewriting = await self._checked(rewritten)
            self._note(rewriting, tally)
        return rewriting, failure

    async def _checked(self, rewritten: str) -> Rewriting:
        """Accept the model's question if it is faithful, and refuse it otherwise."""
        question = self._run.question
        language = language_of(question, question)
        fault = await asyncio.to_thread(language.find_fault, question, rewritten, self._last_said)
        if fault is None:
            return self._come_to(rewritten, "rewritten by the model from what was said before")
        shown = shorten(rewritten, _LONGEST_SHOWN)
        return self._as_it_was(f'the model\'s question was refused, since it {fault}: "{shown}"')

    @property
    def _last_said(self) -> list[str]:
        return self._history[-HISTORY_LENGTH:]

    def _as_it_was(self, reason: str) -> Rewriting:
        return self._come_to(self._run.question, reason)

    def _come_to(self, question: str, reason: str) -> Rewriting:
        return Rewriting(question, self._class is QuestionClass.AMBIGUOUS, reason)

    def _note(self, rewriting: Rewriting, tally: Tally) -> None:
        is_changed = rewriting.rewritten != self._run.question
        tally.rows = int(is_changed)
        tally.note = rewriting.rewritten if is_changed else rewriting.reason


def classify(question: str, *, is_ambiguous: bool, kind_alone: str | None) -> QuestionClass:
    """Return the class of a question.

    If a question alone lacks something, its history has it if the question refers back or continues. A question that is
    vague in itself does not become clearer with its history.

    Args:
        question: The question.
        is_ambiguous: Whether it is ambiguous with its history.
        kind_alone: The kind of ambiguity without history; None if it is clear, or has no history.
    """
    if is_ambiguous:
        return QuestionClass.AMBIGUOUS
    leans = kind_alone == "pragmatic" or (kind_alone is not None and _GOES_ON.match(question) is not None)
    return QuestionClass.LEANING if leans else QuestionClass.CLEAR


def says_enough(question: str) -> bool:
    """Tell whether a question that depends on its history can be searched with unchanged.

    It can if it names something, or has many content words. A question that continues ("And in May?") omits what it
    asks for. A question that refers back before it names anything needs enough words besides its names: many documents
    contain the weekday of "Is it open on Sundays?", and it does not show what is meant.
    """
    if _GOES_ON.match(question):
        return False
    wording = take_apart(question, ())
    pointing = {*wording.referential}
    first = next((word for word in wording.words if word in pointing.union(wording.names)), None)
    if first not in pointing:
        return bool(wording.names) or len(wording.content) >= _ENOUGH_WORDS
    return sum(word not in wording.names for word in wording.content) >= _ENOUGH_WORDS


def points_back(question: str) -> bool:
    """Tell whether a question continues what was said before, or names with "she" or "it" what it does not say."""
    return _GOES_ON.match(question) is not None or not (stands_alone(question) or says_enough(question))


def _reasons_alone(alone: Detection) -> tuple[DetectionReason, ...]:
    """Return why a question is ambiguous only without its history.

    Reasons about the missing history are left out.
    """
    words = [*dict.fromkeys(take_apart(alone.question, ()).referential)][:_MOST_NAMED]
    goes_on = _GOES_ON.match(alone.question)
    if words:
        why = "it says " + " and ".join(f'"{word}"' for word in words)
    elif goes_on is not None:
        why = f'it goes on, with "{goes_on[1].lower()}"'
    else:
        why = "it leaves something out"
    text = f"read alone, {why}, and does not say what is meant; what was said before may settle it"
    return (
        DetectionReason("classifier", "alone", text),
        *(reason for reason in alone.reasons if reason.name not in _OF_HISTORY),
    )
