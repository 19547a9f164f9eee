"""Whose our schemas are, and what a restore without owners gave to the role that ran it."""

from __future__ import annotations

from typing import Any

import psycopg

from pgclarify.errors import ConfigurationError
from pgclarify.schema_names import PRIVATE_SCHEMA

# What belongs to none of our roles, in our schemas: its kind and name for ALTER, its schema, its owner, and whether
# that is the installer or a superuser. Only catalogs are read, so nothing of a stranger runs. Schemas come first,
# because the new owner of an object must be able to create one there.
_FOREIGN = """
    select named.type, named.identity, schema.nspname, owner.rolname, owner.rolsuper or owner.rolname = current_user
    from pg_namespace as schema
    cross join lateral (
        select 'pg_namespace'::regclass as class, schema.oid, schema.nspowner as owner
        union all
        select 'pg_class'::regclass, pg_class.oid, pg_class.relowner
        from pg_class
        where pg_class.relnamespace = schema.oid
            and pg_class.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
            -- The sequence of an identity belongs to the owner of its table.
            and not exists (
                select from pg_depend
                where pg_depend.classid = 'pg_class'::regclass and pg_depend.objid = pg_class.oid
                    and pg_depend.refclassid = 'pg_class'::regclass and pg_depend.deptype in ('a', 'i')
                    and pg_class.relkind = 'S'
            )
        union all
        select 'pg_proc'::regclass, pg_proc.oid, pg_proc.proowner
        from pg_proc
        where pg_proc.pronamespace = schema.oid
        union all
        select 'pg_type'::regclass, pg_type.oid, pg_type.typowner
        from pg_type
        left join pg_class on pg_class.oid = pg_type.typrelid
        where pg_type.typnamespace = schema.oid
            -- Other types follow a table, or another type.
            and (pg_type.typrelid = 0 or pg_class.relkind = 'c')
            and pg_type.typtype <> 'm'
            and not exists (select from pg_type as element where element.typarray = pg_type.oid)
    ) as object
    cross join pg_identify_object(object.class, object.oid, 0) as named
    join pg_roles as owner on owner.oid = object.owner
    where schema.nspname = any(%(schemas)s)
        and owner.rolname <> 'pgclarify_owner'
        and (
            object.class = 'pg_namespace'::regclass
            or owner.rolname not in ('pgclarify_views', 'pgclarify_capture', 'pgclarify_role_maker')
        )
    order by object.class <> 'pg_namespace'::regclass, named.identity
"""
# Tables that each release has.
_OF_EACH_RELEASE = ("applied_sql", "schema_version")


def check_schemas(cursor: psycopg.Cursor[Any], schemas: list[str]) -> list[str]:
    """Check that our schemas, with all that they have, are ours, or were restored by a role that may be trusted.

    The owner of a schema may drop everything in it, and its views and functions would run with our rights. So nothing
    in our schemas may be read before this.

    Args:
        cursor: Of the installer's transaction, in its own role.
        schemas: The names that we use.

    Returns:
        Statements that give to pgclarify_owner what a restore gave to the installer or a superuser.

    Raises:
        ConfigurationError: If a schema belongs to another role, has an object of another role, or is none of ours.
    """
    cursor.execute(_FOREIGN, {"schemas": schemas})
    foreign = cursor.fetchall()
    restored = {schema: owner for kind, _, schema, owner, _ in foreign if kind == "schema"}
    if restored and not _has_our_tables(cursor):
        schema, owner = next(iter(restored.items()))
        raise ConfigurationError(
            f"the schema {schema} exists and is not ours",
            detail=f"It belongs to {owner}.",
            hint=f"Rename it: alter schema {schema} rename to …; then run pgclarify init again.",
        )
    for kind, name, schema, owner, is_trusted in foreign:
        if schema in restored and not is_trusted:
            way_out = f"alter schema {schema} rename to …" if kind == "schema" else f"drop {kind} {name}"
            raise ConfigurationError(
                "the schemas of pgclarify are of a role that init does not trust",
                detail=f"The {kind} {name} belongs to {owner}, whose code would run with your rights.",
                hint=f"If {owner} has restored a dump, run pgclarify init as that role, or restore it again as the role"
                f" that runs init. If not: {way_out}; then run pgclarify init again.",
            )
    return [f"alter {kind} {name} owner to pgclarify_owner" for kind, name, *_, is_trusted in foreign if is_trusted]


def _has_our_tables(cursor: psycopg.Cursor[Any]) -> bool:
    cursor.execute(
        "select count(*) from pg_class join pg_namespace on pg_namespace.oid = pg_class.relnamespace"
        " where nspname = %s and relname = any(%s) and relkind = 'r'",
        (PRIVATE_SCHEMA, list(_OF_EACH_RELEASE)),
    )
    return cursor.fetchall() == [(len(_OF_EACH_RELEASE),)]
