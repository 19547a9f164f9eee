"""Rules for all our objects: a comment, an owner, a fixed search_path."""

from __future__ import annotations

from typing import Any

import psycopg

from pgclarify.declared.functions import RESULT_VIEWS

OURS = "('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)"

# Every object of schema pgclarify that explains something: not indexes and constraints, whose names and definitions do,
# and not the sequences of identity columns.
WITHOUT_COMMENT = """
    select 'schema ' || n.nspname
    from pg_namespace as n
    where n.nspname like 'pgclarify%' and obj_description(n.oid, 'pg_namespace') is null
    union all
    select c.relkind::text || ' ' || c.relname
    from pg_class as c
    where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
        and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
        and obj_description(c.oid, 'pg_class') is null
        and not exists (
            select from pg_depend as d
            where d.classid = 'pg_class'::regclass and d.objid = c.oid and c.relkind = 'S' and d.deptype = 'i'
        )
    union all
    select 'column ' || c.relname || '.' || a.attname
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid
    where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
        and c.relkind in ('r', 'p', 'v', 'm', 'f', 'c')
        and a.attnum > 0 and not a.attisdropped
        and col_description(c.oid, a.attnum) is null
    union all
    select 'routine ' || p.oid::regprocedure
    from pg_proc as p
    where p.pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
    and obj_description(p.oid, 'pg_proc') is null
    union all
    select 'type ' || t.typname
    from pg_type as t
    join pg_class as c on c.oid = t.typrelid
    where t.typnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace) and c.relkind = 'c'
    and obj_description(t.oid, 'pg_type') is null
    union all
    select 'policy ' || o.polname
    from pg_policy as o
    join pg_class as c on c.oid = o.polrelid
    where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
    and obj_description(o.oid, 'pg_policy') is null
"""


def rows(connection: psycopg.Connection[Any], query: str) -> list[Any]:
    return [row[0] for row in connection.execute(query.encode())]


def test_every_object_has_a_comment(connection: psycopg.Connection[Any]) -> None:
    corpus = connection.execute("select pgclarify.create_corpus('insurance')").fetchone()
    connection.execute("select pgclarify_private.open_space(1, 4)")
    assert corpus == (1,)

    assert rows(connection, WITHOUT_COMMENT) == []


def test_every_function_pins_its_search_path(connection: psycopg.Connection[Any]) -> None:
    paths = connection.execute(f"""
        select p.pronamespace::regnamespace::text, setting, count(*)
        from pg_proc as p
        left join lateral unnest(p.proconfig) as setting on setting like 'search_path=%'
        where p.pronamespace in {OURS}
            -- The names in a body that was parsed when the function was made are found. Without a path of its own, it
            -- can be inlined.
            and not (p.prosqlbody is not null and not p.prosecdef and p.proconfig is null)
        group by 1, 2
    """).fetchall()  # noqa: S608 - a constant

    assert all(path is not None and path.endswith("pg_temp") for _, path, _ in paths), paths
    # No path has a schema where others may create.
    assert {(schema, path) for schema, path, _ in paths} == {
        ("pgclarify", "search_path=pg_catalog, pg_temp"),
        ("pgclarify_private", "search_path=pg_catalog, pg_temp"),
    }


def test_no_setting_of_the_caller_changes_texts_in_functions(connection: psycopg.Connection[Any]) -> None:
    """With standard_conforming_strings off, a backslash in a plain text starts an escape."""
    plain_backslash = r"(^|[^Ee])'([^'\\]|'')*\\"
    found = connection.execute(
        f"""
        select p.oid::regprocedure::text
        from pg_proc as p
        join pg_language as l on l.oid = p.prolang
        where p.pronamespace in {OURS} and l.lanname in ('sql', 'plpgsql') and p.prosqlbody is null
            and p.prosrc ~ %s and not coalesce(p.proconfig, '{{}}') @> '{{standard_conforming_strings=on}}'
            and not exists (
                select from pg_depend as d
                where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
            )
        """.encode(),  # noqa: S608 - a constant
        [plain_backslash],
    ).fetchall()

    assert found == []


