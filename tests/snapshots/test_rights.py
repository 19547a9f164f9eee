"""The rights of each role on each object of ours, from the catalog, are those that rights.txt lists.

An object that no role but its owner may use has no line there. Tests of single rights try what a role does with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from pgclarify.install.roles import ROLES

RIGHTS = Path(__file__).with_name("rights.txt")
HEAD = """\
# Who may use which object, besides its owner, and how public functions run. Written by `make snapshots`. An object
# without a line is its owner's alone. pgclarify_user is a member of pgclarify_reader.
"""
FUNCTIONS = r"""
    select format(
        'function %s: security %s, parallel %s%s, execute %s',
        p.oid::regprocedure,
        case when p.prosecdef then 'definer' else 'invoker' end,
        case p.proparallel when 'u' then 'unsafe' when 'r' then 'restricted' else 'safe' end,
        case when p.proisstrict then ', strict' end,
        coalesce(
            (
                select string_agg(granted.name, ', ' order by granted.name collate "C")
                from pg_temp.granted(coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner) as granted
            ),
            'nobody'
        )
    )
    from pg_proc as p
    where p.pronamespace = 'pgclarify'::regnamespace
        and p.prorettype <> 'trigger'::regtype
    union all
    select format(
        'function %s: execute %s',
        p.oid::regprocedure, string_agg(granted.name, ', ' order by granted.name collate "C")
    )
    from pg_proc as p
    join pg_namespace as n on n.oid = p.pronamespace
    cross join lateral pg_temp.granted(coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner) as granted
    where n.nspname in ('pgclarify_private', 'pgclarify_capture')
    group by p.oid
"""
RELATIONS = r"""
    select format(
        '%s %s: %s%s %s',
        case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, c.oid::regclass,
        array_to_string(c.reloptions, ', ') || ', ',
        string_agg(lower(granted.privilege), ', ' order by granted.privilege), granted.name
    )
    from pg_class as c
    cross join lateral pg_temp.granted(c.relacl, c.relowner) as granted
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname like 'pgclarify%' and not c.relispartition
    group by c.oid, granted.name
    union all
    select format(
        'columns of %s: %s %s of %s',
        c.oid::regclass, lower(granted.privilege), granted.name,
        string_agg(a.attname, ', ' order by a.attname collate "C")
    )
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid
    cross join lateral pg_temp.granted(a.attacl, c.relowner) as granted
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname like 'pgclarify%' and not c.relispartition
    group by c.oid, granted.privilege, granted.name
"""
REST = """
    select format('schema %s: %s %s', n.nspname, lower(granted.privilege), granted.name)
    from pg_namespace as n
    cross join lateral pg_temp.granted(n.nspacl, n.nspowner) as granted
    where n.nspname like 'pgclarify%'
    union all
    select format(
        'default privileges in %s on objects of kind %s: %s',
        coalesce(nullif(d.defaclnamespace, 0)::regnamespace::text, 'every schema'), d.defaclobjtype, d.defaclacl::text
    )
    from pg_default_acl as d
    where d.defaclrole = 'pgclarify_owner'::regrole
    union all
    select format(
        'role %s: login %s, create roles %s, superuser %s, member of %s',
        r.rolname, r.rolcanlogin, r.rolcreaterole, r.rolsuper,
        coalesce(
            (
                select string_agg(g.rolname, ', ' order by g.rolname collate "C")
                from pg_auth_members as m
                join pg_roles as g on g.oid = m.roleid
                where m.member = r.oid and g.rolname = any($1)
            ),
            'none'
        )
    )
    from pg_roles as r
    where r.rolname = any($1)
"""
# Without privileges of its own, a relation, column or schema is its owner's alone; a function is open to everybody.
GRANTED = """
    create function pg_temp.granted(privileges aclitem[], owner oid, out name text, out privilege text)
    returns setof record language sql begin atomic
        select
            case acl.grantee when 0 then 'PUBLIC' else acl.grantee::regrole::text end,
            acl.privilege_type || case when acl.is_grantable then ' with grant option' else '' end
        from aclexplode(granted.privileges) as acl
        where acl.grantee <> granted.owner;
    end
"""


def test_each_role_has_the_rights_that_the_table_lists(
    connection: psycopg.Connection[Any], check_snapshot: Callable[[Path, str], None]
) -> None:
    check_snapshot(RIGHTS, HEAD + "".join(f"{line}\n" for line in sorted(_lines(connection))))


def _lines(connection: psycopg.Connection[Any]) -> Iterator[str]:
    connection.execute(GRANTED)
    # Every name is written with its schema.
    connection.execute("set search_path = ''")
    with psycopg.RawCursor(connection) as cursor:
        for query, parameters in ((FUNCTIONS, []), (RELATIONS, []), (REST, [list(ROLES)])):
            yield from (line for (line,) in cursor.execute(query.encode(), parameters))
