"""The objects of a schema, from PostgreSQL's catalogs: one line of text for each property of each object."""

from __future__ import annotations

from typing import Any

import psycopg

_TABLES = """
    select format(
        'table %s: kind %s, persistence %s, options %s, partitioned by %s, comment %s',
        c.relname, c.relkind, c.relpersistence, c.reloptions, pg_get_partkeydef(c.oid),
        obj_description(c.oid, 'pg_class')
    )
    from pg_class as c
    where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace) and c.relkind in ('r', 'p')
    and c.relname <> 'schema_version'
"""
_COLUMNS = """
    select format(
        'column %s.%s: place %s, type %s, not null %s, default %s, identity %s, generated %s, collation %s, '
        'statistics target %s, comment %s',
        c.relname, a.attname,
        (
            select count(*) from pg_attribute as before
            where before.attrelid = a.attrelid and before.attnum between 1 and a.attnum and not before.attisdropped
        ),
        format_type(a.atttypid, a.atttypmod), a.attnotnull,
        pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated, a.attcollation::regcollation,
        -- Up to PostgreSQL 16, -1 is the default.
        nullif(a.attstattarget, -1), col_description(a.attrelid, a.attnum)
    )
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid
    left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
        and c.relkind in ('r', 'p') and c.relname <> 'schema_version' and a.attnum > 0
        and not a.attisdropped
"""
# From PostgreSQL 18 on, NOT NULL is a constraint with a name. Here it is a property of the column.
_CONSTRAINTS = """
    select format('constraint %s on %s: %s', o.conname, o.conrelid::regclass, pg_get_constraintdef(o.oid, true))
    from pg_constraint as o
    join pg_class as c on c.oid = o.conrelid
    where o.connamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
        and c.relkind in ('r', 'p') and c.relname <> 'schema_version' and o.contype <> 'n'
"""
_INDEXES = """
    select format(
        'index: %s, statistics targets %s',
        pg_get_indexdef(i.indexrelid),
        (
            select array_agg(nullif(a.attstattarget, -1) order by a.attnum)
            from pg_attribute as a where a.attrelid = i.indexrelid
        )
    )
    from pg_index as i
    join pg_class as c on c.oid = i.indrelid
    where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
    and c.relname <> 'schema_version'
"""
_SEQUENCES = """
    select format('sequence %s: type %s, increment %s, cycles %s', sequencename, data_type, increment_by, cycle)
    from pg_sequences
    where schemaname in ('pgclarify', 'pgclarify_private')
"""
_ROUTINES = """
    select format('routine %s: %s', p.oid::regprocedure, md5(pg_get_functiondef(p.oid)))
    from pg_proc as p
    where p.pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
"""
_TYPES = """
    select format(
        'attribute %s.%s: %s, comment %s',
        c.relname, a.attname, format_type(a.atttypid, a.atttypmod), col_description(a.attrelid, a.attnum)
    )
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid
    where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
        and c.relkind in ('c', 'v') and a.attnum > 0 and not a.attisdropped
"""
_GRANTS = """
    select format('privileges of %s: %s', c.oid::regclass, c.relacl::text)
    from pg_class as c
    where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
    union all
    select format('privileges of %s: %s', p.oid::regprocedure, p.proacl::text)
    from pg_proc as p
    where p.pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
    union all
    select format('default privileges: %s', d.defaclacl::text)
    from pg_default_acl as d
    where d.defaclrole = 'pgclarify_owner'::regrole
"""
_POLICIES = """
    select format('policy %s on %s: %s for %s using %s', policyname, tablename, roles::text, cmd, qual)
    from pg_policies
    where schemaname in ('pgclarify', 'pgclarify_private')
"""


def tables(connection: psycopg.Connection[Any]) -> set[str]:
    """The tables, which migrations and SQLAlchemy's metadata must make in the same way."""
    return _lines(connection, _TABLES, _COLUMNS, _CONSTRAINTS, _INDEXES, _SEQUENCES)


def everything(connection: psycopg.Connection[Any]) -> set[str]:
    """The tables and the objects that use them: functions, types, views, policies, the queue, and privileges."""
    return tables(connection) | _lines(connection, _ROUTINES, _TYPES, _GRANTS, _POLICIES)


def _lines(connection: psycopg.Connection[Any], *queries: str) -> set[str]:
    # Without a search_path, each name in a definition has its schema.
    with connection.transaction():
        connection.execute("set local search_path = ''")
        return {row[0] for query in queries for row in connection.execute(query.encode())}
