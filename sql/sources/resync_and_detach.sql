-- Comparing attached tables again, and detaching them.

create or replace function pgclarify_private.resync(caller pgclarify_private.caller, corpus text, relation regclass)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- The name of the table is stored.
set quote_all_identifiers = off
as $$
declare
    v_caller name := pgclarify_private.verify_caller(resync.caller);
    v_former pgclarify_private.source := pgclarify_private.replaced_source(resync.caller, resync.corpus, resync.relation);
    v_is_replaced constant boolean := coalesce(v_former.state <> 'detached', false);
    v_source pgclarify_private.source;
begin
    if v_is_replaced then
        perform pgclarify_private.move_source(v_former, resync.relation);
    end if;
    v_source := pgclarify_private.owned_source(resync.caller, resync.corpus, resync.relation);
    if v_source.state in ('detached', 'removing') then
        raise exception 'table "%" is detached', v_source.relation_name
            using errcode = 'object_not_in_prerequisite_state',
                detail = case v_source.state
                    when 'detached' then 'Its documents were kept as they were.' else 'Its documents are being removed.'
                end,
                hint = 'Attach it again with pgclarify.attach_table.';
    end if;
    -- The role that attached it may have lost its rights, or may have been dropped. Of another table, it chose nothing.
    if v_is_replaced or exists (select from pgclarify_private.access_problems(v_source, v_source.attached_by)) then
        v_source.attached_by := v_caller;
        v_source.attached_by_oid := pgclarify_private.role_oid(v_caller);
    end if;
    -- The caller means the table that has this number, whatever table has its former name.
    if exists (select from pg_class where pg_class.oid = v_source.relation) then
        v_source.relation_name := v_source.relation::text;
    end if;
    perform pgclarify_private.raise_problem(found.code, found.message, found.detail, found.hint)
    from (
        select problem.* from pgclarify_private.source_problems(v_source) as problem
        union all
        select problem.* from pgclarify_private.ownership_problems(v_source, v_caller) as problem where v_is_replaced
    ) as found;
    update pgclarify_private.source
    set
        attached_by = v_source.attached_by,
        attached_by_oid = v_source.attached_by_oid,
        relation_name = v_source.relation_name
    where source.source_id = v_source.source_id;
    perform pgclarify_private.make_table_reader_apart(v_source.relation);
    perform pgclarify_private.load_anew(v_source.source_id);
    return v_source.source_id;
end
$$;

comment on function pgclarify_private.resync(pgclarify_private.caller, text, regclass) is
'The part of resync that needs the owner''s rights.';
grant execute on function pgclarify_private.resync(pgclarify_private.caller, text, regclass) to pgclarify_user;

create or replace function pgclarify_private.resync_as_caller(caller pgclarify_private.caller, corpus text, relation regclass)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_former constant record := pgclarify_private.former_grants(
        resync_as_caller.caller, resync_as_caller.corpus, resync_as_caller.relation
    );
    v_source_id bigint;
begin
    v_source_id := pgclarify_private.resync(resync_as_caller.caller, resync_as_caller.corpus, resync_as_caller.relation);
    perform pgclarify_private.take_back(resync_as_caller.caller, v_former.former, spare.statement)
    from unnest(v_former.statements) as spare (statement);
    perform pgclarify_private.take_steps(resync_as_caller.caller, resync_as_caller.corpus, resync_as_caller.relation, false);
    return v_source_id;
end
$$;

comment on function pgclarify_private.resync_as_caller(pgclarify_private.caller, text, regclass) is
'See resync. It runs with the rights of the caller.';
grant execute on function pgclarify_private.resync_as_caller(pgclarify_private.caller, text, regclass) to pgclarify_user;

create or replace function pgclarify_private.detach_table(
    caller pgclarify_private.caller,
    corpus text,
    relation regclass,
    options jsonb,
    out source_id bigint,
    out statements text[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings jsonb := pgclarify_private.check_options(detach_table.options, pgclarify_private.options_of('detach_table'));
    v_source pgclarify_private.source := pgclarify_private.owned_source(
        detach_table.caller, detach_table.corpus, detach_table.relation
    );
begin
    perform pgclarify_private.drop_capture(v_source.source_id);
    update pgclarify_private.source
    set
        state = case
            when v_settings ->> 'documents' = 'remove' or v_source.state = 'removing' then 'removing'
            else 'detached'
        end,
        error = null,
        load_cursor = null
    where source.source_id = v_source.source_id;
    -- A source without documents need not be kept.
    delete from pgclarify_private.source
    where source.source_id = v_source.source_id
        and not exists (select from pgclarify_private.document where document.source_id = v_source.source_id);
    source_id := v_source.source_id;
    statements := array(select pgclarify_private.spare_grants(v_source));
end
$$;

comment on function pgclarify_private.detach_table(pgclarify_private.caller, text, regclass, jsonb) is
'The part of detach_table that needs the owner''s rights: the source''s id, and statements for the caller to execute.';
grant execute on function pgclarify_private.detach_table(pgclarify_private.caller, text, regclass, jsonb) to pgclarify_user;

create or replace function pgclarify_private.take_back(caller pgclarify_private.caller, relation oid, statement text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Set here, with the caller's rights: the function that others use is not for users.
    v_propagation constant text := current_setting('citus.enable_ddl_propagation', true);
begin
    if exists (
        select from pg_class
        where
            pg_class.oid = take_back.relation
            and pg_has_role((take_back.caller).name, pg_class.relowner, 'usage')
    ) then
        -- The nodes of a cluster do not have the role that reads the table.
        perform set_config('citus.enable_ddl_propagation', 'off', true) where v_propagation is not null;
        for v_attempt in 1 .. 10 loop
            begin
                execute take_back.statement;
                exit;
            exception
                -- As in take_steps: another owner has changed the rights on the schema.
                when internal_error then
                    if v_attempt = 10 then
                        raise;
                    end if;
            end;
        end loop;
        perform set_config('citus.enable_ddl_propagation', v_propagation, true) where v_propagation is not null;
    else
        raise notice 'pgclarify may still read columns of table "%"', take_back.relation::regclass
            using detail = 'It is not your table.', hint = format('Its owner says: %s.', take_back.statement);
    end if;
end
$$;

comment on function pgclarify_private.take_back(pgclarify_private.caller, oid, text) is
'Revoke a grant on a table, with the caller''s own rights; if another role owns the table, raise a notice instead.';
grant execute on function pgclarify_private.take_back(pgclarify_private.caller, oid, text) to pgclarify_user;

create or replace function pgclarify_private.detach_table_as_caller(
    caller pgclarify_private.caller, corpus text, relation regclass, options jsonb
)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_source_id bigint;
    v_statements text[];
    v_statement text;
begin
    select detached.source_id, detached.statements into v_source_id, v_statements
    from pgclarify_private.detach_table(
        detach_table_as_caller.caller, detach_table_as_caller.corpus, detach_table_as_caller.relation,
        detach_table_as_caller.options
    ) as detached;
    foreach v_statement in array v_statements loop
        perform pgclarify_private.take_back(detach_table_as_caller.caller, detach_table_as_caller.relation, v_statement);
    end loop;
    return v_source_id;
end
$$;

comment on function pgclarify_private.detach_table_as_caller(pgclarify_private.caller, text, regclass, jsonb) is
'See detach_table. It runs with the rights of the caller.';
grant execute on function pgclarify_private.detach_table_as_caller(
    pgclarify_private.caller, text, regclass, jsonb
) to pgclarify_user;
