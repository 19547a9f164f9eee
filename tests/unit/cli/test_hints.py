"""Hints in the words of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgclarify.cli import hints


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("Pass corpus => 'name', or SET pgclarify.corpus = 'name'.", "Name one: -c NAME"),
        ("See: select * from pgclarify.usage.", 'See: pgclarify psql -c "select * from pgclarify.usage"'),
        ("See, for one: select pgclarify.explain(42).", "See, for one: pgclarify explain 42"),
        (
            "Read it: select * from pgclarify.result(7).",
            'Read it: pgclarify psql -c "select * from pgclarify.result(7)"',
        ),
        ('Like: select "a" from b.', 'Like: select "a" from b.'),
        (
            "Wait with: select * from pgclarify.wait(array[17]). Read it with: select * from pgclarify.result(17).",
            'Wait with: pgclarify psql -c "select * from pgclarify.wait(array[17])". '
            'Read it with: pgclarify psql -c "select * from pgclarify.result(17)"',
        ),
        (
            "Read it with: select * from pgclarify.rewriting where run_id = 17. Then reply again in the same words.",
            'Read it with: pgclarify psql -c "select * from pgclarify.rewriting where run_id = 17". '
            "Then reply again in the same words.",
        ),
        (
            "Wait with: select * from pgclarify.wait(array[17]). What it did: select pgclarify.explain(17).",
            'Wait with: pgclarify psql -c "select * from pgclarify.wait(array[17])". What it did: pgclarify explain 17',
        ),
        ("Make one with pgclarify.create_corpus('name').", "Make one with pgclarify load NAME PATH."),
        (
            "It is a parameter and no option: where a function has it, pass top_k => … beside options.",
            "It is a parameter and no option: where a command has it, write --top-k ….",
        ),
        ("Ask again; what was paid for is kept.", "Ask again; what was paid for is kept."),
        (None, None),
    ],
)
def test_hints_are_something_to_type(hint: str | None, told: str | None) -> None:
    assert hints.in_commands(hint) == told


def test_the_server_says_what_is_translated() -> None:
    folder = Path(__file__).parents[3] / "sql"
    corpora = (folder / "corpora/corpus.sql").read_text()
    assert "Pass corpus => ''name'', or SET pgclarify.corpus = ''name''." in corpora
    assert "pgclarify.create_corpus(''name'')" in corpora
    assert "where a function has it, pass %s => … beside options." in (folder / "arguments/options.sql").read_text()
