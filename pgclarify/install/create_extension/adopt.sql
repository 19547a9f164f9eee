-- Make a database that pgclarify init has installed one of the extension: the objects of init become members of it. What was
-- made at run time, such as partitions and the functions of attached tables, does not.

do $$
declare
    v_found text;
    v_statement text;
begin
    -- A view of another role would run its functions with the rights of the superuser who reads it.
    if exists (
        select from pg_namespace
        where pg_namespace.nspname = any(string_to_array(current_setting('pgclarify.schemas'), ','))
            and pg_get_userbyid(pg_namespace.nspowner) <> 'pgclarify_owner'
    ) then
        raise exception 'a schema of pgclarify belongs to another role'
            using errcode = 'object_not_in_prerequisite_state',
                detail = 'All of them must belong to pgclarify_owner.',
                hint = 'Rename it, then run pgclarify init, or create extension pgclarify without a version.';
    end if;
    if to_regclass('pgclarify_private.applied_sql') is not null then
        select applied_sql.shipped_hash into v_found
        from pgclarify_private.applied_sql;
    end if;
    if v_found is distinct from current_setting('pgclarify.shipped_hash') then
        raise exception 'the schema in this database is not of this version of pgclarify'
            using errcode = 'object_not_in_prerequisite_state',
                detail = case
                    when v_found is null then 'There is none.'
                    else 'The hash of its functions differs from that of this version.'
                end,
                hint = case
                    when v_found is null then 'Run: create extension pgclarify cascade;'
                    else 'Run pgclarify init with the version of these files first.'
                end;
    end if;
    for v_statement in
        with ours as (
            select pg_namespace.oid, pg_namespace.nspname
            from pg_namespace
            where pg_namespace.nspname = any(string_to_array(current_setting('pgclarify.schemas'), ','))
        )
        select format('alter extension pgclarify add schema %I', ours.nspname)
        from ours
        union all
        select format(
            'alter extension pgclarify add %s %s',
            case pg_class.relkind when 'S' then 'sequence' when 'v' then 'view' when 'c' then 'type' else 'table' end,
            pg_class.oid::regclass
        )
        from pg_class
        inner join ours on ours.oid = pg_class.relnamespace
        where pg_class.relkind in ('r', 'p', 'S', 'v', 'c')
            and not pg_class.relispartition
            -- Those of a distributed corpus have no parent.
            and pg_class.relname !~ '^(passage|passage_embedding)_[0-9]+$'
        union all
        select format('alter extension pgclarify add type %s', pg_type.oid::regtype)
        from pg_type
        inner join ours on ours.oid = pg_type.typnamespace
        where pg_type.typtype in ('e', 'd')
        union all
        select format('alter extension pgclarify add routine %s', pg_proc.oid::regprocedure)
        from pg_proc
        inner join ours on ours.oid = pg_proc.pronamespace
        where pg_proc.proname !~ '^(capture_[0-9]+|read_[0-9]+_[0-9a-f]{8})$'
    loop
        execute v_statement;
    end loop;
end
$$;
