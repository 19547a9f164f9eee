-- Evaluations, written and read by pgclarify eval. Only functions write, because a role with UPDATE or DELETE rights may also
-- lock the whole table.

create or replace function pgclarify_private.check_evaluated_corpus(corpus_id bigint, roles name[])
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if check_evaluated_corpus.corpus_id is not null and not exists (
        select
        from pgclarify_private.living_corpus as corpus
        where
            corpus.corpus_id = check_evaluated_corpus.corpus_id
            and (
                pgclarify_private.may_search(corpus.readers, corpus.owner, corpus.owner_oid, check_evaluated_corpus.roles)
                or corpus.analysts && check_evaluated_corpus.roles
            )
    ) then
        raise exception 'permission denied for corpus %', check_evaluated_corpus.corpus_id
            using errcode = 'insufficient_privilege',
                detail = 'It does not exist, or you may not see it.',
                hint = 'List the corpora that you can search with: select corpus from pgclarify.corpus.';
    end if;
end
$$;

comment on function pgclarify_private.check_evaluated_corpus(bigint, name[]) is
'Error 42501 unless a holder of these roles may search the corpus, or analyzes it. Functions that write evaluations call it. '
'Otherwise the analyst of a corpus would see rows of roles without access to it.';

create or replace function pgclarify_private.begin_evaluation(caller pgclarify_private.caller, plan jsonb)
returns table (eval_run_id bigint, done integer[])
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester name := pgclarify_private.verify_asker(begin_evaluation.caller);
    v_roles name[] := pgclarify_private.roles_of(v_requester);
    v_plan pgclarify_private.eval_run := jsonb_populate_record(null::pgclarify_private.eval_run, begin_evaluation.plan);
    v_eval_run_id bigint;
begin
    perform pgclarify_private.check_evaluated_corpus(v_plan.corpus_id, v_roles);
    update pgclarify_private.eval_run
    set name = v_plan.name
    where eval_run.eval_run_id = (
        select unfinished.eval_run_id
        from pgclarify_private.eval_run as unfinished
        where
            unfinished.finished_at is null
            and unfinished.data_set_hash = v_plan.data_set_hash
            and unfinished.requested_by = v_requester
            and unfinished.requested_by_oid = pgclarify_private.role_oid(v_requester)
            and unfinished.corpus_id = v_plan.corpus_id
            and unfinished.method = v_plan.method
            and unfinished.settings = v_plan.settings
            and unfinished.conditions = v_plan.conditions
            and unfinished.planned_cases = v_plan.planned_cases
        order by unfinished.eval_run_id desc
        limit 1
    )
    returning eval_run.eval_run_id into v_eval_run_id;
    if not found then
        insert into pgclarify_private.eval_run (
            name, data_set, data_set_hash, corpus_id, corpus_name, method, settings, conditions, planned_cases,
            requested_by, requested_by_oid
        )
        values (
            v_plan.name, v_plan.data_set, v_plan.data_set_hash, v_plan.corpus_id, v_plan.corpus_name, v_plan.method,
            v_plan.settings, v_plan.conditions, v_plan.planned_cases, v_requester,
            pgclarify_private.role_oid(v_requester)
        )
        returning eval_run.eval_run_id into v_eval_run_id;
    end if;
    return query
    select v_eval_run_id, array(
        select eval_case.ordinal from pgclarify_private.eval_case where eval_case.eval_run_id = v_eval_run_id
    );
end
$$;

comment on function pgclarify_private.begin_evaluation(pgclarify_private.caller, jsonb) is
'Begin an evaluation, or go on with the caller''s latest unfinished one of the same cases, method, settings and conditions. '
'Returns its key and the ordinals of its judged cases. plan: object with columns of table eval_run.';
grant execute on function pgclarify_private.begin_evaluation(pgclarify_private.caller, jsonb) to pgclarify_user;

