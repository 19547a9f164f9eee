"""The roles that read attached tables, one for each owner, and the role that creates them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql

from pgclarify.install.roles import grant_role

# They name only objects of pg_catalog, because the role may not use our schema. table_reader_of has the same names.
_FUNCTIONS = {
    "make_reader_role(owner oid)": (
        "name",
        """
declare
    v_name name;
begin
    select
        format(
            'pgclarify_reads_%s_%s', pg_roles.oid,
            left(encode(sha256(convert_to(pg_roles.rolname, 'UTF8')), 'hex'), 8)
        )
    into strict v_name
    from pg_roles
    where pg_roles.oid = make_reader_role.owner;
    -- With this setting of the caller, the creator of the role could become the role.
    perform set_config('createrole_self_grant', '', true);
    begin
        execute format('create role %I nologin', v_name);
    exception
        -- It serves other databases of the server as well.
        when duplicate_object or unique_violation then
            null;
    end;
    if exists (
        select from pg_roles as reader
        where
            reader.rolname = v_name
            and (
                reader.rolcanlogin or reader.rolsuper or reader.rolcreaterole or reader.rolcreatedb
                or reader.rolreplication or reader.rolbypassrls
                or exists (select from pg_auth_members where pg_auth_members.member = reader.oid)
                or exists (
                    select from pg_auth_members
                    where
                        pg_auth_members.roleid = reader.oid
                        and pg_get_userbyid(pg_auth_members.member) not in ('pgclarify_owner', current_user)
                )
            )
    ) then
        raise exception 'role "%" is not what pgclarify has made', v_name
            using errcode = 'object_not_in_prerequisite_state',
                detail = 'It may log in, has rights of its own, or has members besides pgclarify_owner.',
                hint = 'Have an administrator take these rights and members from it, or drop it.';
    end if;
    if not exists (
        select from pg_auth_members
        where
            pg_get_userbyid(pg_auth_members.roleid) = v_name
            and pg_get_userbyid(pg_auth_members.member) = 'pgclarify_owner'
    ) then
        begin
            execute format('grant %I to pgclarify_owner with inherit true, set true', v_name);
        exception
            when insufficient_privilege then
                raise exception 'role "%" is not what pgclarify has made', v_name
                    using errcode = 'object_not_in_prerequisite_state',
                        detail = 'Role pgclarify_role_maker may not grant it.',
                        hint = 'Have an administrator drop it.';
        end;
    end if;
    return v_name;
end
""",
        "Make the role that reads attached tables of an owner, unless it is there, and return its name. Only"
        " pgclarify_owner becomes a member.",
    ),
    "drop_reader_role(reader name)": (
        "boolean",
        """
begin
    if drop_reader_role.reader !~ '^pgclarify_reads_[0-9]+_[0-9a-f]{8}$' then
        raise exception 'role "%" reads no attached tables', drop_reader_role.reader
            using errcode = 'invalid_parameter_value';
    end if;
    execute format('drop role if exists %I', drop_reader_role.reader);
    return true;
exception
    when dependent_objects_still_exist or insufficient_privilege then
        return false;
end
""",
        "Drop a role that reads attached tables; false if it may still read something, here or in another database.",
    ),
}
# How many of them are there as they should be, the installer, and whether it may become the role.
_MADE = """
    select
        (
            select count(*)
            from pg_proc as p
            where p.pronamespace = 'pgclarify_private'::regnamespace and p.prosrc = any(%(bodies)s)
                and pg_get_userbyid(p.proowner) = 'pgclarify_role_maker' and p.prosecdef
                and has_function_privilege('pgclarify_owner', p.oid, 'execute')
                -- A restore without rights leaves what every new function has.
                and not exists (
                    select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as granted
                    where granted.grantee = 0
                )
        ),
        current_user,
        pg_has_role('pgclarify_role_maker', 'set')
"""


def make_role_maker(cursor: psycopg.Cursor[Any]) -> None:
    """Give pgclarify_role_maker its two functions, unless it has them.

    It may create roles. pgclarify_owner must not, because its members could then create roles, too. So this role has
    no members, and can only do what these functions do.
    """
    cursor.execute(_MADE, {"bodies": [body for _, body, _ in _FUNCTIONS.values()]})
    ((made, installer, is_member),) = cursor.fetchall()
    if made == len(_FUNCTIONS):
        return
    cursor.execute("select to_regclass('pgclarify_private.applied_sql') is not null")
    if cursor.fetchone() == (True,):
        # Attaching the first table of a role changes the rights on the schema, too, and locks this row.
        cursor.execute("select from pgclarify_private.applied_sql for update")
    for signature in _FUNCTIONS:
        # A restore gives functions of missing roles to another role.
        cursor.execute(sql.SQL(f"drop function if exists pgclarify_private.{signature.partition('(')[0]}"))
    grant_role(cursor, "pgclarify_role_maker", installer, ("set",))
    for statement in role_maker_statements():
        cursor.execute(statement)
    cursor.execute("reset role")
    cursor.execute("revoke all on schema pgclarify_private from pgclarify_role_maker")
    if not is_member:
        cursor.execute(sql.SQL("revoke pgclarify_role_maker from {}").format(sql.Identifier(installer)))


def role_maker_statements() -> Iterator[sql.SQL | sql.Composed]:
    """Yield what becomes pgclarify_role_maker, with a right to create, and creates the functions."""
    yield sql.SQL("grant usage, create on schema pgclarify_private to pgclarify_role_maker")
    yield sql.SQL("set local role pgclarify_role_maker")
    for signature, (result, body, comment) in _FUNCTIONS.items():
        function = sql.SQL(f"function pgclarify_private.{signature}")
        yield sql.SQL(
            "create {} returns {} language plpgsql volatile strict security definer"
            " set search_path = pg_catalog, pg_temp set client_min_messages = 'warning' as {}"
        ).format(function, sql.SQL(result), sql.Literal(body))
        yield sql.SQL("comment on {} is {}").format(function, sql.Literal(comment))
        yield sql.SQL("revoke execute on {} from public").format(function)
        yield sql.SQL("grant execute on {} to pgclarify_owner").format(function)


def make_table_readers(cursor: psycopg.Cursor[Any]) -> None:
    """Create the missing table readers of attached tables, after an upgrade or a restore.

    Where a table reader is new, the source fails, and its error asks the owner of the table to call resync.
    """
    cursor.execute(
        """
        select pgclarify_private.make_table_reader(relowner)
        from (
            select distinct pg_class.relowner
            from pgclarify_private.source
            join pg_class on pg_class.oid = source.relation
            where source.state not in ('detached', 'removing')
        ) as owners
        """
    )
