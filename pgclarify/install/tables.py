"""The statements that create the tables of a new database, from `pgclarify.schema`."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import DDL, CreateIndex, CreateTable, ExecutableDDLElement, SetColumnComment, SetTableComment

from pgclarify.install.shipped import shipped
from pgclarify.schema import metadata
from pgclarify.schema.base import NO_STATISTICS

# Views have comments of tables, copied by sql/views/wrapping.sql unless a view has its own.
_FORGET_COMMENTS_OF_VIEWS = """
do $$
declare
    v_statement text;
begin
    for v_statement in
        select
            case
                when described.objsubid = 0 then format('comment on view %s is null', view.oid::regclass)
                else format('comment on column %s.%I is null', view.oid::regclass, attribute.attname)
            end
        from pg_class as view
        inner join pg_description as described
            on described.classoid = 'pg_class'::regclass and described.objoid = view.oid
        left join pg_attribute as attribute
            on attribute.attrelid = view.oid and attribute.attnum = described.objsubid
        where
            view.relkind = 'v'
            and view.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
            and pg_has_role(view.relowner, 'usage')
    loop
        execute v_statement;
    end loop;
end
$$;
"""
# With psycopg's style of parameters, each % in a comment would be doubled.
_DIALECT = postgresql.dialect(paramstyle="named")


def statements() -> str:
    """Return the statements: first what SQLAlchemy cannot declare, then the tables.

    pgvector may be in any schema, which is `@extschema:vector@`, as in scripts of PostgreSQL extensions.
    """
    before = (shipped("migrations") / "before_tables.sql").read_text(encoding="utf-8")
    return "\n".join((before, *(_text(one) for table in metadata.sorted_tables for one in _statements(table))))


def comments() -> str:
    """Return the statements that comment on tables and columns. An upgrade runs them all, so revisions have none."""
    of_tables = (_text(one) for table in metadata.sorted_tables for one in _comments(table))
    return "\n".join((*of_tables, _FORGET_COMMENTS_OF_VIEWS))


def _comments(table: Table) -> Iterator[ExecutableDDLElement]:
    yield SetTableComment(table)
    yield from map(SetColumnComment, table.columns)


def _statements(table: Table) -> Iterator[ExecutableDDLElement]:
    yield CreateTable(table)
    yield from _comments(table)
    for column in table.columns:
        if column.info == NO_STATISTICS:
            yield DDL(f"ALTER TABLE {table} ALTER COLUMN {column.name} SET STATISTICS 0")
    for index in sorted(table.indexes, key=lambda index: str(index.name)):
        yield CreateIndex(index)
        if index.info == NO_STATISTICS:
            yield DDL(f"ALTER INDEX {table.schema}.{index.name} ALTER COLUMN 1 SET STATISTICS 0")


def _text(statement: ExecutableDDLElement) -> str:
    text = str(statement.compile(dialect=_DIALECT)).replace(" HALFVEC", " @extschema:vector@.halfvec")
    return f"{text.strip()};"