create or replace function pgclarify_private.record_eval_case(
    caller pgclarify_private.caller, eval_run_id bigint, judged jsonb
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(record_eval_case.caller));
    v_case pgclarify_private.eval_case := jsonb_populate_record(null::pgclarify_private.eval_case, record_eval_case.judged);
    v_corpus_id bigint;
begin
    select eval_run.corpus_id into v_corpus_id
    from pgclarify_private.eval_run
    where eval_run.eval_run_id = record_eval_case.eval_run_id
        and pgclarify_private.belongs_to(eval_run.requested_by, eval_run.requested_by_oid, v_roles)
    for key share;
    if not found then
        raise exception 'permission denied for evaluation %', coalesce(record_eval_case.eval_run_id::text, 'null')
            using errcode = 'insufficient_privilege',
                detail = 'It does not exist, or is not yours.',
                hint = 'Only the role that evaluated, and its members, may write an evaluation.';
    end if;
    -- The access may have been revoked since the evaluation began.
    perform pgclarify_private.check_evaluated_corpus(v_corpus_id, v_roles);
    -- A run that the caller may not see must not be revealed.
    if v_case.run_id is not null then
        perform pgclarify_private.visible_run(record_eval_case.caller, v_case.run_id);
    end if;
    insert into pgclarify_private.eval_case (
        eval_run_id, ordinal, case_id, question, gold, output, run_id, status, error, figures
    )
    values (
        record_eval_case.eval_run_id, v_case.ordinal, v_case.case_id, v_case.question, v_case.gold, v_case.output,
        v_case.run_id, v_case.status, v_case.error, v_case.figures
    )
    on conflict on constraint eval_case_pk do nothing;
end
$$;

comment on function pgclarify_private.record_eval_case(pgclarify_private.caller, bigint, jsonb) is
'Store a case of an evaluation; a stored case is not changed. judged: object with columns of table eval_case.';
grant execute on function pgclarify_private.record_eval_case(pgclarify_private.caller, bigint, jsonb) to pgclarify_user;

create or replace function pgclarify_private.finish_evaluation(
    caller pgclarify_private.caller, eval_run_id bigint, figures jsonb
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Figures are stored with all their digits.
set extra_float_digits = 1
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(finish_evaluation.caller));
    -- What is no figure is an error here. It would else be one for each role that reads view evaluation.
    v_figures constant jsonb := (
        select
            coalesce(
                jsonb_object_agg(
                    given.key,
                    jsonb_build_object('value', figure.value, 'low', figure.low, 'high', figure.high, 'cases', figure.cases)
                ),
                '{}'
            )
        from jsonb_each(finish_evaluation.figures) as given
        cross join lateral jsonb_to_record(given.value) as figure (
            value double precision, low double precision, high double precision, cases integer
        )
    );
begin
    perform pgclarify_private.check_evaluated_corpus(eval_run.corpus_id, v_roles)
    from pgclarify_private.eval_run
    where eval_run.eval_run_id = finish_evaluation.eval_run_id
        and pgclarify_private.belongs_to(eval_run.requested_by, eval_run.requested_by_oid, v_roles);
    update pgclarify_private.eval_run
    set finished_at = clock_timestamp(), figures = v_figures
    where
        eval_run.eval_run_id = finish_evaluation.eval_run_id
        and pgclarify_private.belongs_to(eval_run.requested_by, eval_run.requested_by_oid, v_roles)
        and eval_run.finished_at is null
        and eval_run.planned_cases = (
            select count(*) from pgclarify_private.eval_case where eval_case.eval_run_id = finish_evaluation.eval_run_id
        );
    return found;
end
$$;

comment on function pgclarify_private.finish_evaluation(pgclarify_private.caller, bigint, jsonb) is
'Finish an evaluation that has all its cases, and store its figures; false if it is finished, cases are missing, or it is not '
'the caller''s.';
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

comment on function pgclarify_private.remove_evaluation(pgclarify_private.caller, bigint) is
'Remove an evaluation of the caller with its cases; true if there was one.';
grant execute on function pgclarify_private.remove_evaluation(pgclarify_private.caller, bigint) to pgclarify_user;
