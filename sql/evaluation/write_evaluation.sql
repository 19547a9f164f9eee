-- Writing evaluations. Only functions write, because a role with UPDATE or DELETE rights may also lock the whole table.

create or replace function pgclarify_private.own_evaluation(caller pgclarify_private.caller, eval_run_id bigint)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(own_evaluation.caller));
    v_eval_run_id bigint;
begin
    select eval_run.eval_run_id into v_eval_run_id
    from pgclarify_private.eval_run
    where eval_run.eval_run_id = own_evaluation.eval_run_id
        and pgclarify_private.belongs_to(eval_run.requested_by, eval_run.requested_by_oid, v_roles)
    for key share;
    if not found then
        raise exception 'permission denied for evaluation %', coalesce(own_evaluation.eval_run_id::text, 'null')
            using errcode = 'insufficient_privilege',
                detail = 'It does not exist, or is not yours.',
                hint = 'Only the role that evaluated, and its members, may write an evaluation.';
    end if;
    return v_eval_run_id;
end
$$;

comment on function pgclarify_private.own_evaluation(pgclarify_private.caller, bigint) is
'The key of an evaluation of the caller, or of a role that the caller is a member of; error 42501 otherwise.';

create or replace function pgclarify_private.begin_evaluation(caller pgclarify_private.caller, plan jsonb)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester name := pgclarify_private.verify_caller(begin_evaluation.caller);
    v_roles name[] := pgclarify_private.roles_of(v_requester);
    v_plan pgclarify_private.eval_run := jsonb_populate_record(null::pgclarify_private.eval_run, begin_evaluation.plan);
    v_eval_run_id bigint;
begin
    -- Otherwise the analyst of a corpus would see rows of roles without access to it.
    if v_plan.corpus_id is not null and not exists (
        select
        from pgclarify_private.corpus
        where
            corpus.corpus_id = v_plan.corpus_id
            and (
                pgclarify_private.may_search(corpus.reader, corpus.owner, corpus.owner_oid, v_roles)
                or corpus.analyst = any(v_roles)
            )
    ) then
        raise exception 'permission denied for corpus %', v_plan.corpus_id
            using errcode = 'insufficient_privilege',
                detail = 'It does not exist, or you may not see it.',
                hint = 'List the corpora that you can search with: select corpus from pgclarify.corpus_status.';
    end if;
    insert into pgclarify_private.eval_run (
        name, data_set, data_set_hash, planned_cases, corpus_id, corpus_name, corpus_revision, embedding_model, method,
        settings, provider, model, prompt_version, judge, judge_version, version, requested_by,
        requested_by_oid
    )
    values (
        v_plan.name, v_plan.data_set, v_plan.data_set_hash, v_plan.planned_cases, v_plan.corpus_id, v_plan.corpus_name,
        v_plan.corpus_revision, v_plan.embedding_model, v_plan.method, v_plan.settings, v_plan.provider, v_plan.model,
        v_plan.prompt_version, v_plan.judge, v_plan.judge_version, v_plan.version, v_requester,
        pgclarify_private.role_oid(v_requester)
    )
    returning eval_run.eval_run_id into v_eval_run_id;
    return v_eval_run_id;
end
$$;

comment on function pgclarify_private.begin_evaluation(pgclarify_private.caller, jsonb) is
'Begin an evaluation of the caller and return its key. plan: object with columns of table eval_run.';
grant execute on function pgclarify_private.begin_evaluation(pgclarify_private.caller, jsonb) to pgclarify_user;

