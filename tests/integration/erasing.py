"""A word that stands in one document alone, and where a database still has it."""

from __future__ import annotations

from psycopg import sql

from tests.integration.by_hand import Connection

CANARY = "Wyvernquartz"
# Every column of every table there is, partitions by themselves, and also what a view would show only to some.
_COLUMNS = """
    select n.nspname, c.relname, a.attname
    from pg_class as c
    inner join pg_namespace as n on n.oid = c.relnamespace
    inner join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind in ('r', 'm') and n.nspname like 'pgclarify%'
    order by 1, 2, a.attnum
"""


def places(superuser: Connection, word: str = CANARY) -> set[str]:
    """Tables and columns that have a word, in whatever case, also as bytes; partitions without their number."""
    found = set()
    for schema, table, column in superuser.execute(_COLUMNS).fetchall():
        row = superuser.execute(
            sql.SQL("select exists (select from {} where {}::text ilike any(%s))").format(
                sql.Identifier(schema, table), sql.Identifier(column)
            ),
            [[f"%{word}%", f"%{word.encode().hex()}%", f"%{word.lower().encode().hex()}%"]],
        ).fetchone()
        assert row is not None
        if row[0]:
            found.add(f"{table.rstrip('0123456789').rstrip('_')}.{column}")
    return found
