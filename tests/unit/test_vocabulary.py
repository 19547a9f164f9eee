"""Closed vocabularies: SQL, code and pages that spell words know those that are declared, and no others."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
import sqlalchemy as sa

from pgclarify import errors
from pgclarify.client.result_records import RunOutcome
from pgclarify.client.rows import record
from pgclarify.data.vocabulary import (
    FindingKind,
    FindingLevel,
    PlaceKind,
    Purpose,
    Refusal,
    StageName,
    StopCode,
    Vocabulary,
)
from pgclarify.declared.operations import OPERATIONS
from pgclarify.declared.words import COLUMNS, UNCHECKED
from pgclarify.operations.judging.verdicts import _REASONS
from pgclarify.prompts.versions import JUDGE_VERSIONS, VERSIONS
from pgclarify.schema import metadata
from tests.pages import CHECKOUT, tables

DOCS = CHECKOUT / "docs"
# What a statement compares with a column of that name, or puts into it.
COMPARED = re.compile(
    r"\b(\w+) (?:=|<>|in|not in|is (?:not )?distinct from) \(?((?:'{1,2}[^']*'{1,2}(?:, )?)+)|\bcase (?:\w+\.)?(\w+)"
    r" when ('[^']*')"
)
# Words that only one file has: what explain shows as an outcome, and a row that dbt has kept from an earlier build.
OF_ONE_FILE = {
    "sql/explain/tree.sql": {"copy", "not judged"},
    "dbt/macros/asking/judging.sql": {"earlier"},
}
# Columns of other tables, or variables, have these names, too.
AMBIGUOUS_NAMES = {"v_state", "name", "kind", "operation", "places", "reasons", "mends", "origin", "level"}


def words_by_column() -> Mapping[str, set[str]]:
    """The words that columns of a name may have, in whatever table."""
    known: defaultdict[str, set[str]] = defaultdict(set)
    for name, words in {**COLUMNS, **UNCHECKED}.items():
        known[name.partition(".")[2]].update(words)
    known["error_code"].update(errors.codes_of(errors.PgclarifyError), {errors.TOO_MANY_CRASHES})
    return {name: words for name, words in known.items() if name not in AMBIGUOUS_NAMES}


def statements() -> Iterator[tuple[str, str]]:
    """All texts with SQL: their paths, and their code in one line."""
    for folder, suffixes in {
        "sql": (".sql",),
        "pgclarify": (".sql", ".py"),
        "dbt": (".sql",),
        "dashboards": (".py",),
    }.items():
        for path in sorted((CHECKOUT / folder).rglob("*")):
            if path.suffix in suffixes:
                yield path.relative_to(CHECKOUT).as_posix(), " ".join(path.read_text(encoding="utf-8").split())


def test_statements_compare_columns_with_known_words_only() -> None:
    known = words_by_column()
    unknown, seen = [], 0
    for path, text in statements():
        for found in COMPARED.finditer(text):
            column = found[1] or found[3]
            words = re.findall(r"'([^']+)'", found[2] or found[4])
            name = column.removeprefix("v_")
            if name in known and column not in AMBIGUOUS_NAMES:
                seen += len(words)
                right = known[name] | OF_ONE_FILE.get(path, set())
                unknown += [f"{path}: {column} {word}" for word in words if word not in right]
    assert unknown == []
    assert seen > 100


def test_every_check_of_words_follows_from_the_declaration() -> None:
    checks = {
        str(check.name): set(re.findall(r"'([^']*)'", str(check.sqltext)))
        for table in metadata.tables.values()
        for check in table.constraints
        if isinstance(check, sa.CheckConstraint) and str(check.name).endswith("_is_known")
    }
    declared = {f"{name.replace('.', '_')}_is_known": {*map(str, words)} for name, words in COLUMNS.items()}
    declared |= {
        "run_operation_is_known": {*OPERATIONS},
        "verdict_error_code_is_known": {*errors.VERDICT_CODES},
    }
    assert checks == declared


def test_a_view_shows_findings_of_known_kinds_and_levels_and_lists_them() -> None:
    text = (CHECKOUT / "sql" / "views" / "finding.sql").read_text()
    assert set(re.findall(r"^\s*select '(\w+)'", text, re.M)) == set(FindingKind)
    levels = re.findall(r"'(problem|warning|note|ok)'", text)
    assert set(levels) == set(FindingLevel)
    for column, words in (("kind", FindingKind), ("level", FindingLevel)):
        comment = re.search(rf"comment on column pgclarify\.finding\.{column} is\n(.*?);\n", text, re.S)
        assert comment is not None
        assert {word for word in words if word not in comment[1]} == set()


def literals(folder: str, call: str, place: int) -> set[str]:
    """The words that calls of a function, or a method, have as an argument."""
    found = set()
    for path in (CHECKOUT / "pgclarify" / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=args) if name == call:
                    match args[place : place + 1]:
                        case [ast.Constant(value=str(word))]:
                            found.add(word)
    return found


def test_code_uses_each_word_that_is_declared_and_no_other() -> None:
    assert literals("operations", "stage", 0) == set(StageName)
    assert literals("ingest", "Section", 1) | literals("ingest", "_section", 1) == set(PlaceKind)
    # A trial of a model has the prompts of verdicts.
    assert VERSIONS.keys() | JUDGE_VERSIONS.keys() == set(Purpose) - {Purpose.MODEL_TRIAL}
    assert _REASONS.keys() == set(COLUMNS["verdict.abstention_code"])


@pytest.mark.parametrize(
    ("page", "head", "section", "vocabulary"),
    [
        ("run-states.md", "stop_code", "Stop codes", StopCode),
        ("methods/quotation.md", "abstention_code", "What a quote has to prove", Refusal),
    ],
)
def test_a_page_describes_each_word(page: str, head: str, section: str, vocabulary: type[Vocabulary]) -> None:
    rows = tables(DOCS / page, head)[section]
    assert sorted(word for row in rows for word in re.findall(r"\w+", row[0])) == sorted(vocabulary)


def codes(texts: Iterable[str]) -> set[str]:
    return {code for text in texts for code in re.findall(r"\bPC0\d\d\b", text)}


# Only functions of ours raise and catch them.
INTERNAL = {"PC000", "PC098", "PC099"}
OURS = codes(errors.codes_of(errors.PgclarifyError)) | {errors.TOO_MANY_CRASHES, errors.PROGRESS, errors.UNFOLLOWED}


def test_every_code_of_ours_is_declared_and_on_the_page_of_errors() -> None:
    assert codes(text for _, text in statements()) - INTERNAL == OURS
    assert codes([(DOCS / "errors.md").read_text()]) == OURS
    assert codes(page.read_text() for page in DOCS.rglob("*.md")) == OURS


def test_the_page_says_why_a_verdict_failed_whatever_its_code() -> None:
    rows = tables(DOCS / "errors.md", "error_code")["Why a run failed"]
    told = {code for row in rows for code in re.findall(r"\b\w{5}\b", row[0])}
    assert set(errors.VERDICT_CODES) - told == set()


def test_only_the_tree_of_errors_gives_exceptions_their_codes() -> None:
    """An exception with a code of its own, elsewhere, would have one that the CHECK of verdicts does not know."""
    found = {
        path
        for path in (CHECKOUT / "pgclarify").rglob("*.py")
        if re.search(r"^    sqlstate\b[^=\n]*= *[\"']", path.read_text(encoding="utf-8"), re.M)
    }
    assert found == {Path(errors.__file__)}


def test_a_word_that_a_newer_server_has_added_is_read_as_text() -> None:
    row = {"run_id": 1, "status": "paused", "stop_code": "budget", "interpretations": 0}
    told = record(RunOutcome, {**dict.fromkeys(RunOutcome.__dataclass_fields__), **row})
    assert (told.status, told.stop_code) == ("paused", StopCode.BUDGET)
