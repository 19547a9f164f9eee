-- What pgclarify eval reads of evaluations.

create or replace function pgclarify_private.evaluations(caller pgclarify_private.caller)
returns table (evaluation pgclarify_private.eval_run, done_cases bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(evaluations.caller));
begin
    return query
    select
        eval_run, (select count(*) from pgclarify_private.eval_case where eval_case.eval_run_id = eval_run.eval_run_id)
    from pgclarify_private.eval_run
    left join pgclarify_private.living_corpus as corpus on eval_run.corpus_id = corpus.corpus_id
    where
        pgclarify_private.belongs_to(eval_run.requested_by, eval_run.requested_by_oid, v_roles)
        or corpus.analysts && v_roles;
end
$$;

comment on function pgclarify_private.evaluations(pgclarify_private.caller) is
'Evaluations that the caller may see: those of its roles, and of corpora that it analyzes. done_cases: how many are judged.';
grant execute on function pgclarify_private.evaluations(pgclarify_private.caller) to pgclarify_reader;

create or replace function pgclarify_private.evaluation_cases(caller pgclarify_private.caller, eval_run_id bigint)
returns setof pgclarify_private.eval_case
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (
        select from pgclarify_private.evaluations(evaluation_cases.caller) as visible
        where (visible.evaluation).eval_run_id = evaluation_cases.eval_run_id
    ) then
        return query
        select eval_case.*
        from pgclarify_private.eval_case
        where eval_case.eval_run_id = evaluation_cases.eval_run_id
        order by eval_case.ordinal;
    end if;
end
$$;

comment on function pgclarify_private.evaluation_cases(pgclarify_private.caller, bigint) is
'The judged cases of an evaluation, in order; none if the caller may not see it.';
grant execute on function pgclarify_private.evaluation_cases(pgclarify_private.caller, bigint) to pgclarify_reader;
