"""Hints of SQL and of the Python client, as the command line shows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgclarify.cli.asking_commands import ASKING
from pgclarify.cli.hints import on_the_command_line

SQL = Path(__file__).parents[3] / "sql"
FLAGS = {flag.name for form in ASKING for flag in form.flags} | {"timeout", "options"}
OPTIONS = {name for form in ASKING for name in form.options}
HINT = re.compile(r"hint = (?:format\()?'((?:[^']|'')*)'")


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        ("Pass top_k => 20 for the default depth.", "Pass --top-k 20 for the default depth."),
        ("For example, pass document_ids => array['d1', 'd''2'].", """--document-ids d1 --document-ids 'd'"'"'2'."""),
        ('Pass filter => \'{"product": "auto"}\'.', 'Pass --filter \'{"product": "auto"}\'.'),
        ("Pass corpus => 'name', or SET pgclarify.corpus = 'name'.", "Pass --corpus name."),
        ('Pass corpus="name".', "Pass --corpus name."),
        ("Pass timeout => '60s', or null to wait.", "Pass --timeout 60, or null to wait."),
        ("Pass seconds, such as timeout=60.0, or None.", "such as --timeout 60.0, or None."),
        ('Omit it, or pass {"retrieval": "adaptive"}.', "Omit it, or pass -o retrieval=adaptive."),
        ('Pass options => \'{"name": "value"}\'.', "Pass -o NAME=VALUE."),
        ("This looks like options: pass options => '{…}'.", "pass -o NAME=VALUE."),
        ("It is a parameter: pass top_k => … beside options.", "pass --top-k … beside options."),
        ("Ask in other words, or with a larger top_k.", "with a larger --top-k."),
        ('Pass a question, or option "reply" to go on.', "or -o reply=… to go on."),
        ("Ask pgclarify.clarify with that question.", "Ask pgclarify ask with that question."),
        (
            "Make one with pgclarify.create_corpus('name'), or ask for: select pgclarify.grant_access('name', 'ROLE').",
            "Make one with pgclarify load NAME PATH, or ask for: select pgclarify.grant_access('name', 'ROLE').",
        ),
        ("Wait with: select * from pgclarify.clarify('q', top_k => 3).", "pgclarify.clarify('q', top_k => 3)."),
        ('Pass metadata => \'{"key": "value"}\'.', 'Pass metadata => \'{"key": "value"}\'.'),
    ],
)
def test_a_hint_names_arguments_of_commands(hint: str, shown: str) -> None:
    assert on_the_command_line(hint).endswith(shown)


def test_no_hint_of_ours_names_an_argument_of_a_command_as_in_sql() -> None:
    hints = [found[1].replace("''", "'") for path in SQL.rglob("*.sql") for found in HINT.finditer(path.read_text())]
    shown = [on_the_command_line(hint) for hint in hints]
    assert sum(one != other for one, other in zip(hints, shown, strict=True)) >= 10
    in_sql = re.compile(
        rf"\b(?:{'|'.join(FLAGS)}) =>|\{{\"(?:{'|'.join(OPTIONS)})\":|\boption \"?(?:{'|'.join(OPTIONS)})\b"
    )
    assert [one for one in shown if in_sql.search(one) and "select " not in one] == []
