"""Writes versions/v0_2_0.sql from the tables in pgclarify/schema: `make baseline`.

A test fails if the file differs.
"""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import DDL, CreateIndex, CreateTable, ExecutableDDLElement, SetColumnComment, SetTableComment

from pgclarify.schema import metadata
from pgclarify.schema.base import NO_STATISTICS

FILE = Path(__file__).parent / "versions" / "v0_2_0.sql"
HEAD = "-- Written by `make baseline` from the tables in pgclarify/schema."

# With psycopg's style of parameters, each % in a comment would be doubled.
_DIALECT = postgresql.dialect(paramstyle="named")


def render() -> str:
    """Return the statements that create the tables."""
    tables = ("\n".join(map(_text, _statements(table))) for table in metadata.sorted_tables)
    return "\n\n".join((HEAD, *tables)) + "\n"


def _statements(table: Table) -> Iterator[ExecutableDDLElement]:
    yield CreateTable(table)
    yield SetTableComment(table)
    for column in table.columns:
        yield SetColumnComment(column)
        if column.info == NO_STATISTICS:
            yield DDL(f"ALTER TABLE {table} ALTER COLUMN {column.name} SET STATISTICS 0")
    for index in sorted(table.indexes, key=lambda index: str(index.name)):
        yield CreateIndex(index)
        if index.info == NO_STATISTICS:
            yield DDL(f"ALTER INDEX {table.schema}.{index.name} ALTER COLUMN 1 SET STATISTICS 0")


def _text(statement: ExecutableDDLElement) -> str:
    # pgvector may be in any schema.
    text = str(statement.compile(dialect=_DIALECT)).replace(" HALFVEC", " @extschema:vector@.halfvec")
    lines = (line.rstrip() for line in text.expandtabs(4).splitlines())
    return "\n".join(line for line in lines if line) + ";"


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
