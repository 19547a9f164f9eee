-- Attaching tables to a corpus. What belongs to the user, grants on the table and its triggers, is made with the caller's own
-- rights; the rest by internal functions.

create or replace function pgclarify._raise_problem(code text, message text, detail text, hint text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using
        errcode = _raise_problem.code,
        message = _raise_problem.message,
        detail = _raise_problem.detail,
        hint = _raise_problem.hint;
end
$$;

comment on function pgclarify._raise_problem(text, text, text, text) is
'Raise an error with these fields; code: name of a SQLSTATE.';

create or replace function pgclarify._describe_source(corpus_id bigint, relation regclass, attached_by name, settings jsonb)
returns pgclarify.source
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify.source;
begin
    if _describe_source.relation is null then
        raise exception 'no table is named'
            using errcode = 'invalid_parameter_value', hint = 'Pass relation => ''public.articles'', say.';
    end if;
    if exists (
        select from jsonb_array_elements(_describe_source.settings -> 'metadata') as listed
        where jsonb_typeof(listed) <> 'string'
    ) then
        raise exception 'option "metadata" has a wrong value'
            using errcode = 'invalid_parameter_value',
                detail = format('It is %s.', _describe_source.settings -> 'metadata'),
                hint = 'Pass a JSON array of names of columns.';
    end if;
    if length(_describe_source.settings ->> 'id_prefix') > 200 then
        raise exception 'option "id_prefix" has a wrong value'
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s characters.', length(_describe_source.settings ->> 'id_prefix')),
                hint = 'Pass 200 at most.';
    end if;
    v_source.corpus_id := _describe_source.corpus_id;
    v_source.relation := _describe_source.relation;
    v_source.relation_name := _describe_source.relation::text;
    v_source.attached_by := _describe_source.attached_by;
    v_source.id_column := coalesce(_describe_source.settings ->> 'id_column', '');
    v_source.content_column := coalesce(_describe_source.settings ->> 'content_column', '');
    v_source.title_column := _describe_source.settings ->> 'title';
    v_source.uri_column := _describe_source.settings ->> 'uri';
    v_source.readers_column := _describe_source.settings ->> 'readers';
    v_source.metadata_columns := array(
        select listed.name
        from jsonb_array_elements_text(_describe_source.settings -> 'metadata') with ordinality as listed (name, place)
        order by listed.place
    );
    v_source.id_prefix := _describe_source.settings ->> 'id_prefix';
    return v_source;
end
$$;

comment on function pgclarify._describe_source(bigint, regclass, name, jsonb) is
'The row of source that these settings ask for, without an id; error 22023 if they cannot be used.';

create or replace function pgclarify._attach_table(
    caller pgclarify._caller, corpus text, relation regclass, id_column text, content_column text, options jsonb
)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify.corpus := pgclarify._owned_corpus(_attach_table.caller, _attach_table.corpus);
    v_caller name := pgclarify._verify_caller(_attach_table.caller);
    v_settings jsonb := pgclarify._check_options(_attach_table.options, '{
        "title": {"type": "string"},
        "uri": {"type": "string"},
        "readers": {"type": "string"},
        "metadata": {"type": "array", "default": []},
        "id_prefix": {"type": "string", "default": ""},
        "dry_run": {"type": "boolean", "default": false}
    }');
    v_source pgclarify.source;
    v_problem record;
    v_first record;
    v_others text[] := '{}';
    v_source_id bigint;
begin
    v_source := pgclarify._describe_source(
        v_corpus.corpus_id, _attach_table.relation, v_caller,
        v_settings || jsonb_build_object('id_column', _attach_table.id_column, 'content_column', _attach_table.content_column)
    );
    perform pgclarify._hold_corpus(v_corpus.corpus_id);
    for v_problem in
        select found.* from pgclarify._table_problems(v_source) as found
        union all
        select found.* from pgclarify._ownership_problems(v_source, v_caller) as found
        union all
        select found.* from pgclarify._access_problems(v_source, v_caller) as found
        union all
        select found.* from pgclarify._code_problems(v_source) as found
        union all
        select
            'duplicate_object',
            format('table "%s" is attached to corpus "%s" already', v_source.relation_name, v_corpus.name),
            format('It is source %s.', source.source_id),
            'Compare it again with pgclarify.resync; or pgclarify.detach_table it first, to attach it in another way.'
        from pgclarify.source
        where
            source.corpus_id = v_corpus.corpus_id
            and source.relation = v_source.relation
            and source.state not in ('detached', 'removing')
    loop
        if (v_settings -> 'dry_run')::boolean then
            raise notice 'it cannot be attached: %', v_problem.message
                using detail = v_problem.detail, hint = v_problem.hint;
        end if;
        if v_first is null then
            v_first := v_problem;
        else
            v_others := v_others || v_problem.message;
        end if;
    end loop;
    if v_first is not null then
        if (v_settings -> 'dry_run')::boolean then
            return null;
        end if;
        perform pgclarify._raise_problem(
            v_first.code, v_first.message,
            v_first.detail || case when cardinality(v_others) > 0 then
                format(' And besides: %s.', array_to_string(v_others, '; ')) else '' end,
            v_first.hint
        );
    end if;
    insert into pgclarify.source (
        corpus_id, relation, relation_name, attached_by, id_column, content_column, title_column, uri_column,
        metadata_columns, readers_column, id_prefix
    )
    values (
        v_source.corpus_id, v_source.relation, v_source.relation_name, v_source.attached_by, v_source.id_column,
        v_source.content_column, v_source.title_column, v_source.uri_column, v_source.metadata_columns,
        v_source.readers_column, v_source.id_prefix
    )
    -- Once detached: what it left is compared with what the table has now.
    on conflict on constraint source_corpus_id_relation_key do update set
        relation_name = excluded.relation_name,
        attached_by = excluded.attached_by,
        id_column = excluded.id_column,
        content_column = excluded.content_column,
        title_column = excluded.title_column,
        uri_column = excluded.uri_column,
        metadata_columns = excluded.metadata_columns,
        readers_column = excluded.readers_column,
        id_prefix = excluded.id_prefix,
        created_at = now()
    where source.state in ('detached', 'removing')
    returning source.source_id into v_source_id;
    if v_source_id is null then
        raise exception 'table "%" is attached to corpus "%" already', v_source.relation_name, v_corpus.name
            using errcode = 'duplicate_object', hint = 'Somebody else was faster.';
    end if;
    perform pgclarify._load_anew(v_source_id);
    return v_source_id;
end
$$;

comment on function pgclarify._attach_table(pgclarify._caller, text, regclass, text, text, jsonb) is
'The part of attach_table that needs the owner''s rights: everything but grants and triggers. Null for a dry run that has '
'found something wrong, and told it.';
grant execute on function pgclarify._attach_table(pgclarify._caller, text, regclass, text, text, jsonb) to pgclarify_user;

create or replace function pgclarify._load_anew(source_id bigint)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify.source
    set
        state = 'loading', error = null, layout = null, load_phase = 'rows', load_cursor = null, load_started_at = now(),
        rows_added = 0, rows_changed = 0, rows_removed = 0
    where source.source_id = _load_anew.source_id;
    -- The id may have another type now.
    perform pgclarify._make_capture(_load_anew.source_id);
end
$$;

comment on function pgclarify._load_anew(bigint) is
'Let workers compare all rows of an attached table with its documents, and make the function that notes its changes.';

create or replace function pgclarify._owned_source(
    caller pgclarify._caller, corpus_id bigint, relation oid
)
returns pgclarify.source
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify.source;
    v_corpus text;
begin
    select corpus.name into v_corpus from pgclarify.corpus where corpus.corpus_id = _owned_source.corpus_id;
    perform pgclarify._owned_corpus(_owned_source.caller, v_corpus);
    perform pgclarify._hold_corpus(_owned_source.corpus_id);
    select source.* into v_source
    from pgclarify.source
    where source.corpus_id = _owned_source.corpus_id and source.relation = _owned_source.relation::regclass
    for update;
    if not found then
        raise exception 'table "%" is not attached to corpus "%"', _owned_source.relation::regclass, v_corpus
            using errcode = 'undefined_object',
                detail = 'A table that was dropped goes by its number, also if there is another one of its name now.',
                hint = 'List what is attached: select corpus, relation, relation_oid from pgclarify.source_status.';
    end if;
    return v_source;
end
$$;

comment on function pgclarify._owned_source(pgclarify._caller, bigint, oid) is
'The source of a corpus that the caller may change, locked with its corpus held; error 42704 if there is none.';

create or replace function pgclarify._source_steps(caller pgclarify._caller, source_id bigint)
returns table (is_grant boolean, relation oid, statement text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify.source;
    v_problem record;
begin
    select source.* into v_source from pgclarify.source where source.source_id = _source_steps.source_id;
    perform pgclarify._owned_source(_source_steps.caller, v_source.corpus_id, v_source.relation);
    return query
        select true, v_source.relation::oid, missing.statement
        from pgclarify._missing_grants(v_source) as missing (statement)
        union all
        select false, missing.relation, missing.statement
        from pgclarify._missing_triggers(v_source) with ordinality as missing (relation, statement, place)
        -- A partition may be somebody else's; a truncated one is noticed all the same, if later.
        inner join pg_class on missing.relation = pg_class.oid
        where
            missing.relation = v_source.relation
            or pg_has_role(pgclarify._verify_caller(_source_steps.caller), pg_class.relowner, 'usage');
    if found then
        for v_problem in
            select found.* from pgclarify._ownership_problems(v_source, pgclarify._verify_caller(_source_steps.caller)) as found
        loop
            perform pgclarify._raise_problem(v_problem.code, v_problem.message, v_problem.detail, v_problem.hint);
        end loop;
    end if;
end
$$;

comment on function pgclarify._source_steps(pgclarify._caller, bigint) is
'Statements, for the caller to execute with its own rights, that an attached table still lacks: grants, then triggers.';
grant execute on function pgclarify._source_steps(pgclarify._caller, bigint) to pgclarify_user;

create or replace function pgclarify._take_steps(caller pgclarify._caller, source_id bigint, is_dry_run boolean)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_step text;
    v_collision text;
    v_detail text;
begin
    foreach v_step in array array(
        select step.statement from pgclarify._source_steps(_take_steps.caller, _take_steps.source_id) as step
        where step.is_grant
    ) loop
        if _take_steps.is_dry_run then
            raise notice '%', v_step;
        end if;
        execute v_step;
    end loop;
    begin
        perform pgclarify._check_ids(_take_steps.caller, _take_steps.source_id);
    exception
        when unique_violation then
            if not _take_steps.is_dry_run then
                raise;
            end if;
            get stacked diagnostics v_collision = message_text, v_detail = pg_exception_detail;
            raise notice 'it cannot be attached: %', v_collision using detail = v_detail;
    end;
    -- Last, since they keep writers away until the transaction ends.
    foreach v_step in array array(
        select step.statement from pgclarify._source_steps(_take_steps.caller, _take_steps.source_id) as step
        where not step.is_grant
    ) loop
        if _take_steps.is_dry_run then
            raise notice '%', v_step;
        else
            execute v_step;
        end if;
    end loop;
end
$$;

comment on function pgclarify._take_steps(pgclarify._caller, bigint, boolean) is
'Make grants and triggers that an attached table lacks, with the caller''s own rights. A dry run makes the grants only, to '
'look at the ids, and tells the statements.';
grant execute on function pgclarify._take_steps(pgclarify._caller, bigint, boolean) to pgclarify_user;

create or replace function pgclarify.attach_table(
    corpus text, relation regclass, id_column text, content_column text, options jsonb default '{}'
)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_caller pgclarify._caller;
    v_source_id bigint;
begin
    select signed.* into v_caller from pgclarify._caller as signed;
    if attach_table.options -> 'dry_run' is distinct from 'true' then
        v_source_id := pgclarify._attach_table(
            v_caller, attach_table.corpus, attach_table.relation, attach_table.id_column, attach_table.content_column,
            attach_table.options
        );
        perform pgclarify._take_steps(v_caller, v_source_id, false);
        return v_source_id;
    end if;
    begin
        v_source_id := pgclarify._attach_table(
            v_caller, attach_table.corpus, attach_table.relation, attach_table.id_column, attach_table.content_column,
            attach_table.options
        );
        if v_source_id is not null then
            raise notice 'rows to load: %', (
                select case
                    when min(pg_class.reltuples) < 0 then 'unknown until it is analyzed'
                    else format('about %s, as PostgreSQL estimates', sum(pg_class.reltuples)::bigint)
                end
                from pg_class
                where
                    pg_class.relkind = 'r'
                    and pg_class.oid in (
                        select attach_table.relation
                        union all
                        select part.relid from pg_partition_tree(attach_table.relation) as part
                    )
            );
            perform pgclarify._take_steps(v_caller, v_source_id, true);
        end if;
        raise exception 'done' using errcode = 'PC000';
    exception
        -- Whatever it did, to look, is undone.
        when sqlstate 'PC000' then
            return null;
    end;
end
$$;

comment on function pgclarify.attach_table(text, regclass, text, text, jsonb) is
'Make the rows of a table documents of a corpus, and keep them in step; returns the id of the source. Workers load it in the '
'background (see source_status), triggers note what changes. The caller owns the corpus and the table. id_column: smallint, '
'integer, bigint, uuid, text or varchar, with a unique index. content_column: text or varchar. options: title, uri (names of '
'columns), readers (name of a column with an array of roles), metadata (names of columns, as a JSON array), id_prefix (what '
'comes before the ids), dry_run (true: say what it would do and what is in the way, and do nothing).';
grant execute on function pgclarify.attach_table(text, regclass, text, text, jsonb) to pgclarify_user;
