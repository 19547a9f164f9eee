"""The table of operations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

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
        without_model: Arguments of `no_language_model` for a worker without a language model: what needs one, and the
            alternative. None if the operation works without one.
    """

    carry_out: Callable[[RunContext], Awaitable[Ending]]
    without_model: tuple[str, str] | None = None


_CLARIFY_INSTEAD: Final = "ask clarify, which works without one"

OPERATIONS: Final[Mapping[str, Operation]] = {
    "clarify": Operation(clarify),
    "consolidate": Operation(consolidate),
    "search": Operation(search),
    "investigate": Operation(investigate, ("investigating", _CLARIFY_INSTEAD)),
    "detect_ambiguity": Operation(detect_ambiguity),
    "rewrite": Operation(rewrite),
    "clarifying_questions": Operation(propose_questions, ("asking back", _CLARIFY_INSTEAD)),
    "reply": Operation(reply),
    "list_answers": Operation(list_answers),
    "estimate": Operation(estimate),
}
"""By the operation's name in SQL."""
