-- Every operation can be called with waiting, or submitted without waiting. Both ways take the same parameters and options.

create or replace function pgclarify_private.parent_run(caller pgclarify_private.caller, run_id bigint, operations text[])
returns pgclarify_private.run
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run constant pgclarify_private.run := pgclarify_private.visible_run(parent_run.caller, parent_run.run_id);
begin
    if v_run.operation <> all(parent_run.operations) then
        raise exception 'run % is of another operation', v_run.run_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('Its operation is %s.', v_run.operation),
                hint = format('Pass a run of %s.', array_to_string(parent_run.operations, ' or '));
    end if;
    -- The new run has what was said, so an analyst could read it even after it was no longer allowed to.
    if pgclarify_private.is_conversation(v_run.operation) and not pgclarify_private.belongs_to(
        v_run.requested_by, v_run.requested_by_oid, pgclarify_private.roles_of((parent_run.caller).name)
    ) then
        raise exception 'run % was asked by another role', v_run.run_id
            using errcode = 'insufficient_privilege',
                detail = format('Role %s asked, and only its members may reply.', v_run.requested_by),
                hint = 'Ask pgclarify.clarifying_questions yourself.';
    end if;
    if v_run.status not in ('succeeded', 'partial') then
        perform pgclarify_private.raise_unless_succeeded(seen)
        from pgclarify_private.run_outcome_rows(array[v_run.run_id], null) as seen;
    end if;
    if v_run.corpus_name is not null and not exists (
        select from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_run.corpus_id
    ) then
        raise exception 'the corpus of run % was dropped', v_run.run_id
            using errcode = 'object_not_in_prerequisite_state',
                hint = pgclarify_private.reading_hint(v_run.operation, v_run.run_id);
    end if;
    -- An analyst sees runs on a corpus that it may not search, and a worker would refuse the new run.
    if v_run.corpus_id is not null and not exists (
        select
        from pgclarify_private.visible_corpora(pgclarify_private.roles_of((parent_run.caller).name)) as visible
        where visible.corpus_id = v_run.corpus_id
    ) then
        raise exception 'permission denied for corpus "%"', v_run.corpus_name
            using errcode = 'insufficient_privilege',
                detail = format('You may see run %s, but you may not search its corpus.', v_run.run_id),
                hint = 'Have its owner give you access with pgclarify.grant_access.';
    end if;
    return v_run;
end
$$;

comment on function pgclarify_private.parent_run(pgclarify_private.caller, bigint, text[]) is
'A run that a new run of the caller goes on from. Errors: 42704 if the caller may not see it; 55000 if it is not over, or of '
'another operation, or if its corpus was dropped; PC003 if it failed; 42501 if the caller may not search its corpus, or is '
'an analyst and would go on with a conversation of another role.';

