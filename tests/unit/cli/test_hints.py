"""Hints as commands of the command line."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from pgclarify.cli import hints

if TYPE_CHECKING:
    from psycopg.errors import Diagnostic


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("See: select * from pgclarify.usage.", 'See: psql "$(pgclarify dsn)" -c "select * from pgclarify.usage"'),
        ("See, for one: select pgclarify.explain(42).", "See, for one: pgclarify explain 42"),
        (
            "Read it: select * from pgclarify.result(7).",
            'Read it: psql "$(pgclarify dsn)" -c "select * from pgclarify.result(7)"',
        ),
        ('Like: select "a" from b.', 'Like: select "a" from b.'),
        (
            "Wait with: select * from pgclarify.wait(array[17]). Read it with: select * from pgclarify.result(17).",
            'Wait with: psql "$(pgclarify dsn)" -c "select * from pgclarify.wait(array[17])". '
            'Read it with: psql "$(pgclarify dsn)" -c "select * from pgclarify.result(17)"',
        ),
        (
            "Read it with: select * from pgclarify.rewriting where run_id = 17. Then reply again in the same words.",
            'Read it with: psql "$(pgclarify dsn)" -c "select * from pgclarify.rewriting where run_id = 17". '
            "Then reply again in the same words.",
        ),
        (
            "Wait with: select * from pgclarify.wait(array[17]). What it did: select pgclarify.explain(17).",
            'Wait with: psql "$(pgclarify dsn)" -c "select * from pgclarify.wait(array[17])". What it did: pgclarify explain 17',  # noqa: E501
        ),
        ("Make one with pgclarify.create_corpus('name').", "Make one with pgclarify load NAME PATH."),
        ("Ask again; what was paid for is kept.", "Ask again; what was paid for is kept."),
    ],
)
def test_hints_are_something_to_type(hint: str, told: str) -> None:
    assert hints.in_commands(hint) == told


@pytest.mark.parametrize(
    ("constraint", "told"),
    [
        ("corpus_is_named", "Name one: -c NAME"),
        (
            "option_is_no_parameter",
            "It is a parameter and no option: where a command has it, write --top-k ….",
        ),
        ("option_is_known", "Said: pgclarify explain 1"),
        (None, "Said: pgclarify explain 1"),
    ],
)
def test_hints_follow_the_constraint_name_of_an_error(constraint: str | None, told: str) -> None:
    sent = SimpleNamespace(
        constraint_name=constraint, column_name="top_k", message_hint="Said: select pgclarify.explain(1)."
    )
    assert hints.hint_of(cast("Diagnostic", sent)) == told
    assert hints.hint_of(cast("Diagnostic", SimpleNamespace(constraint_name=None, message_hint=None))) is None