create or replace function pgclarify_private.resume_evaluation(caller pgclarify_private.caller, eval_run_id bigint, name text)
returns integer[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_eval_run_id bigint := pgclarify_private.own_evaluation(resume_evaluation.caller, resume_evaluation.eval_run_id);
begin
    update pgclarify_private.eval_run set name = resume_evaluation.name where eval_run.eval_run_id = v_eval_run_id;
    return array(
        select eval_case.ordinal from pgclarify_private.eval_case where eval_case.eval_run_id = v_eval_run_id
    );
end
$$;

comment on function pgclarify_private.resume_evaluation(pgclarify_private.caller, bigint, text) is
'Continue an evaluation under another name; returns the ordinals of its cases.';
grant execute on function pgclarify_private.resume_evaluation(pgclarify_private.caller, bigint, text) to pgclarify_user;

create or replace function pgclarify_private.record_eval_cases(caller pgclarify_private.caller, eval_run_id bigint, cases jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(record_eval_cases.caller));
    v_eval_run_id bigint := pgclarify_private.own_evaluation(record_eval_cases.caller, record_eval_cases.eval_run_id);
    v_run_id bigint;
begin
    -- A run that the caller may not see must not be revealed.
    select (given.object ->> 'run_id')::bigint into v_run_id
    from jsonb_array_elements(record_eval_cases.cases) as given (object)
    where
        given.object ->> 'run_id' is not null
        and not exists (
            select
            from pgclarify_private.run
            left join pgclarify_private.corpus on corpus.corpus_id = run.corpus_id
            where
                run.run_id = (given.object ->> 'run_id')::bigint
                and (
                    pgclarify_private.belongs_to(run.requested_by, run.requested_by_oid, v_roles)
                    or corpus.analyst = any(v_roles)
                )
        )
    limit 1;
    if found then
        raise exception 'permission denied for run %', v_run_id
            using errcode = 'insufficient_privilege',
                detail = 'It does not exist, or you may not see it.',
                hint = 'Omit run_id if the output is not from a run.';
    end if;
    with entered as (
        insert into pgclarify_private.eval_case (
            eval_run_id, ordinal, case_id, question, gold, output, run_id, status, error, calls, reused_calls,
            prompt_tokens, completion_tokens, model_seconds, seconds
        )
        select
            v_eval_run_id, given.ordinal, given.case_id, given.question, given.gold, given.output, given.run_id,
            given.status, given.error, given.calls, given.reused_calls, given.prompt_tokens, given.completion_tokens,
            given.model_seconds, given.seconds
        from jsonb_populate_recordset(null::pgclarify_private.eval_case, record_eval_cases.cases) as given
        on conflict on constraint eval_case_pk do nothing
        returning eval_case.ordinal
    )
    insert into pgclarify_private.eval_metric (eval_run_id, ordinal, metric, value)
    select v_eval_run_id, entered.ordinal, measured.key, measured.value::double precision
    from jsonb_array_elements(record_eval_cases.cases) as given (object)
    inner join entered on (given.object ->> 'ordinal')::integer = entered.ordinal
    cross join lateral jsonb_each_text(given.object -> 'metrics') as measured;
end
$$;

comment on function pgclarify_private.record_eval_cases(pgclarify_private.caller, bigint, jsonb) is
'Store cases of an evaluation with their metrics; a stored case is not changed. cases: array of objects with columns of table '
'eval_case, and metrics, an object of numbers.';
grant execute on function pgclarify_private.record_eval_cases(pgclarify_private.caller, bigint, jsonb) to pgclarify_user;

create or replace function pgclarify_private.finish_evaluation(
    caller pgclarify_private.caller, eval_run_id bigint, metrics jsonb
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(finish_evaluation.caller));
begin
    update pgclarify_private.eval_run
    set finished_at = clock_timestamp()
    where
        eval_run.eval_run_id = finish_evaluation.eval_run_id
        and pgclarify_private.belongs_to(eval_run.requested_by, eval_run.requested_by_oid, v_roles)
        and eval_run.finished_at is null
        and eval_run.planned_cases = (
            select count(*) from pgclarify_private.eval_case where eval_case.eval_run_id = finish_evaluation.eval_run_id
        );
    if not found then
        return false;
    end if;
    insert into pgclarify_private.eval_metric (eval_run_id, metric, value, low, high, cases, stratum)
    select
        finish_evaluation.eval_run_id, given.metric, given.value, given.low, given.high, given.cases, given.stratum
    from jsonb_populate_recordset(null::pgclarify_private.eval_metric, finish_evaluation.metrics) as given;
    return true;
end
$$;

comment on function pgclarify_private.finish_evaluation(pgclarify_private.caller, bigint, jsonb) is
'Finish an evaluation that has all its cases, and store the metrics of all cases together and of strata; false if it is '
'finished, cases are missing, or it is not the caller''s. metrics: array of objects with columns of table eval_metric.';
grant execute on function pgclarify_private.finish_evaluation(pgclarify_private.caller, bigint, jsonb) to pgclarify_user;

create or replace function pgclarify_private.remove_evaluation(caller pgclarify_private.caller, eval_run_id bigint)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(remove_evaluation.caller));
begin
    delete from pgclarify_private.eval_run
    where eval_run.eval_run_id = remove_evaluation.eval_run_id
        and pgclarify_private.belongs_to(eval_run.requested_by, eval_run.requested_by_oid, v_roles);
    return found;
end
$$;

comment on function pgclarify_private.remove_evaluation(pgclarify_private.caller, bigint) is 'See remove_evaluation.';
grant execute on function pgclarify_private.remove_evaluation(pgclarify_private.caller, bigint) to pgclarify_user;

create or replace function pgclarify.remove_evaluation(eval_run_id bigint)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.remove_evaluation(caller, remove_evaluation.eval_run_id) from pgclarify_private.caller;
end;

comment on function pgclarify.remove_evaluation(bigint) is
'Remove an evaluation with its cases and metrics; true if there was one of your role, or of a role that you are a member of. '
'eval_run_id: its key in table eval_run.';
grant execute on function pgclarify.remove_evaluation(bigint) to pgclarify_user;
