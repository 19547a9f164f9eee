"""Every macro of the dbt package has a description with all its arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from tests.pages import CHECKOUT
from website.dbt_sources import quoted

FOLDERS = sorted(path for path in (CHECKOUT / "dbt" / "macros").iterdir() if path.is_dir())
# The name of each kind in dbt's files of properties.
NAMES = {"macro": "{}", "test": "test_{}", "materialization": "materialization_{}_postgres"}


def written(text: str) -> Mapping[str, list[str]]:
    """The macros of a file, with the names of their arguments."""
    found = re.findall(r"\{% (macro|test|materialization) (\w+)(?:\(([^)]*)\))?", text)
    return {
        NAMES[kind].format(name): [one.partition("=")[0].strip() for one in arguments.split(",") if one.strip()]
        for kind, name, arguments in found
        if not name.startswith("default__")
    }


def described(folder: Any) -> Mapping[str, list[str]]:
    told = yaml.safe_load((folder / f"{folder.name}.yml").read_text())["macros"]
    for macro in told:
        assert macro["description"]
        assert all(argument["description"] and argument["type"] for argument in macro.get("arguments", []))
    return {macro["name"]: [argument["name"] for argument in macro.get("arguments", [])] for macro in told}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.name))
def test_every_macro_is_described(folder: Any) -> None:
    there: dict[str, list[str]] = {}
    for path in folder.glob("*.sql"):
        there |= written(path.read_text())
    assert described(folder) == there


def test_every_macro_with_sql_is_dispatched() -> None:
    for path in (CHECKOUT / "dbt" / "macros").glob("*/*.sql"):
        text = path.read_text()
        dispatched = re.findall(r"adapter\.dispatch\('(\w+)', 'pgclarify'\)", text)
        assert dispatched == re.findall(r"\{% macro default__(\w+)\(", text), path


def test_nothing_in_a_comment_is_taken_for_jinja() -> None:
    assert quoted("it's {{ a }}, {% b %},\n {# c #} {{{#") == "'it''s { { a }}, { % b %}, { # c #} { { { #'"


def test_every_column_of_both_materializations_has_a_docs_block() -> None:
    example = yaml.safe_load((CHECKOUT / "dbt" / "example" / "models" / "models.yml").read_text())["models"]
    columns = {
        f"{model['name'].removeprefix('search_')}_{column['name']}"
        for model in example
        if model["name"] in ("search_interpretations", "search_detections")
        for column in model["columns"]
        if column["name"] not in ("search_id", "query")
    }
    blocks = re.findall(r"\{% docs (\w+) %\}\n.+\n\{% enddocs %\}", (CHECKOUT / "dbt/models/columns.md").read_text())
    assert sorted(blocks) == sorted(columns)
