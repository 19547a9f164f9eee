-- The structure of attached tables, and whether they can still be followed.

create or replace function pgclarify_private.code_problems(source pgclarify_private.source)
returns table (code text, message text, detail text, hint text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- The planner evaluates constant expressions of the table's indexes and constraints. That is code of the table, and it runs
    -- as the table reader of the table's owner. It may delay a worker.
    with members as (
        select members.relation from pgclarify_private.members_of(code_problems.source.relation) as members
    ),
    expressions (classid, objid) as (
        select 'pg_class'::regclass, pg_index.indexrelid
        from members
        inner join pg_catalog.pg_index on members.relation = pg_index.indrelid
        where pg_index.indexprs is not null or pg_index.indpred is not null
        union all
        select 'pg_constraint'::regclass, pg_constraint.oid
        from members
        inner join pg_catalog.pg_constraint on members.relation = pg_constraint.conrelid
        where pg_constraint.contype = 'c'
        union all
        select 'pg_statistic_ext'::regclass, pg_statistic_ext.oid
        from members
        inner join pg_catalog.pg_statistic_ext on members.relation = pg_statistic_ext.stxrelid
        union all
        select 'pg_class'::regclass, pg_partitioned_table.partrelid
        from members
        inner join pg_catalog.pg_partitioned_table on members.relation = pg_partitioned_table.partrelid
    )
    select
        'insufficient_privilege',
        format('table "%s" calls a function of role %s', code_problems.source.relation::text, pg_get_userbyid(called.owner)),
        format(
            '%s uses %s, which may run as any role that reads the table.',
            pg_describe_object(called.classid, called.objid, 0), pg_describe_object(called.refclassid, called.refobjid, 0)
        ),
        'Drop what uses it; or let a superuser, or a member of pgclarify_owner, own it.'
    from (
        select pg_depend.*, coalesce(pg_proc.proowner, pg_operator.oprowner, pg_type.typowner) as owner
        from expressions
        inner join pg_catalog.pg_depend on expressions.classid = pg_depend.classid and expressions.objid = pg_depend.objid
        left join pg_catalog.pg_proc on pg_depend.refclassid = 'pg_proc'::regclass and pg_depend.refobjid = pg_proc.oid
        left join pg_catalog.pg_operator
            on pg_depend.refclassid = 'pg_operator'::regclass and pg_depend.refobjid = pg_operator.oid
        left join pg_catalog.pg_type
            on pg_depend.refclassid = 'pg_type'::regclass
            and pg_depend.refobjid = pg_type.oid
            and pg_type.typtype = 'd'
    ) as called
    where not pg_has_role(called.owner, 'pgclarify_owner', 'member');
end;

comment on function pgclarify_private.code_problems(pgclarify_private.source) is
'Code of other roles that reading an attached table would run, as rows of table_problems.';

create or replace function pgclarify_private.source_problems(source pgclarify_private.source)
returns table (code text, message text, detail text, hint text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select wrong.* from pgclarify_private.table_problems(source_problems.source) as wrong
    union all
    select denied.*
    from pgclarify_private.access_problems(source_problems.source, source_problems.source.attached_by) as denied
    union all
    select risky.* from pgclarify_private.code_problems(source_problems.source) as risky;
end;

comment on function pgclarify_private.source_problems(pgclarify_private.source) is
'Every reason why a table cannot be read for the role that attached it, as rows of table_problems.';

create or replace function pgclarify_private.failure(message text, detail text)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select format(
        '%s%s. Mend that and call pgclarify.resync, or pgclarify.detach_table.',
        failure.message, coalesce(': ' || nullif(rtrim(failure.detail, '.'), ''), '')
    );
end;

comment on function pgclarify_private.failure(text, text) is
'The text of source.error for an error: what happened, and what to do.';

create or replace function pgclarify_private.source_fault(source pgclarify_private.source)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_fault text;
begin
    select
        case
            -- Its hint has the statements.
            when found.code = 'undefined_table' then format('%s: %s %s', found.message, found.detail, found.hint)
            else pgclarify_private.failure(found.message, found.detail)
        end
    into v_fault
    from pgclarify_private.source_problems(source_fault.source) as found
    limit 1;
    if v_fault is null then
        -- resync grants it again.
        select format(
            '%s: %s. Call pgclarify.resync as the owner of the table, or pgclarify.detach_table.',
            found.message, rtrim(found.detail, '.')
        )
        into v_fault
        from (
            select 'no role reads the table' as message, 'its owner is another one, or it was restored' as detail
            where pgclarify_private.table_reader_function((source_fault.source).relation) is null
            union all
            select denied.message, denied.detail
            from pgclarify_private.access_problems(
                source_fault.source, pgclarify_private.table_reader_of((source_fault.source).relation)
            ) as denied
        ) as found
        limit 1;
    end if;
    return v_fault;
end
$$;

comment on function pgclarify_private.source_fault(pgclarify_private.source) is
'Why an attached table cannot be read now, and what to do about it; null if it can be read.';

create or replace function pgclarify_private.layout_of(source pgclarify_private.source)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(
        md5(
            string_agg(
                format(
                    '%s %s',
                    members.relation,
                    case
                        when not exists (
                            select from pg_catalog.pg_trigger
                            where
                                pg_trigger.tgrelid = members.relation
                                and pg_trigger.tgname = format('pgclarify_%s_truncate', layout_of.source.source_id)
                        ) then pg_relation_filenode(members.relation)
                    end
                ),
                ',' order by members.relation
            )
        ),
        ''
    )
    from pgclarify_private.members_of(layout_of.source.relation) as members
    where members.relation <> layout_of.source.relation and members.kind = 'r';
end;

comment on function pgclarify_private.layout_of(pgclarify_private.source) is
'A hash of the partitions of an attached table, and of the files of partitions whose TRUNCATE is not recorded; empty without '
'partitions.';

create or replace function pgclarify_private.following_fault(source pgclarify_private.source)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(
        pgclarify_private.source_fault(following_fault.source),
        (
            select format(
                'the triggers of table "%s" are not as they should be, so changes may have been missed. Call '
                'pgclarify.resync as the owner of the table, or pgclarify.detach_table.',
                missing.relation::regclass
            )
            from pgclarify_private.missing_triggers(following_fault.source) as missing
            -- A partition that was added later is compared when its file changes.
            where missing.relation = following_fault.source.relation
            limit 1
        )
    );
end;

comment on function pgclarify_private.following_fault(pgclarify_private.source) is
'Why an attached table cannot be followed now, and what to do about it; null if it can be.';

create or replace function pgclarify_private.inspect_sources()
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify_private.source;
    v_fault text;
    v_count integer := 0;
begin
    for v_source in
        select source.*
        from pgclarify_private.source
        where source.state in ('loading', 'following')
        order by source.source_id
    loop
        -- The owner of the table may have changed.
        perform pgclarify_private.grant_capture(v_source.source_id);
        continue when
            pgclarify_private.following_fault(v_source) is null
            and coalesce(v_source.layout = pgclarify_private.layout_of(v_source), true);
        -- Only now, so that sources without a fault are not locked.
        v_source := pgclarify_private.take_source(v_source.source_id);
        continue when v_source.source_id is null or v_source.state not in ('loading', 'following');
        v_fault := pgclarify_private.following_fault(v_source);
        if v_fault is not null then
            perform pgclarify_private.fail_source(v_source.source_id, v_fault);
            v_count := v_count + 1;
        elsif v_source.layout <> pgclarify_private.layout_of(v_source) then
            perform pgclarify_private.load_anew(v_source.source_id);
            v_count := v_count + 1;
        end if;
    end loop;
    return v_count;
end
$$;

comment on function pgclarify_private.inspect_sources() is
'Check the structure of attached tables. A table that can no longer be followed gets state failed; one with other '
'partitions, or partitions with other files, is compared again. Returns how many. If a table has a new owner, that role may '
'now create its triggers, and the former owner may not.';
grant execute on function pgclarify_private.inspect_sources() to pgclarify_worker;
