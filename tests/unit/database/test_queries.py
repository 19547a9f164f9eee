"""Named statements: how they are parsed, and that each one in the files is used."""

from __future__ import annotations

from pathlib import Path

import pytest

import pgclarify
from pgclarify.database.queries import call, parse, queries, statement

PACKAGE = Path(pgclarify.__file__).parent


def test_each_statement_stands_under_its_name() -> None:
    text = "-- A file.\n\n-- name: one\n-- What it does.\nselect 1;\n\n-- name: two\nselect\n  '-- name: no' as text;\n"

    assert parse(text) == {
        "one": "-- What it does.\nselect 1;",
        "two": "select\n  '-- name: no' as text;",
    }


def test_a_name_stands_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        parse("-- name: one\nselect 1;\n-- name: one\nselect 2;\n")


def test_every_statement_is_in_use() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert [name for name in queries if f'"{name}"' not in code] == []


def test_a_function_is_called_by_named_arguments() -> None:
    assert statement("due_work", {}) == b'select * from "pgclarify_private"."due_work"() as result'
    assert call("visible_run", ("run_id",), names_caller=True) == (
        b"select result.* from pgclarify_private.caller, "
        b'"pgclarify_private"."visible_run"(caller => caller, "run_id" => %(run_id)s) as result'
    )


def test_a_statement_of_a_file_comes_first() -> None:
    assert statement("forget_session", {}).endswith(b"discard all;")
