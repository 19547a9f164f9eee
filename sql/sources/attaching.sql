-- Attaching tables to a corpus. Grants on the user's table and its triggers are made with the caller's own rights; internal
-- functions do the rest.

create or replace function pgclarify_private.raise_problem(code text, message text, detail text, hint text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using
        errcode = raise_problem.code,
        message = raise_problem.message,
        detail = raise_problem.detail,
        hint = raise_problem.hint;
end
$$;

comment on function pgclarify_private.raise_problem(text, text, text, text) is
'Raise an error with these fields; code: name of a SQLSTATE.';

create or replace function pgclarify_private.attach_table(
    caller pgclarify_private.caller, corpus text, relation regclass, id_column text, content_column text, options jsonb
)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- The name of the table is stored.
set quote_all_identifiers = off
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(attach_table.caller, attach_table.corpus);
    v_caller name := pgclarify_private.verify_caller(attach_table.caller);
    v_settings jsonb := pgclarify_private.check_options(
        case
            -- A single column needs no array.
            when jsonb_typeof(attach_table.options -> 'metadata') = 'string'
                then jsonb_set(
                    attach_table.options, '{metadata}', jsonb_build_array(attach_table.options -> 'metadata')
                )
            else attach_table.options
        end,
        pgclarify_private.options_of('attach_table')
    );
    v_source pgclarify_private.source;
    v_former constant pgclarify_private.source := pgclarify_private.replaced_source(
        attach_table.caller, attach_table.corpus, attach_table.relation
    );
    v_problem record;
    v_is_refused boolean := false;
    v_source_id bigint;
begin
    if attach_table.relation is null then
        raise exception 'no table is named'
            using errcode = 'invalid_parameter_value',
                detail = 'Parameter relation is null.',
                hint = 'For example, pass relation => ''public.articles''.';
    end if;
    if '' in (coalesce(attach_table.id_column, ''), coalesce(attach_table.content_column, '')) then
        raise exception 'no column is named'
            using errcode = 'invalid_parameter_value',
                detail = 'Parameter id_column or content_column is empty.',
                hint = 'For example, pass id_column => ''id'', content_column => ''body''.';
    end if;
    if exists (
        select from jsonb_array_elements(v_settings -> 'metadata') as listed
        where jsonb_typeof(listed) <> 'string'
    ) then
        raise exception 'option "metadata" has a wrong value'
            using errcode = 'invalid_parameter_value',
                column = 'metadata',
                detail = format('It is %s.', v_settings -> 'metadata'),
                hint = 'Pass a JSON array of names of columns, for example ["language"].';
    end if;
    if length(v_settings ->> 'id_prefix') > 200 then
        raise exception 'option "id_prefix" has a wrong value'
            using errcode = 'invalid_parameter_value',
                column = 'id_prefix',
                detail = format('It has %s characters.', length(v_settings ->> 'id_prefix')),
                hint = 'Pass 200 at most.';
    end if;
    v_source.corpus_id := v_corpus.corpus_id;
    v_source.relation := attach_table.relation;
    v_source.relation_name := attach_table.relation::text;
    v_source.attached_by := v_caller;
    v_source.attached_by_oid := pgclarify_private.role_oid(v_caller);
    v_source.id_column := attach_table.id_column;
    v_source.content_column := attach_table.content_column;
    v_source.field_columns := (
        select coalesce(jsonb_object_agg(field.name, v_settings -> field.name), '{}')
        from unnest(pgclarify_private.fields_in_columns()) as field (name)
        where v_settings ->> field.name is not null
    );
    v_source.metadata_columns := array(
        select listed.name
        from jsonb_array_elements_text(v_settings -> 'metadata') with ordinality as listed (name, place)
        order by listed.place
    );
    v_source.id_prefix := v_settings ->> 'id_prefix';
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    perform pgclarify_private.lock_sources(array[attach_table.relation]);
    if v_former.source_id is not null then
        perform pgclarify_private.move_source(v_former, attach_table.relation);
        update pgclarify_private.source
        set state = 'detached', error = null
        where source.source_id = v_former.source_id;
    end if;
    for v_problem in
        select found.* from pgclarify_private.source_problems(v_source) as found
        union all
        select found.* from pgclarify_private.ownership_problems(v_source, v_caller) as found
        union all
        select
            'duplicate_object',
            format('table "%s" is attached to corpus "%s" already', v_source.relation_name, v_corpus.name),
            format('It is source %s.', source.source_id),
            'Compare it again with pgclarify.resync; or pgclarify.detach_table it first, to attach it in another way.'
        from pgclarify_private.source
        where
            source.corpus_id = v_corpus.corpus_id
            and source.relation = v_source.relation
            and source.state not in ('detached', 'removing')
        union all
        -- Loading it would remove those documents, because no row has their ids.
        select
            'object_not_in_prerequisite_state',
            format('table "%s" has left documents with other ids', v_source.relation_name),
            format(
                'It was detached from corpus "%s", and they were kept; their prefix is "%s".', v_corpus.name, source.id_prefix
            ),
            format(
                'Attach it with options => %L, and they are its documents again; or remove them first: '
                'select pgclarify.detach_table(%L, %s, %L).',
                jsonb_build_object('id_prefix', source.id_prefix), v_corpus.name,
                coalesce(v_former.relation::oid::text, quote_literal(v_source.relation_name)), '{"documents": "remove"}'
            )
        from pgclarify_private.source
        where
            source.corpus_id = v_corpus.corpus_id
            and source.relation = v_source.relation
            and source.state = 'detached'
            and source.id_prefix <> v_source.id_prefix
            and exists (select from pgclarify_private.document where document.source_id = source.source_id)
    loop
        if not (v_settings -> 'dry_run')::boolean then
            perform pgclarify_private.raise_problem(v_problem.code, v_problem.message, v_problem.detail, v_problem.hint);
        end if;
        raise notice 'it cannot be attached: %', v_problem.message
            using detail = v_problem.detail, hint = v_problem.hint;
        v_is_refused := true;
    end loop;
    if v_is_refused then
        return null;
    end if;
    insert into pgclarify_private.source (
        corpus_id, relation, relation_name, attached_by, attached_by_oid, id_column, content_column, field_columns,
        metadata_columns, id_prefix
    )
    values (
        v_source.corpus_id, v_source.relation, v_source.relation_name, v_source.attached_by,
        v_source.attached_by_oid, v_source.id_column, v_source.content_column, v_source.field_columns,
        v_source.metadata_columns, v_source.id_prefix
    )
    -- If the table was detached earlier, its kept documents are compared with its current rows.
    on conflict on constraint source_corpus_id_relation_key do update set
        relation_name = excluded.relation_name,
        attached_by = excluded.attached_by,
        attached_by_oid = excluded.attached_by_oid,
        id_column = excluded.id_column,
        content_column = excluded.content_column,
        field_columns = excluded.field_columns,
        metadata_columns = excluded.metadata_columns,
        id_prefix = excluded.id_prefix
    where source.state in ('detached', 'removing')
    returning source.source_id into v_source_id;
    if v_source_id is null then
        raise exception 'table "%" is attached to corpus "%" already', v_source.relation_name, v_corpus.name
            using errcode = 'duplicate_object',
                detail = 'Another transaction was faster.',
                hint = 'See its state: select state from pgclarify.source_status.';
    end if;
    -- A dry run leaves nothing.
    if not (v_settings -> 'dry_run')::boolean then
        perform pgclarify_private.make_table_reader_apart(v_source.relation);
    end if;
    perform pgclarify_private.load_anew(v_source_id);
    return v_source_id;
end
$$;

comment on function pgclarify_private.attach_table(pgclarify_private.caller, text, regclass, text, text, jsonb) is
'The part of attach_table that needs the owner''s rights: everything except grants and triggers. Null for a dry run that has '
'found and reported a problem.';
grant execute on function
    pgclarify_private.attach_table(pgclarify_private.caller, text, regclass, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify_private.load_anew(source_id bigint)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify_private.source
    set
        state = 'loading', error = null, layout = null, load_phase = 'rows', load_cursor = null, load_started_at = now(),
        rows_added = 0, rows_changed = 0, rows_removed = 0, rows_skipped = 0
    where source.source_id = load_anew.source_id;
    -- The id may have another type now, and the table may have another owner.
    perform pgclarify_private.make_capture(load_anew.source_id);
    perform pgclarify_private.make_table_reader(pg_class.relowner)
    from pgclarify_private.source
    inner join pg_class on source.relation = pg_class.oid
    where source.source_id = load_anew.source_id;
end
$$;

comment on function pgclarify_private.load_anew(bigint) is
'Let workers compare all rows of an attached table with its documents, and recreate the functions that record its changes '
'and read it.';
