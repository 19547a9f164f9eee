"""The operations: what a worker can do with a run, each declared in the module of its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pgclarify.declared.clarify import CLARIFY, CONSOLIDATE
from pgclarify.declared.clarifying_questions import CLARIFYING_QUESTIONS, REPLY
from pgclarify.declared.detect_ambiguity import DETECT_AMBIGUITY
from pgclarify.declared.estimate import ESTIMATE
from pgclarify.declared.forms import Operation
from pgclarify.declared.investigate import INVESTIGATE
from pgclarify.declared.list_answers import LIST_ANSWERS
from pgclarify.declared.rewrite import REWRITE
from pgclarify.declared.search import SEARCH

OPERATIONS: Final[Mapping[str, Operation]] = {
    operation.name: operation
    for operation in (
        CLARIFY,
        CONSOLIDATE,
        SEARCH,
        INVESTIGATE,
        DETECT_AMBIGUITY,
        REWRITE,
        CLARIFYING_QUESTIONS,
        REPLY,
        LIST_ANSWERS,
        ESTIMATE,
    )
}


def names_of(trait: str) -> tuple[str, ...]:
    """Return the names of the operations with a trait."""
    return tuple(name for name, operation in OPERATIONS.items() if getattr(operation, trait))
