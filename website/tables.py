"""Writes pgclarify/tables.py from the views in the database: `python -m website.tables`.

A test fails if the file differs from the database.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from pgclarify import schema
from website.reference import RELATIONS, installed

FILE = Path(__file__).parents[1] / "pgclarify" / "tables.py"
HEAD = '''\
"""The views of schema pgclarify as tables of SQLAlchemy, for select() and pandas.

Written by `make reference` from the views in the database. A foreign key means that two views join; views have none.
"""

from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Double,
    ForeignKeyConstraint,
    Integer,
    Interval,
    MetaData,
    Numeric,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB, OID

metadata = MetaData(schema="pgclarify")
'''
# Citations belong to rows of several tables, so the database has no foreign key. Most belong to interpretations.
OF_INTERPRETATION = 'ForeignKeyConstraint(["run_id", "ordinal"], ["interpretation.run_id", "interpretation.ordinal"])'
TYPES = {
    "bigint": "BigInteger",
    "boolean": "Boolean",
    "date": "Date",
    "double precision": "Double",
    "integer": "Integer",
    "interval": "Interval",
    "jsonb": "JSONB",
    "name": "Text",
    "name[]": "ARRAY(Text)",
    "numeric": "Numeric",
    "oid": "OID",
    "real": "REAL",
    "text": "Text",
    "text[]": "ARRAY(Text)",
    "timestamp with time zone": "DateTime(timezone=True)",
}


def render(connection: psycopg.Connection[Any]) -> str:
    """Return the content of the file, with all views and their columns."""
    with connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        views = {one["relname"]: one["columns"] for one in cursor.execute(RELATIONS.encode()) if one["kind"] == "v"}
    return HEAD + "".join(_table(view, views) for view in views)


def _table(view: str, views: dict[str, list[tuple[str, str, str]]]) -> str:
    lines = [f'"{view}"', "metadata"]
    lines += [f'Column("{name}", {TYPES[kind]})' for name, kind, _ in views[view]]
    lines += _foreign_keys(view, {name: {column for column, *_ in columns} for name, columns in views.items()})
    if view == "citation":
        lines.append(OF_INTERPRETATION)
    return f"\n{view} = Table(\n" + "".join(f"    {line},\n" for line in lines) + ")\n"


def _foreign_keys(view: str, columns: dict[str, set[str]]) -> Iterator[str]:
    """Yield the foreign keys of the table of that name, if both views show the columns."""
    table = schema.metadata.tables.get(f"{schema.PRIVATE_SCHEMA}.{view}")
    for key in sorted(table.foreign_key_constraints, key=lambda key: str(key.name)) if table is not None else []:
        name = key.referred_table.name
        referred = [element.column.name for element in key.elements]
        if {*key.column_keys} <= columns[view] and {*referred} <= columns.get(name, set()):
            here, there = (
                ", ".join(f'"{one}"' for one in names)
                for names in (key.column_keys, [f"{name}.{column}" for column in referred])
            )
            yield f"ForeignKeyConstraint([{here}], [{there}])"


if __name__ == "__main__":
    with installed() as database:
        FILE.write_text(render(database), encoding="utf-8")