def test_no_function_that_forbids_a_way_to_plan_is_compiled(connection: psycopg.Connection[Any]) -> None:
    """Up to PostgreSQL 17, such a plan may cost 10^10, and to compile it (JIT) takes much longer than it runs."""
    compiled = rows(
        connection,
        f"""
        select p.oid::regprocedure::text
        from pg_proc as p
        where p.pronamespace in {OURS}
            and exists (select from unnest(p.proconfig) as setting where setting like 'enable\\_%')
            and not p.proconfig @> '{{jit=off}}'
        """,  # noqa: S608 - a constant
    )

    assert compiled == []


def test_everything_but_views_belongs_to_the_owner(connection: psycopg.Connection[Any]) -> None:
    others = rows(
        connection,
        f"""
        select c.oid::regclass::text from pg_class as c
        where c.relnamespace in {OURS} and c.relkind <> 'v' and c.relowner <> 'pgclarify_owner'::regrole
        union all
        select p.oid::regprocedure::text from pg_proc as p
        where p.pronamespace in {OURS} and p.proowner <> 'pgclarify_owner'::regrole
        union all
        select t.oid::regtype::text from pg_type as t
        left join pg_class as c on c.oid = (
            select coalesce(e.typrelid, t.typrelid) from pg_type as self
            left join pg_type as e on e.oid = self.typelem
            where self.oid = t.oid
        )
        where t.typnamespace in {OURS} and c.relkind is distinct from 'v' and t.typowner <> 'pgclarify_owner'::regrole
        union all
        select n.nspname::text from pg_namespace as n
        where n.oid in {OURS} and n.nspowner <> 'pgclarify_owner'::regrole
        """,  # noqa: S608 - a constant
    )

    # The two functions that may create roles.
    assert set(others) == {"pgclarify_private.make_reader_role(oid)", "pgclarify_private.drop_reader_role(name)"}
    assert rows(connection, "select rolcanlogin or rolsuper from pg_roles where rolname = 'pgclarify_owner'") == [False]


def test_people_read_views_whose_owner_policies_apply_to(connection: psycopg.Connection[Any]) -> None:
    public = connection.execute("""
        select distinct relkind::text, pg_get_userbyid(relowner), coalesce(reloptions::text, '')
        from pg_class
        where relnamespace = 'pgclarify'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
    """).fetchall()
    owner = connection.execute("""
        select rolsuper or rolbypassrls or rolcanlogin or rolcreaterole, count(memberships)
        from pg_roles left join pg_auth_members as memberships on memberships.member = pg_roles.oid
        where rolname = 'pgclarify_views' group by 1
    """).fetchone()
    others = rows(
        connection,
        """
        select relname::text from pg_class
        where relnamespace = 'pgclarify_private'::regnamespace and relkind = 'v'
            and relowner <> 'pgclarify_views'::regrole
        """,
    )

    assert public == [("v", "pgclarify_views", "")]
    assert owner == (False, 0)
    assert set(others) == {
        # The view that signs, and views that only functions read, or read only keys of.
        "caller",
        "corpus_count",
        "living_corpus",
        # Views that policies read: on closed documents, and on the caller's own runs and corpora only.
        "my_analyzed_corpus",
        "my_changed_name",
        "my_fence",
        "withheld_candidate",
        "withheld_feedback",
        *(f"withheld_{rows.table.name}" for rows in RESULT_VIEWS if rows.table and rows.table.withheld_if),
    }


def test_our_tables_carry_no_triggers_of_ours(connection: psycopg.Connection[Any]) -> None:
    assert (
        rows(
            connection,
            """
        select t.tgname::text from pg_trigger as t
        join pg_class as c on c.oid = t.tgrelid
        where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace) and not t.tgisinternal
        """,
        )
        == []
    )
