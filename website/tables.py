"""Writes pgclarify/tables.json from the views in the database: `python -m website.tables`.

A test fails if the file differs from the database.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import psycopg

from pgclarify import schema
from website.reference import RELATIONS, installed

# The types of the columns, by view.
Columns: TypeAlias = dict[str, dict[str, str]]
# The columns that refer, and those that are referred to.
ForeignKey: TypeAlias = tuple[list[str], list[str]]

FILE = Path(__file__).parents[1] / "pgclarify" / "tables.json"
# Citations belong to rows of several tables, so the database has no foreign key. Most belong to interpretations.
_OF_INTERPRETATION = (["run_id", "ordinal"], ["interpretation.run_id", "interpretation.ordinal"])


def render(connection: psycopg.Connection[Any]) -> str:
    """Return the content of the file: all views, with the types of their columns and the views that they join."""
    with connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        relations = cursor.execute(RELATIONS.encode()).fetchall()
    columns: Columns = {}
    for relation in relations:
        if relation["kind"] == "v":
            columns[relation["relname"]] = {name: kind for name, kind, _ in relation["columns"]}
    tables = {}
    for view in columns:
        tables[view] = {"columns": columns[view], "foreign_keys": _foreign_keys(view, columns)}
    return json.dumps(tables, indent=1) + "\n"


def _foreign_keys(view: str, columns: Columns) -> list[ForeignKey]:
    """Return the foreign keys of the table of that name, if both views show the columns."""
    found: list[ForeignKey] = []
    table = schema.metadata.tables.get(f"{schema.PRIVATE_SCHEMA}.{view}")
    keys = set() if table is None else table.foreign_key_constraints
    for key in sorted(keys, key=lambda key: str(key.name)):
        name = key.referred_table.name
        referring = list(key.column_keys)
        referred = [element.column.name for element in key.elements]
        is_shown = columns[view].keys() >= set(referring)
        if is_shown and columns.get(name, {}).keys() >= set(referred):
            found.append((referring, [f"{name}.{column}" for column in referred]))
    if view == "citation":
        found.append(_OF_INTERPRETATION)
    return found


if __name__ == "__main__":
    with installed() as database:
        FILE.write_text(render(database), encoding="utf-8")
