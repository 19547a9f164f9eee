-- Changes of an attached table itself, made with its owner's rights: grants and triggers.

create or replace function pgclarify_private.owned_source(
    caller pgclarify_private.caller, corpus_id bigint, relation oid
)
returns pgclarify_private.source
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify_private.source;
    v_corpus text;
begin
    perform pgclarify_private.verify_caller(owned_source.caller);
    if owned_source.relation is null then
        raise exception 'no table is named'
            using errcode = 'invalid_parameter_value',
                detail = 'Parameter relation is null.',
                hint = 'List what is attached: select corpus, relation, relation_oid from pgclarify.source_status.';
    end if;
    -- After the lock, the corpus is there.
    perform pgclarify_private.lock_corpus(owned_source.corpus_id);
    select corpus.name into strict v_corpus from pgclarify_private.corpus where corpus.corpus_id = owned_source.corpus_id;
    perform pgclarify_private.owned_corpus(owned_source.caller, v_corpus);
    select source.* into v_source
    from pgclarify_private.source
    where source.corpus_id = owned_source.corpus_id and source.relation = owned_source.relation::regclass
    for update;
    if not found then
        raise exception 'table "%" is not attached to corpus "%"', owned_source.relation::regclass, v_corpus
            using errcode = 'undefined_object',
                detail = 'A dropped table is named by its number, even if another table has its name now.',
                hint = 'List what is attached: select corpus, relation, relation_oid from pgclarify.source_status.';
    end if;
    return v_source;
end
$$;

comment on function pgclarify_private.owned_source(pgclarify_private.caller, bigint, oid) is
'The source of a corpus that the caller may change, locked with its corpus locked; error 42704 if there is none.';

