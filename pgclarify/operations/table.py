"""The table of operations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pgclarify.operations.clarification.bounds import most_calls
from pgclarify.operations.clarify import clarify
from pgclarify.operations.clarifying_questions import propose_questions
from pgclarify.operations.consolidate import consolidate
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.detect_ambiguity import detect_ambiguity
from pgclarify.operations.estimate import estimate
from pgclarify.operations.investigate import investigate
from pgclarify.operations.list_answers import list_answers
from pgclarify.operations.reply import reply
from pgclarify.operations.rewrite import rewrite
from pgclarify.operations.search import search


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Attributes:
        carry_out: Executes a run.
        most_calls: The most calls of the language model for one question, by the settings of the run; None if they set
            no limit.
        without_model: Arguments of `no_language_model` for a worker without a language model: what needs one, and the
            alternative. None if the operation works without one, as it does where most_calls is 0.
    """

    carry_out: Callable[[RunContext], Awaitable[Ending]]
    most_calls: Callable[[Mapping[str, Any]], int | None] = lambda _: 0
    without_model: tuple[str, str] | None = None


_CLARIFY_INSTEAD: Final = "ask clarify, which works without one"


def _of_verdicts(settings: Mapping[str, Any]) -> int:
    return sum(most_calls(settings).values())


def _of_proposals(settings: Mapping[str, Any]) -> int:
    # The defaults of a form are in sql/operations/clarifying_questions.sql.
    form = settings.get("form")
    if form == "split":
        # If the readings cannot be split, the operation itself says that it needs a model.
        return 0
    if form != "select" or settings.get("check") == "none":
        return 1
    most: int = settings.get("count", 5) * settings.get("top_k", 4)
    return 1 + most


OPERATIONS: Final[Mapping[str, Operation]] = {
    "clarify": Operation(clarify, _of_verdicts),
    "consolidate": Operation(consolidate),
    "search": Operation(search, lambda settings: None if "reranker" in settings else 0),
    # The default of max_calls is in sql/operations/investigate.sql.
    "investigate": Operation(
        investigate, lambda settings: settings.get("max_calls"), ("investigating", _CLARIFY_INSTEAD)
    ),
    "detect_ambiguity": Operation(detect_ambiguity),
    "rewrite": Operation(rewrite, lambda _: 1),
    "clarifying_questions": Operation(propose_questions, _of_proposals, ("asking back", _CLARIFY_INSTEAD)),
    "reply": Operation(reply, lambda _: 1),
    "list_answers": Operation(list_answers, _of_verdicts),
    "estimate": Operation(estimate),
}
"""By the operation's name in SQL."""
