"""What roles must not be able to do. tests/snapshots/rights.txt lists the rights of each role."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

pytestmark = pytest.mark.rolled_back

OURS = "('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace, 'pgclarify_capture'::regnamespace)"


# Types are left out: USAGE is PostgreSQL's default for PUBLIC, and is worth nothing without functions that use them.
PUBLIC_HAS = f"""
    with acl (object, privileges) as (
        select 'schema ' || n.nspname, coalesce(n.nspacl, acldefault('n', n.nspowner))
        from pg_namespace as n
        where starts_with(n.nspname, 'pgclarify')
        union all
        select 'relation ' || c.oid::regclass,
            coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))
        from pg_class as c
        where c.relnamespace in {OURS} and c.relkind in ('r', 'p', 'v', 'S')
        union all
        select 'column ' || c.oid::regclass || '.' || a.attname, a.attacl
        from pg_class as c
        join pg_attribute as a on a.attrelid = c.oid
        where c.relnamespace in {OURS} and a.attacl is not null
        union all
        select 'routine ' || p.oid::regprocedure, coalesce(p.proacl, acldefault('f', p.proowner))
        from pg_proc as p
        where p.pronamespace in {OURS}
    )
    select acl.object || ': ' || granted.privilege_type
    from acl, aclexplode(acl.privileges) as granted
    where granted.grantee = 0
"""  # noqa: S608 - a constant

# The functions that each role may execute by grants to itself or to its groups.
MAY_EXECUTE = f"""
    select p.oid::regprocedure::text
    from pg_proc as p
    where p.pronamespace in {OURS} and has_function_privilege(%s, p.oid, 'execute')
"""  # noqa: S608 - a constant
MAY_SELECT = f"""
    select c.oid::regclass::text
    from pg_class as c
    where c.relnamespace in {OURS} and c.relkind in ('r', 'p', 'v', 'S')
        and has_schema_privilege(%(role)s, c.relnamespace, 'usage')
        and case when c.relkind = 'S' then has_sequence_privilege(%(role)s, c.oid, 'usage, select, update')
            else has_table_privilege(%(role)s, c.oid, 'select, insert, update, delete, truncate, references, trigger')
                or has_any_column_privilege(%(role)s, c.oid, 'select, insert, update, references')
            end
"""  # noqa: S608 - a constant


def listed(connection: psycopg.Connection[Any], query: str, *parameters: object) -> set[str]:
    return {row[0] for row in connection.execute(query.encode(), parameters)}


def executable(connection: psycopg.Connection[Any], role: str) -> set[str]:
    return listed(connection, MAY_EXECUTE, role)


def readable(connection: psycopg.Connection[Any], role: str) -> set[str]:
    return {row[0] for row in connection.execute(MAY_SELECT.encode(), {"role": role})}


def test_nothing_is_left_to_public(connection: psycopg.Connection[Any]) -> None:
    connection.execute("select pgclarify.create_corpus('insurance'), pgclarify_private.open_space(1, 4)")

    assert listed(connection, PUBLIC_HAS) == set()


def test_the_role_that_reads_users_tables_has_no_other_rights(connection: psycopg.Connection[Any]) -> None:
    connection.execute("select pgclarify.create_corpus('insurance'), pgclarify_private.open_space(1, 4)")
    connection.execute("create table article (id integer primary key, body text)")
    connection.execute("select pgclarify.attach_table('insurance', 'article', 'id', 'body')")
    (role,) = listed(connection, "select pgclarify_private.table_reader_of('article'::regclass)::text")

    read = role.replace("pgclarify_reads", "pgclarify_private.read")
    assert executable(connection, role) == {f"{read}(text,text[],text[],integer,bigint)"}
    assert readable(connection, role) == set()
    for schema in ("pgclarify", "pgclarify_private", "pgclarify_capture", "pgclarify_dblink", "public"):
        may_create, may_use = connection.execute(
            "select has_schema_privilege(%(role)s, %(schema)s, 'create'),"
            " has_schema_privilege(%(role)s, %(schema)s, 'usage')",
            {"role": role, "schema": schema},
        ).fetchall()[0]
        assert (may_create, may_use) == (False, schema == "public")
    assert connection.execute(
        "select rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls"
        " from pg_roles where rolname = %s",
        [role],
    ).fetchone() == (False, True, False, False, False, False, False)
    groups = "select roleid::regrole::text from pg_auth_members where member = %s::regrole"
    assert listed(connection, groups, role) == set()
    members = "select member::regrole::text from pg_auth_members where roleid = %s::regrole"
    # Its creator may drop it, but can neither switch to it nor use its rights.
    assert listed(connection, members, role) <= {"pgclarify_owner", "pgclarify_role_maker"}
    for right in ("set", "usage"):
        has_it = "select pg_has_role('pgclarify_role_maker', %s, %s)"
        assert connection.execute(has_it, [role, right]).fetchone() == (False,)
    # It owns only this function.
    assert connection.execute(
        "select count(*) from pg_shdepend where refobjid = %s::regrole and deptype = 'o'"
        " and dbid = (select oid from pg_database where datname = current_database())",
        [role],
    ).fetchone() == (1,)
    for other in ("pgclarify_reader", "pgclarify_user", "pgclarify_worker", "pgclarify_loopback"):
        assert not {name for name in executable(connection, other) if "_select_" in name or "._read_" in name}


def test_tables_behind_views_have_row_level_security(connection: psycopg.Connection[Any]) -> None:
    """The policies apply to pgclarify_views, which owns the views; pgclarify_reader reads two tables itself."""
    connection.execute("select pgclarify.create_corpus('insurance'), pgclarify_private.open_space(1, 4)")
    unguarded = {
        name
        for role in ("pgclarify_views", "pgclarify_reader")
        for name in readable(connection, role)
        if connection.execute(
            "select relkind in ('r', 'p') and not relrowsecurity from pg_class where oid = %s::regclass", [name]
        ).fetchone()
        == (True,)
    }

    assert unguarded == {"pgclarify_private.applied_sql", "pgclarify_private.schema_version"}


def test_internal_functions_of_users_check_the_caller(connection: psycopg.Connection[Any]) -> None:
    only_users = executable(connection, "pgclarify_user") - executable(connection, "pgclarify_reader")
    # Those of an earlier release call the public ones.
    internal = {name for name in only_users if not re.match(r"pgclarify\.|.*_\d+_\d+_\d+\(", name)}

    assert internal
    assert {name for name in internal if "(pgclarify_private.caller" not in name} == set()
