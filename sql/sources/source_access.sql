-- Which roles may attach a table, and which may read an attached one: every problem, with its solution.

create or replace function pgclarify_private.access_problems(source pgclarify_private.source, role_name name)
returns table (code text, message text, detail text, hint text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_schema name;
    v_hidden text;
begin
    if not exists (select from pg_roles where pg_roles.rolname = access_problems.role_name)
        or access_problems.role_name = (access_problems.source).attached_by
        and pgclarify_private.role_oid(access_problems.role_name) <> (access_problems.source).attached_by_oid then
        return query select
            'insufficient_privilege',
            format('role "%s" does not exist any more', access_problems.role_name),
            format('It attached table "%s", which is read only as long as that role may.', (access_problems.source).relation),
            'Let a role that may read the table call pgclarify.resync.';
        return;
    end if;
    select pg_namespace.nspname into v_schema
    from pg_class
    inner join pg_namespace on pg_class.relnamespace = pg_namespace.oid
    where pg_class.oid = (access_problems.source).relation;
    if not has_schema_privilege(access_problems.role_name, v_schema, 'usage') then
        return query select
            'insufficient_privilege',
            format('permission denied for schema "%s"', v_schema),
            format('Role %s may not use it.', access_problems.role_name),
            format('Its owner says: grant usage on schema %I to %I.', v_schema, access_problems.role_name);
    end if;
    -- This checks the role, not the current user: we may have rights because another role attached the table.
    select string_agg(distinct quote_ident(used.name), ', ') into v_hidden
    from pgclarify_private.used_columns(access_problems.source) as used
    inner join pg_attribute
        on
            pg_attribute.attrelid = (access_problems.source).relation
            and pg_attribute.attname = used.name
            and pg_attribute.attnum > 0
            and not pg_attribute.attisdropped
    where not has_column_privilege(
        access_problems.role_name, (access_problems.source).relation, pg_attribute.attnum, 'select'
    );
    if v_hidden is not null then
        return query select
            'insufficient_privilege',
            format('permission denied for table "%s"', (access_problems.source).relation),
            format('Role %s may not read: %s.', access_problems.role_name, v_hidden),
            format(
                'Its owner says: grant select (%s) on %s to %I.',
                v_hidden, (access_problems.source).relation, access_problems.role_name
            );
    end if;
end
$$;

comment on function pgclarify_private.access_problems(pgclarify_private.source, name) is
'What prevents a role from reading an attached table, as rows of table_problems. A worker reads the table only if there are '
'none.';

create or replace function pgclarify_private.ownership_problems(source pgclarify_private.source, role_name name)
returns table (code text, message text, detail text, hint text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        'insufficient_privilege',
        format('must be owner of table "%s"', ownership_problems.source.relation::text),
        format('It belongs to %s, and only its owner can give it triggers.', pg_get_userbyid(pg_class.relowner)),
        format(
            case
                when pg_roles.rolsuper
                    then 'Let %1$s do it; or give the table to %2$s: alter table %3$s owner to %2$I.'
                else 'Make one a member of the other: grant %1$I to %2$I; or grant %2$I to %1$I, and let %1$s do it.'
            end,
            pg_roles.rolname, ownership_problems.role_name, ownership_problems.source.relation::text
        )
    from pg_catalog.pg_class
    inner join pg_catalog.pg_roles on pg_class.relowner = pg_roles.oid
    where
        pg_class.oid = ownership_problems.source.relation
        and not pg_has_role(ownership_problems.role_name, pg_class.relowner, 'usage')
    union all
    select
        'insufficient_privilege',
        format(
            'the role that reads tables of %s may not use schema "%s"',
            pg_get_userbyid(pg_class.relowner), pg_namespace.nspname
        ),
        format('Role %s may not let it.', ownership_problems.role_name),
        -- The table reader may not exist yet.
        format(
            'Let %s say: grant usage on schema %I to %I with grant option.',
            pg_get_userbyid(pg_namespace.nspowner), pg_namespace.nspname, ownership_problems.role_name
        )
    from pg_catalog.pg_class
    inner join pg_catalog.pg_namespace on pg_class.relnamespace = pg_namespace.oid
    where
        pg_class.oid = ownership_problems.source.relation
        and not has_schema_privilege(
            ownership_problems.role_name, pg_namespace.oid, 'usage with grant option'
        )
        and not exists (
            select from pg_catalog.pg_roles
            where
                pg_roles.rolname = pgclarify_private.table_reader_of(ownership_problems.source.relation)
                and has_schema_privilege(pg_roles.oid, pg_namespace.oid, 'usage')
        )
        -- PUBLIC has the right, so every table reader has it.
        and not exists (
            select from aclexplode(pg_namespace.nspacl) as granted
            where granted.grantee = 0 and granted.privilege_type = 'USAGE'
        );
end;

comment on function pgclarify_private.ownership_problems(pgclarify_private.source, name) is
'What prevents a role from creating triggers on a table and granting a table reader access, as rows of table_problems.';
