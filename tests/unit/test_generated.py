"""The files that follow from the declaration, and that nothing else knows an operation by its name."""

from __future__ import annotations

import gzip
import re

import pytest

from generate import python_records
from generate.files import FILES, ROOT
from generate.sql_functions import earlier_signatures, keeping
from pgclarify import __version__
from pgclarify.declared.forms import Column, Function, Parameter, Rows, Table
from pgclarify.declared.functions import FUNCTIONS, RESULT_VIEWS, ROW_TYPES
from pgclarify.declared.operations import OPERATIONS
from pgclarify.declared.releases import number
from pgclarify.schema import results

# Where an operation's own code is, and where it is declared.
_ITS_OWN = ("sql/declared/", "sql/operations/", "pgclarify/declared/", "pgclarify/operations/")

RELEASES = ROOT / "tests" / "data" / "releases"
RELEASED = sorted(path.name.removesuffix(".unused.gz") for path in RELEASES.glob("*.unused.gz"))
# Declared in another order than they were added in.
VERSIONS = {"tenth": "0.10.0", "second": "0.9.0", "first": "0.2.0"}


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


def of_release(release: str) -> str:
    """The dump of a database in which a release was only installed."""
    return gzip.decompress((RELEASES / f"{release}.unused.gz").read_bytes()).decode()


@pytest.mark.parametrize("release", RELEASED)
def test_the_declaration_knows_the_columns_that_a_release_had(release: str) -> None:
    """If this fails, a column does not say by `since` which release has added it, or a column of a release changed."""
    found: dict[str, list[str]] = {}
    for relation, column in re.findall(r"^COMMENT ON COLUMN pgclarify\.(\w+)\.(\w+) IS", of_release(release), re.M):
        found.setdefault(relation, []).append(column)
    for rows in (*RESULT_VIEWS, *ROW_TYPES):
        if rows.name in found:
            # Columns that a later release removed are declared no more.
            names = {column.name for column in rows.columns}
            kept = [name for name in found[rows.name] if name in names]
            assert [one.name for one in rows.columns if number(one.since) <= number(release)] == kept, rows.name
            # Clients of this version also read rows of servers of that release.
            missing = [one for one in rows.columns if number(one.since) > number(release)]
            assert all(one.default is not None for one in missing), rows.name


@pytest.mark.parametrize("release", RELEASED)
def test_the_declaration_knows_the_functions_that_a_release_had(release: str) -> None:
    """If this fails, a parameter or a function does not say by `since` which release has added it."""
    listed = re.findall(r"^COMMENT ON FUNCTION pgclarify\.(\w+)\((.*)\) IS", of_release(release), re.M)
    names = {one.name for one in FUNCTIONS}
    declared = {
        one.name: ", ".join(
            f"{known.name} {known.type}" for known in one.signature if number(known.since) <= number(release)
        )
        for one in FUNCTIONS
        if number(one.since) <= number(release)
    }
    found = {name: had.replace("timestamp with time zone", "timestamptz") for name, had in listed if name in names}
    assert declared == found


def test_nothing_is_declared_for_a_release_after_this_one() -> None:
    columns = [column.since for rows in (*RESULT_VIEWS, *ROW_TYPES) for column in rows.columns]
    parameters = [since for one in FUNCTIONS for since in (one.since, *(known.since for known in one.signature))]
    assert {*columns, *parameters} <= {*RELEASED, __version__}


def test_a_table_takes_each_type_that_a_record_takes() -> None:
    assert python_records.TYPES.keys() - results.TYPES.keys() == set()


def test_columns_are_in_the_order_of_their_releases_wherever_they_are_declared() -> None:
    columns = [Column(name, "integer", "A number.", since=since) for name, since in VERSIONS.items()]
    table = Table(name="summary", meaning="A summary.", columns=tuple(columns), withheld_if=None, is_erased=False)
    shown = Rows(name="shown", meaning="A summary.", columns=table.after((columns[1], columns[0])))
    for rows in (table, shown):
        assert [column.name for column in rows.columns] == ["first", "second", "tenth"]


def test_a_function_keeps_what_each_earlier_release_had() -> None:
    added = tuple(Parameter(name, "text", "", "null", since=since) for name, since in VERSIONS.items())
    old = Function(name="say", summary="Say it.", parameters=added, options=(), returns="text")
    assert [one.name for one in old.signature] == ["first", "options", "second", "tenth"]
    assert {release: [one.name for one in had] for release, had in earlier_signatures(old).items()} == {
        "0.2.0": ["first", "options"],
        "0.9.0": ["first", "options", "second"],
    }
    assert "('say', 'say_0_9_0', 'text, jsonb, text')" in keeping([old])
    # Parameters that other functions had before are among its first ones; options may come later.
    new = Function(
        name="hear",
        summary="Hear it.",
        parameters=added,
        since="0.9.0",
        options=(),
        options_since="0.10.0",
        returns="text",
    )
    assert [one.name for one in new.signature] == ["second", "first", "tenth", "options"]
    assert [*earlier_signatures(new)] == ["0.9.0"]


def test_a_parameter_that_is_added_has_a_default() -> None:
    """Calls that were written before do not pass it."""
    added = (Parameter("what", "text", since="0.3.0"),)
    assert Function(name="say", summary="Say it.", parameters=added, since="0.3.0", returns="text").signature == added
    with pytest.raises(TypeError):
        Function(name="say", summary="Say it.", parameters=added, returns="text")


def test_a_table_whose_rows_are_hidden_or_erased_by_citation_has_ordinals() -> None:
    unnumbered = (Column("text", "text", "A text."),)
    for rule in ({"withheld_if": "true", "is_erased": False}, {"withheld_if": None, "is_erased": True}):
        with pytest.raises(TypeError):
            Table(name="summary", meaning="A summary.", columns=unnumbered, **rule)
