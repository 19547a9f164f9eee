"""Writes pgclarify/tables.json from the views in the database: `python -m website.tables`.

A test fails if the file differs from the database.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from pgclarify import schema
from website.reference import RELATIONS, installed

FILE = Path(__file__).parents[1] / "pgclarify" / "tables.json"
# Citations belong to rows of several tables, so the database has no foreign key. Most belong to interpretations.
_OF_INTERPRETATION = (["run_id", "ordinal"], ["interpretation.run_id", "interpretation.ordinal"])


def render(connection: psycopg.Connection[Any]) -> str:
    """Return the content of the file: all views, with the types of their columns and the views that they join."""
    with connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        views = {one["relname"]: one["columns"] for one in cursor.execute(RELATIONS.encode()) if one["kind"] == "v"}
    columns = {view: {name: kind for name, kind, _ in views[view]} for view in views}
    tables = {view: {"columns": columns[view], "foreign_keys": [*_foreign_keys(view, columns)]} for view in views}
    return json.dumps(tables, indent=1) + "\n"


def _foreign_keys(view: str, columns: dict[str, dict[str, str]]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the foreign keys of the table of that name, if both views show the columns."""
    table = schema.metadata.tables.get(f"{schema.PRIVATE_SCHEMA}.{view}")
    for key in sorted(table.foreign_key_constraints, key=lambda key: str(key.name)) if table is not None else []:
        name = key.referred_table.name
        referred = [element.column.name for element in key.elements]
        if {*key.column_keys} <= columns[view].keys() and {*referred} <= columns.get(name, {}).keys():
            yield list(key.column_keys), [f"{name}.{column}" for column in referred]
    if view == "citation":
        yield _OF_INTERPRETATION


if __name__ == "__main__":
    with installed() as database:
        FILE.write_text(render(database), encoding="utf-8")
