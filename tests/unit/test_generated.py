"""The files that follow from the declaration, and that nothing else knows an operation by its name."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from generate.files import FILES, ROOT
from pgclarify.declared.forms import Column, Table
from pgclarify.declared.functions import RESULT_VIEWS, ROW_TYPES
from pgclarify.declared.operations import OPERATIONS

# Where an operation's own code is, and where it is declared.
_ITS_OWN = ("sql/declared/", "sql/operations/", "pgclarify/declared/", "pgclarify/operations/")


@pytest.mark.parametrize("path", FILES)
def test_a_generated_file_is_what_the_generator_writes(path: str) -> None:
    """If this fails, run make generated and review git diff."""
    assert (ROOT / path).read_text(encoding="utf-8") == FILES[path]()


def test_the_core_branches_on_traits_and_never_on_the_name_of_an_operation() -> None:
    names = "|".join(OPERATIONS)
    quoted = rf"""['"](?:{names})['"]"""
    # A parameter and a table of results may have the same name, and then a key is no operation.
    others = {"reply", *(rows.table.name for rows in RESULT_VIEWS if rows.table)}
    key = rf"""['"](?:{"|".join(OPERATIONS.keys() - others)})['"]\s*:"""
    is_compared = rf"(?:[=<>]|\bin\b|\bcase\b|\bwhen\b|\bvalues\b|any|all)\s*[(\[{{]*\s*{quoted}"
    branch = re.compile(rf"{is_compared}|{key}|{quoted},\s*{quoted}")
    core = [*ROOT.glob("sql/**/*.sql"), *ROOT.glob("pgclarify/**/*.py"), *ROOT.glob("pgclarify/**/*.sql")]
    found = [
        f"{name}: {line.strip()}"
        for path in core
        if not (name := path.relative_to(ROOT).as_posix()).startswith(_ITS_OWN) and name not in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if branch.search(line)
    ]
    assert found == []


def test_a_column_that_is_added_comes_last_in_views_and_rows() -> None:
    """PostgreSQL refuses another order when it replaces a view, and an upgraded type has it last."""
    added = Column("added", "integer", "An added column.")
    for rows in (*RESULT_VIEWS, *ROW_TYPES):
        if rows.table is not None:
            later = replace(rows.table, columns=(*rows.table.columns, added))
            assert later.after(rows.columns, "created_at") == (*rows.columns, added), rows.name


def test_a_table_whose_rows_are_hidden_or_erased_by_citation_has_ordinals() -> None:
    unnumbered = (Column("text", "text", "A text."),)
    for rule in ({"withheld_if": "true", "is_erased": False}, {"withheld_if": None, "is_erased": True}):
        with pytest.raises(TypeError):
            Table(name="summary", meaning="A summary.", columns=unnumbered, **rule)