create or replace function pgclarify_private.source_steps(caller pgclarify_private.caller, source_id bigint)
returns table (is_grant boolean, relation oid, statement text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify_private.source;
    v_problem record;
begin
    select source.* into v_source from pgclarify_private.source where source.source_id = source_steps.source_id;
    perform pgclarify_private.owned_source(source_steps.caller, v_source.corpus_id, v_source.relation);
    return query
        select true, v_source.relation::oid, missing.statement
        from pgclarify_private.missing_grants(v_source) as missing (statement)
        union all
        select false, missing.relation, missing.statement
        from pgclarify_private.missing_triggers(v_source) with ordinality as missing (relation, statement, place)
        -- Another role may own a partition; its truncation is still noticed, but later.
        inner join pg_class on missing.relation = pg_class.oid
        where
            missing.relation = v_source.relation
            or pg_has_role(pgclarify_private.verify_caller(source_steps.caller), pg_class.relowner, 'usage');
    if found then
        for v_problem in
            select found.*
            from pgclarify_private.ownership_problems(v_source, pgclarify_private.verify_caller(source_steps.caller)) as found
        loop
            perform pgclarify_private.raise_problem(v_problem.code, v_problem.message, v_problem.detail, v_problem.hint);
        end loop;
    end if;
end
$$;

comment on function pgclarify_private.source_steps(pgclarify_private.caller, bigint) is
'Statements that an attached table still needs, for the caller to execute with its own rights: grants, then triggers.';
grant execute on function pgclarify_private.source_steps(pgclarify_private.caller, bigint) to pgclarify_user;

create or replace function pgclarify_private.rows_to_load(caller pgclarify_private.caller, source_id bigint)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify_private.source;
    v_bytes bigint;
    v_estimate bigint;
begin
    select source.* into v_source from pgclarify_private.source where source.source_id = rows_to_load.source_id;
    perform pgclarify_private.owned_source(rows_to_load.caller, v_source.corpus_id, v_source.relation);
    select
        coalesce(sum(pg_relation_size(member.relation)), 0),
        case when min(pg_class.reltuples) >= 0 then sum(pg_class.reltuples) end
    into v_bytes, v_estimate
    from pgclarify_private.members_of(v_source.relation) as member
    inner join pg_class on member.relation = pg_class.oid
    where member.kind = 'r';
    -- Counting takes some milliseconds.
    if v_bytes <= 10000000 then
        return (pgclarify_private.select_keys(
            v_source,
            format(
                'select array[count(t.%I)::text] from %s as t', v_source.id_column, pgclarify_private.source_table(v_source)
            ),
            null, null, null, null
        ))[1];
    end if;
    return coalesce('about ' || v_estimate || ', as PostgreSQL estimates', 'unknown until it is analyzed');
end
$$;

comment on function pgclarify_private.rows_to_load(pgclarify_private.caller, bigint) is
'How many rows of an attached table have an id, as text: counted if the table is small, otherwise PostgreSQL''s estimate.';
grant execute on function pgclarify_private.rows_to_load(pgclarify_private.caller, bigint) to pgclarify_user;

create or replace function pgclarify_private.take_steps(
    caller pgclarify_private.caller, source_id bigint, is_new boolean, is_dry_run boolean
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_step text;
    v_steps text[] := '{}';
    v_collision text;
    v_detail text;
    v_hint text;
    v_propagation text := current_setting('citus.enable_ddl_propagation', true);
begin
    -- The nodes of a cluster do not have the role that reads the table.
    perform set_config('citus.enable_ddl_propagation', 'off', true) where v_propagation is not null;
    foreach v_step in array array(
        select step.statement from pgclarify_private.source_steps(take_steps.caller, take_steps.source_id) as step
        where step.is_grant
    ) loop
        v_steps := v_steps || v_step;
        execute v_step;
    end loop;
    perform set_config('citus.enable_ddl_propagation', v_propagation, true) where v_propagation is not null;
    begin
        -- A resync does not check: loading skips rows whose ids collide, and the check may read all documents.
        if take_steps.is_new then
            perform pgclarify_private.check_ids(take_steps.caller, take_steps.source_id);
        end if;
    exception
        when unique_violation then
            if not take_steps.is_dry_run then
                raise;
            end if;
            get stacked diagnostics
                v_collision = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
            raise notice 'it cannot be attached: %', v_collision using detail = v_detail, hint = v_hint;
    end;
    -- Triggers come last, because their locks block writers until the transaction ends.
    foreach v_step in array array(
        select step.statement from pgclarify_private.source_steps(take_steps.caller, take_steps.source_id) as step
        where not step.is_grant
    ) loop
        v_steps := v_steps || v_step;
        if not take_steps.is_dry_run then
            execute v_step;
        end if;
    end loop;
    if take_steps.is_dry_run then
        -- The number of the source is not known yet.
        raise notice 'it would be done with your rights; N is the number of the source'
            using detail = regexp_replace(
                array_to_string(v_steps, E';\n') || ';',
                format('(pgclarify_|capture_)%s(?=[_(])', take_steps.source_id),
                '\1N', 'g'
            );
        raise notice 'rows to load: %', pgclarify_private.rows_to_load(take_steps.caller, take_steps.source_id);
    end if;
end
$$;

comment on function pgclarify_private.take_steps(pgclarify_private.caller, bigint, boolean, boolean) is
'Make grants and triggers that an attached table needs, with the caller''s own rights. is_new: check the ids, too. A dry run '
'makes only the grants, to check the ids, and reports the statements.';
grant execute on function pgclarify_private.take_steps(pgclarify_private.caller, bigint, boolean, boolean) to pgclarify_user;

create or replace function pgclarify.attach_table(
    corpus text, relation regclass, id_column text, content_column text, options jsonb default '{}'
)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_caller pgclarify_private.caller;
    v_is_dry_run boolean := coalesce(attach_table.options -> 'dry_run' = 'true', false);
    v_source_id bigint;
    v_state text;
    v_message text;
    v_detail text;
    v_hint text;
    v_context text;
begin
    select signed.* into v_caller from pgclarify_private.caller as signed;
    begin
        v_source_id := pgclarify_private.attach_table(
            v_caller, attach_table.corpus, attach_table.relation, attach_table.id_column, attach_table.content_column,
            attach_table.options
        );
        if v_source_id is not null then
            perform pgclarify_private.take_steps(v_caller, v_source_id, true, v_is_dry_run);
        end if;
        if v_is_dry_run then
            raise exception 'done' using errcode = 'PC000';
        end if;
    exception
        -- Everything that was done for the check is undone.
        when sqlstate 'PC000' then
            return null;
        when others then
            get stacked diagnostics
                v_state = returned_sqlstate, v_message = message_text, v_detail = pg_exception_detail,
                v_hint = pg_exception_hint, v_context = pg_exception_context;
            -- Our own errors have both fields; the context of internal functions does not help the caller.
            if '' in (v_detail, v_hint) or v_context !~ '^[^\n]* pgclarify_private\.[^\n]* RAISE(\n|$)' then
                raise;
            end if;
            raise exception using errcode = v_state, message = v_message, detail = v_detail, hint = v_hint;
    end;
    return v_source_id;
end
$$;

comment on function pgclarify.attach_table(text, regclass, text, text, jsonb) is
'Make the rows of a table documents of a corpus, and keep them up to date; returns the id of the source. Workers load it in '
'the background (see source_status), and triggers record changes. corpus: name of one that you own. relation: the table, '
'which you must own, too. id_column: smallint, integer, bigint, uuid, text or varchar, with a unique index. content_column: '
'text or varchar. options: title, uri (names of columns), readers (name of a column with an array of roles), metadata (name '
'of a column, or a JSON array of names), id_prefix (added before the ids), dry_run (true: change nothing; report the steps '
'and the problems).';
grant execute on function pgclarify.attach_table(text, regclass, text, text, jsonb) to pgclarify_user;
