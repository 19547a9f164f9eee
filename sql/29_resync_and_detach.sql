-- Comparing attached tables again, and following them no more.

create or replace function pgclarify._resync(caller pgclarify._caller, corpus text, relation regclass)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_caller name := pgclarify._verify_caller(_resync.caller);
    v_source pgclarify.source := pgclarify._owned_source(
        _resync.caller, (pgclarify._owned_corpus(_resync.caller, _resync.corpus)).corpus_id, _resync.relation
    );
    v_problem record;
begin
    if v_source.state in ('detached', 'removing') then
        raise exception 'table "%" is detached', v_source.relation
            using errcode = 'object_not_in_prerequisite_state', hint = 'Attach it again with pgclarify.attach_table.';
    end if;
    -- Whoever attached it may have lost its rights, or have gone.
    if exists (select from pgclarify._access_problems(v_source, v_source.attached_by)) then
        v_source.attached_by := v_caller;
    end if;
    for v_problem in
        select found.* from pgclarify._table_problems(v_source) as found
        union all
        select found.* from pgclarify._access_problems(v_source, v_source.attached_by) as found
        union all
        select found.* from pgclarify._code_problems(v_source) as found
    loop
        perform pgclarify._raise_problem(v_problem.code, v_problem.message, v_problem.detail, v_problem.hint);
    end loop;
    update pgclarify.source
    set attached_by = v_source.attached_by, relation_name = v_source.relation::text
    where source.source_id = v_source.source_id;
    perform pgclarify._load_anew(v_source.source_id);
    return v_source.source_id;
end
$$;

comment on function pgclarify._resync(pgclarify._caller, text, regclass) is
'The part of resync that needs the owner''s rights.';
grant execute on function pgclarify._resync(pgclarify._caller, text, regclass) to pgclarify_user;

create or replace function pgclarify.resync(corpus text, relation regclass)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_caller pgclarify._caller;
    v_source_id bigint;
begin
    select signed.* into v_caller from pgclarify._caller as signed;
    v_source_id := pgclarify._resync(v_caller, resync.corpus, resync.relation);
    perform pgclarify._take_steps(v_caller, v_source_id, false);
    return v_source_id;
end
$$;

comment on function pgclarify.resync(text, regclass) is
'Compare all rows of an attached table with its documents again, and mend what was missed: also triggers and grants that are '
'gone, and a source that has failed, once its cause is mended. Returns the id of the source; source_status says how many rows '
'were missing, different or too many.';
grant execute on function pgclarify.resync(text, regclass) to pgclarify_user;

create or replace function pgclarify._detach_table(
    caller pgclarify._caller, corpus text, relation regclass, options jsonb
)
returns table (source_id bigint, statement text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings jsonb := pgclarify._check_options(_detach_table.options, '{
        "documents": {"choices": ["keep", "remove"], "default": "keep"}
    }');
    v_source pgclarify.source := pgclarify._owned_source(
        _detach_table.caller, (pgclarify._owned_corpus(_detach_table.caller, _detach_table.corpus)).corpus_id,
        _detach_table.relation
    );
begin
    perform pgclarify._drop_capture(v_source.source_id);
    delete from pgclarify.change where change.source_id = v_source.source_id;
    update pgclarify.source
    set
        state = case
            when v_settings ->> 'documents' = 'remove' then 'removing'
            when v_source.state = 'removing' then 'removing'
            else 'detached'
        end,
        error = null,
        load_cursor = null
    where source.source_id = v_source.source_id;
    return query select v_source.source_id, null::text;
    return query
        select v_source.source_id, spare.statement
        from pgclarify._spare_grants(v_source) as spare (statement)
        inner join pg_class on pg_class.oid = v_source.relation
        -- Who does not own the table cannot take back what its owner gave.
        where pg_has_role(pgclarify._verify_caller(_detach_table.caller), pg_class.relowner, 'usage');
end
$$;

comment on function pgclarify._detach_table(pgclarify._caller, text, regclass, jsonb) is
'The part of detach_table that needs the owner''s rights: the source''s id, and a statement for the caller to execute or null.';
grant execute on function pgclarify._detach_table(pgclarify._caller, text, regclass, jsonb) to pgclarify_user;

create or replace function pgclarify.detach_table(corpus text, relation regclass, options jsonb default '{}')
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_caller pgclarify._caller;
    v_source_id bigint;
    v_statements text[];
    v_statement text;
begin
    select signed.* into v_caller from pgclarify._caller as signed;
    select min(step.source_id), array_agg(step.statement) filter (where step.statement is not null)
    into v_source_id, v_statements
    from pgclarify._detach_table(v_caller, detach_table.corpus, detach_table.relation, detach_table.options) as step;
    foreach v_statement in array coalesce(v_statements, '{}') loop
        execute v_statement;
    end loop;
    return v_source_id;
end
$$;

comment on function pgclarify.detach_table(text, regclass, jsonb) is
'Follow a table no more: its triggers go, and what pgclarify_table_reader might read of it. Returns the id of the source. '
'options: documents, keep (the default) or remove, in the background. A table that was dropped goes by its number, which '
'source_status.relation_oid has: detach_table(''kb'', 16421).';
grant execute on function pgclarify.detach_table(text, regclass, jsonb) to pgclarify_user;