create or replace function pgclarify_private.prepare(
    caller pgclarify_private.caller, operation text, parameters jsonb, options jsonb
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known constant jsonb := pgclarify_private.parameters_of(prepare.operation);
    v_given constant jsonb := prepare.parameters;
    v_top_k integer;
    v_run pgclarify_private.run;
begin
    perform pgclarify_private.verify_asker(prepare.caller);
    if v_known is null then
        raise exception 'unknown operation "%"', coalesce(pgclarify_private.shown(prepare.operation), 'null')
            using errcode = 'invalid_parameter_value',
                detail = (
                    select format('The operations are: %s.', string_agg(known.operation, ', ' order by known.operation))
                    from pgclarify_private.operations() as known
                ),
                hint = 'Name its function, for example: pgclarify.submit(''clarify'', ''rental cars'').';
    end if;
    v_run.operation := prepare.operation;
    -- Option include says what is returned of a run, and makes no other run.
    v_run.settings := pgclarify_private.check_options(prepare.options, pgclarify_private.options_of(prepare.operation)) - 'include';
    if v_given ->> 'history' is not null then
        v_run.settings := v_run.settings || jsonb_strip_nulls(
            jsonb_build_object('history', nullif(pgclarify_private.check_history(v_given -> 'history'), '[]'))
        );
    end if;
    if v_known ? 'top_k' then
        v_top_k := coalesce((v_given ->> 'top_k')::integer, (v_known -> 'top_k' ->> 'default')::integer);
        if v_top_k not between 1 and 1000 then
            raise exception 'top_k must be between 1 and 1000'
                using errcode = 'invalid_parameter_value',
                    column = 'top_k',
                    detail = format('top_k is %s.', v_top_k),
                    hint = 'Pass a whole number from 1 to 1000, or leave it out for the default.';
        end if;
        v_run.settings := v_run.settings || jsonb_build_object('top_k', v_top_k);
    end if;
    v_run.settings := pgclarify_private.check_settings(prepare.operation, v_run.settings);
    if v_given ->> 'filter' is not null then
        v_run.settings := v_run.settings || pgclarify_private.check_filter(v_given -> 'filter');
    end if;
    if v_given ->> 'filters' is not null then
        if v_run.settings ? 'filter' then
            raise exception 'pass filter or filters, not both'
                using errcode = 'invalid_parameter_value',
                    column = 'filters',
                    hint = 'To limit all questions, add its keys to each of the filters.';
        end if;
        v_run.settings := v_run.settings || pgclarify_private.check_filters(v_given -> 'filters');
    end if;
    if v_given ->> 'document_ids' is not null then
        v_run.settings := v_run.settings || pgclarify_private.check_document_ids(v_given -> 'document_ids');
    end if;
    v_run := pgclarify_private.prepare_run(prepare.caller, v_run, v_given);
    if v_run.settings ?| '{filter,filters,document_set}' and v_run.corpus_id is null then
        raise exception 'a filter and document_ids need a corpus'
            using errcode = 'invalid_parameter_value',
                column = case when v_run.settings ? 'filter' then 'filter' else 'document_ids' end,
                hint = 'Pass a corpus, or omit them.';
    end if;
    if v_run.corpus_id is not null and pgclarify_private.searches(v_run.operation) then
        perform pgclarify_private.tell_unindexed(v_run.corpus_id, (prepare.caller).name);
        perform pgclarify_private.tell_unfollowed(v_run.corpus_id, (prepare.caller).name);
    end if;
    if v_run.settings ?| '{filter,filters}' then
        perform pgclarify_private.tell_unknown_keys(
            v_run.corpus_id,
            pgclarify_private.roles_of((prepare.caller).name),
            coalesce(
                v_run.settings -> 'filter', jsonb_build_object('any', jsonb_path_query_array(v_run.settings, '$.filters[*] ? (@ != null)'))
            )
        );
    end if;
    return v_run;
end
$$;

comment on function pgclarify_private.prepare(pgclarify_private.caller, text, jsonb, jsonb) is
'The run of an operation, which is not entered yet; its settings may have the option timeout, which is not a setting of a '
'run. parameters: those of the public function, each of its type. Error 22023 for a wrong argument, 42704 for what the caller '
'may not see.';

create or replace function pgclarify_private.prepare_question(
    caller pgclarify_private.caller, run pgclarify_private.run, parameters jsonb
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := prepare_question.run;
begin
    v_run.question := (pgclarify_private.check_questions(array[prepare_question.parameters ->> 'question']))[1];
    -- For some operations, the corpus is a parameter, and one is needed; for others it is an option.
    if pgclarify_private.parameters_of(v_run.operation) ? 'corpus' or v_run.settings ? 'corpus' then
        v_run.corpus_id := (
            pgclarify_private.find_corpus(
                pgclarify_private.roles_of((prepare_question.caller).name),
                coalesce(prepare_question.parameters ->> 'corpus', v_run.settings ->> 'corpus')
            )
        ).corpus_id;
        v_run.settings := v_run.settings - 'corpus';
    end if;
    return v_run;
end
$$;

comment on function pgclarify_private.prepare_question(pgclarify_private.caller, pgclarify_private.run, jsonb) is
'As prepare_run, for an operation on one question.';

create or replace function pgclarify_private.prepare_submitted(
    caller pgclarify_private.caller, operation text, question text, corpus text, options jsonb, filters jsonb default null
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known constant jsonb := pgclarify_private.parameters_of(prepare_submitted.operation);
    v_names constant text[] := array(select jsonb_object_keys(v_known - 'question'));
    v_options jsonb := coalesce(prepare_submitted.options, '{}');
    v_parameters jsonb := '{}';
begin
    if v_options ? 'timeout' then
        raise exception 'an operation that is submitted has no timeout'
            using errcode = 'invalid_parameter_value',
                hint = 'Omit it, and pass it to pgclarify.wait.';
    end if;
    if v_options ? 'include' and pgclarify_private.finds_readings(prepare_submitted.operation) then
        raise exception 'an operation that is submitted has no option include'
            using errcode = 'invalid_parameter_value',
                column = 'include',
                hint = 'Omit it, and pass it to pgclarify.result.';
    end if;
    if jsonb_typeof(v_options) = 'object' then
        v_options := v_options || jsonb_strip_nulls(jsonb_build_object('corpus', prepare_submitted.corpus));
        select coalesce(jsonb_object_agg(given.key, given.value), '{}') into v_parameters
        from jsonb_each(v_options) as given
        where given.key = any(v_names);
        v_options := v_options - v_names;
    end if;
    v_parameters := v_parameters || jsonb_strip_nulls(jsonb_build_object('question', prepare_submitted.question));
    return pgclarify_private.prepare(
        prepare_submitted.caller,
        prepare_submitted.operation,
        case when v_known is null then '{}' else pgclarify_private.check_options(v_parameters, v_known) end
        || jsonb_strip_nulls(jsonb_build_object('filters', prepare_submitted.filters)),
        v_options
    );
end
$$;

comment on function pgclarify_private.prepare_submitted(pgclarify_private.caller, text, text, text, jsonb, jsonb) is
'What prepare returns, for arguments of submit: its options include the parameters of the operation except the question. '
'filters: one for each of many questions.';

create or replace function pgclarify_private.start_and_wait(
    caller pgclarify_private.caller, operation text, parameters jsonb, options jsonb
)
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run constant pgclarify_private.run := pgclarify_private.prepare(
        start_and_wait.caller, start_and_wait.operation, start_and_wait.parameters, start_and_wait.options
    );
    v_run_ids constant bigint[] := pgclarify_private.ask_one(
        start_and_wait.caller, v_run, (v_run.settings ->> 'timeout')::interval
    );
    v_row_type constant text := (
        select known.row_type
        from pgclarify_private.operations() as known
        where known.operation = start_and_wait.operation
    );
    v_include constant text := start_and_wait.options ->> 'include';
begin
    return case
        when pgclarify_private.is_out_of_sight(v_run_ids)
            then pgclarify_private.remote_rows(v_row_type, v_run_ids, (start_and_wait.caller).name, v_include)
        else pgclarify_private.rows_in_json(v_row_type, v_run_ids, (start_and_wait.caller).name, v_include)
    end;
end
$$;

comment on function pgclarify_private.start_and_wait(pgclarify_private.caller, text, jsonb, jsonb) is
'Enter a run, wait, and return the rows of the operation''s type as a JSON array; null if there are none. parameters: those '
'of the public function, by name, without options.';
grant execute on function pgclarify_private.start_and_wait(pgclarify_private.caller, text, jsonb, jsonb) to pgclarify_user;
